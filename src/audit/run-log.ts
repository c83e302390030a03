import { nodePathOf } from '../base/address.js';
import { Attempts } from '../base/attempts.js';
import { systemClock } from '../base/clock.js';
import { toErrorData, type ErrorData } from '../base/errors.js';
import { canonicalHash, sha256 } from '../base/hash.js';
import { RUN_MARKER } from '../base/own-names.js';
import type { StepOutcome } from '../events/census.js';
import { beginsAgain, type SkeinEvent } from '../events/event.js';
import { addSpending } from '../events/spending.js';
import type { Workflow } from '../plan/workflow.js';
import { formatOutput } from './final-output.js';
import type { Keeper, KeeperOptions, RunEnd } from './keeper.js';
import { ownMarker } from './marker.js';
import { placesOf, type FindPlace } from './plan-places.js';
import { errorFields, spendingFields, statusOf, timeFields, type Fields } from './record-fields.js';
import { UniqueNames, safeName } from './safe-name.js';
import { StepLog, type StepEvent } from './step-log.js';

type RunEnded = Extract<SkeinEvent, { readonly type: 'run.ended' }>;
type Ending = Pick<RunEnded, 'at' | 'outcome' | 'error'> & Partial<Pick<RunEnded, 'census'>>;

interface Warning {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

const META = 'workflow.meta.json';

/** Maximum number of listed warnings. Further ones are only counted. */
const MOST_WARNINGS = 100;

/** Writes `steps/`, `workflow.meta.json`, `final_output.md` and the marker of the folder. */
export function keepLog(options: KeeperOptions): Keeper {
  const log = new RunLog(options);
  return {
    first: () => [[META, log.metaText()]],
    listen: (event) => log.listen(event),
    close: (result) => log.close(result),
  };
}

/** The step folders and metadata of a run. Each execution of a step has its own log: an address can run again in a retry around it. */
class RunLog {
  private readonly findPlace: FindPlace;
  private readonly names = new UniqueNames();
  private readonly open = new Map<string, StepLog>();
  private readonly attempts = new Attempts<StepLog>();
  private readonly warnings: Warning[] = [];
  private warningCount = 0;
  /** How the latest visit of each node ended, by its path. */
  private readonly latest = new Map<string, StepOutcome>();
  private ending: Ending | undefined = undefined;
  private result: RunEnd | undefined = undefined;

  constructor(private readonly options: KeeperOptions) {
    this.findPlace = placesOf(options.workflow.plan);
  }

  close(result: RunEnd | undefined): void {
    const { writer, workflow, redactor, startedAt } = this.options;
    this.ending ??= { at: systemClock.now(), outcome: 'failed', error: NEVER_ENDED };
    this.result = result;
    if (result !== undefined) {
      const { state, steps: reports, result: values } = result;
      writer.write('final_output.md', () =>
        redactor.text(
          formatOutput({ workflow, state, reports, latest: (id) => this.latest.get(id), result: values, whole: true }),
        ),
      );
    }
    writer.write(META, () => this.metaText());
    writer.write(RUN_MARKER, () => `${JSON.stringify(ownMarker(this.options, startedAt, 'ended'))}\n`);
  }

  metaText(): string {
    const { redactor, inputs } = this.options;
    const meta = this.meta();
    try {
      return `${redactor.json({ ...meta, inputs: this.withDefaults(inputs) }, 2)}\n`;
    } catch (error) {
      return `${redactor.json({ ...meta, inputs_error: `they have no JSON form: ${toErrorData(error).message}` }, 2)}\n`;
    }
  }

  listen(event: SkeinEvent): void {
    switch (event.type) {
      case 'step.started':
        this.openLog(event);
        break;
      case 'step.ended': {
        const log = this.open.get(event.path);
        this.latest.set(nodePathOf(event.path), event.outcome);
        if (log === undefined) this.openLog(event);
        else log.take(event);
        this.open.delete(event.path);
        this.attempts.close(event.path, event.parent);
        break;
      }
      case 'step.retrying':
        this.open.get(event.path)?.take(event);
        this.abandonInside(event.path);
        break;
      case 'step.note':
        this.open.get(event.path)?.take(event);
        if (beginsAgain(event)) this.abandonInside(event.path);
        if (event.note.kind === 'warning') this.warn({ ...event.note, path: event.path });
        break;
      case 'run.warning':
        this.warn(event);
        break;
      case 'run.started':
      case 'run.resumed':
        break;
      case 'run.ended':
        this.ending = event;
        break;
    }
  }

  private abandonInside(path: string): void {
    for (const log of this.attempts.again(path)) log.abandon();
  }

  private warn({ path, code, message }: Warning): void {
    this.warningCount += 1;
    if (this.warnings.length < MOST_WARNINGS) this.warnings.push({ path, code, message });
  }

  private openLog(event: StepEvent): void {
    const { options } = this;
    const { writer, redactor, workflow, before } = options;
    const place = this.findPlace(event.node, event.parent);
    const folder = `steps/${this.folderName(event.path, place?.level ?? 0)}`;
    const streaming = this.options.streaming ?? workflow.settings.streaming ?? false;
    const { agentFiles } = workflow;
    const log = new StepLog(
      { writer, redactor, folder, place, streaming, agentFiles, goesOn: before !== undefined },
      event,
    );
    this.attempts.keep(event.parent, [log]);
    if (event.type !== 'step.started') return;
    this.open.set(event.path, log);
    if (place === undefined || !('plan' in place.node)) return;
    const { retry, supervise } = place.node;
    this.attempts.open(event.path, event.parent, retry !== undefined || supervise !== undefined);
  }

  private folderName(path: string, level: number): string {
    const address = this.options.redactor.text(path).replaceAll('/', '.');
    return this.names.take(`${String(level).padStart(2, '0')}_${safeName(address, 'step', 80)}`);
  }

  private withDefaults(inputs: Fields): Fields {
    const specs = this.options.workflow.plan?.inputs ?? [];
    const defaults = specs
      .filter((spec) => spec.default !== undefined)
      .map((spec) => [spec.name, spec.default] as const);
    return Object.fromEntries([...defaults, ...Object.entries(inputs)]);
  }

  /** The spending of all sessions of the run, and the reused spending of the last one. */
  private spendingFields(): Fields {
    const { result, options } = this;
    if (result === undefined) return {};
    const { spent, saved } = result;
    const whole = options.before === undefined ? spent : addSpending(options.before, spent);
    return { ...spendingFields(whole), ...(saved.modelCalls === 0 ? {} : { saved: spendingFields(saved) }) };
  }

  private meta(): Fields {
    const { workflow, runId, startedAt } = this.options;
    const { ending } = this;
    const name = workflow.plan?.name;
    const leftOut = this.warningCount - this.warnings.length;
    return {
      name,
      workflow_name: name,
      run_id: runId,
      ...timeFields(startedAt, ending?.at),
      status: ending === undefined ? 'running' : statusOf(ending.outcome),
      outcome: ending?.outcome,
      config_hash: configHash(workflow),
      census: ending?.census,
      ...this.spendingFields(),
      ...errorFields(ending?.error),
      warnings: this.warnings.length === 0 ? undefined : this.warnings,
      warnings_left_out: leftOut === 0 ? undefined : leftOut,
    };
  }
}

const NEVER_ENDED: ErrorData = { code: 'SKEIN_AUDIT', message: 'the run did not report how it ended' };

/** SHA-256 of the workflow file, or of the plan of a workflow written in code. */
function configHash(workflow: Workflow): string {
  const source = workflow.files[0];
  return source === undefined ? canonicalHash(workflow.plan) : sha256(source.text);
}
