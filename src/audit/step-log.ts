import type { SkeinEvent, StepNote } from '../events/event.js';
import type { GuardedCallFacts } from '../events/trust.js';
import { Tally } from '../events/spending.js';
import { isLoopNote } from '../events/step-notes.js';
import { StepFold } from '../events/step-fold.js';
import { valueText } from '../lang/value-text.js';
import type { FileWriter } from './file-writer.js';
import { describeConditions, type NodePlace } from './plan-places.js';
import { endingFields, spendingFields, timeFields, type Fields } from './record-fields.js';
import type { Redactor } from '../secrets/redact.js';
import { StreamLog } from './stream-log.js';

export interface StepLogOptions {
  readonly writer: FileWriter;
  readonly redactor: Redactor;
  /** The folder of the step, relative to the run folder. */
  readonly folder: string;
  readonly place: NodePlace | undefined;
  readonly streaming: boolean;
  /** True if the run continues: it has paid for the results that it reuses from its record. */
  readonly goesOn: boolean;
  readonly agentFiles?: ReadonlyMap<string, string> | undefined;
}

export type StepEvent = Extract<SkeinEvent, { type: 'step.started' | 'step.ended' }>;
type StepRetrying = Extract<SkeinEvent, { type: 'step.retrying' }>;
type StepEnded = Extract<SkeinEvent, { type: 'step.ended' }>;

/** Writes the folder of one step: its prompt, its answer and its ending. */
export class StepLog {
  private readonly step: StepFold;
  private readonly started: boolean;
  private readonly stream: StreamLog | undefined = undefined;
  /** The model that answered last. */
  private model: string | undefined = undefined;
  /** Number of answers of the agent itself. */
  private turns = 0;
  private hasOutput = false;
  private abandoned = false;

  constructor(
    private readonly options: StepLogOptions,
    private readonly first: StepEvent,
  ) {
    const spent = new Tally();
    this.step = new StepFold(first.at, spent, options.goesOn ? spent : undefined);
    this.started = first.type === 'step.started';
    const { writer, redactor, folder, streaming } = options;
    if (streaming && this.started && first.kind === 'agent') {
      this.stream = new StreamLog(redactor, (lines) => writer.append(`${folder}/stream.jsonl`, lines));
    }
    if (first.type === 'step.started') this.writeMeta();
    else this.take(first);
  }

  /** The first model called. Empty before the first call. */
  private asked = '';

  /** Takes an event after the start of the step. */
  take(event: SkeinEvent): void {
    const isPaid = event.replayed !== true || (this.options.goesOn && event.type === 'step.note');
    this.step.take(event, event.at, !isPaid);
    if (event.type === 'step.note') this.note(event.note, event.at);
    else if (event.type === 'step.retrying') this.retrying(event);
    else if (event.type === 'step.ended') this.ended(event);
  }

  private note(note: StepNote, at: number): void {
    if (isLoopNote(note)) this.stream?.round(note, at);
    else if (
      note.kind !== 'model.failed' &&
      note.kind !== 'inner.call' &&
      note.kind !== 'items' &&
      note.kind !== 'rounds'
    )
      this.stream?.note(note, at);
    if (note.kind === 'prompt') {
      this.asked = note.model;
      this.writeText('prompt.md', note.prompt);
      if (note.system.trim() !== '') this.writeText('system.md', note.system);
    }
    if (note.kind === 'guard.decided') this.decided(note, at);
    if (note.kind === 'supervision.corrected') this.writeMeta();
    if (note.kind !== 'model.ended' || note.phase !== undefined) return;
    this.model = note.model;
    this.turns += 1;
  }

  private decided({ kind: _kind, ...decided }: GuardedCallFacts & { readonly kind: string }, at: number): void {
    const { writer, redactor, folder } = this.options;
    writer.append(`${folder}/guard.jsonl`, `${redactor.json({ ts: new Date(at).toISOString(), ...decided })}\n`);
  }

  private retrying({ attempt, error, at }: StepRetrying): void {
    this.stream?.retrying(attempt, error, at);
    this.writeMeta();
  }

  /** Notes that a step around this one is retried: the result of this one does not count. */
  abandon(): void {
    this.abandoned = true;
    this.writeMeta();
  }

  private ended(event: StepEnded): void {
    const output = this.outputText(event);
    if (event.outcome === 'succeeded') this.stream?.succeeded(output, event.at);
    else this.stream?.stopped(event.outcome, event.error?.message ?? event.reason ?? event.outcome, event.at);
    this.hasOutput = output !== undefined;
    if (output !== undefined) this.writeText('output.md', output);
    this.writeMeta();
  }

  /** The whole answer: the value of the node's output channel, or else everything it wrote. */
  private outputText({ outcome, update }: StepEnded): string | undefined {
    const { place, writer, folder } = this.options;
    if (outcome !== 'succeeded' || update === undefined || Object.keys(update).length === 0) return undefined;
    const output = place?.node.output;
    try {
      if (output !== undefined && Object.hasOwn(update, output)) return valueText(update[output]);
      return JSON.stringify(update, undefined, 2);
    } catch (error) {
      writer.failed(`${folder}/output.md`, error);
      return undefined;
    }
  }

  private writeText(name: string, text: string): void {
    const { writer, redactor, folder } = this.options;
    writer.write(`${folder}/${name}`, () => redactor.text(text));
  }

  private writeMeta(): void {
    const { writer, redactor, folder } = this.options;
    writer.write(`${folder}/step.meta.json`, () => `${redactor.json(this.meta(), 2)}\n`);
  }

  private meta(): Fields {
    const { first, step } = this;
    const { writer, folder } = this.options;
    return {
      id: first.node,
      step_id: first.node,
      path: first.path,
      kind: first.kind,
      ...this.agentFields(),
      ...(step.ending === undefined ? { status: 'running' } : endingFields(step.ending)),
      abandoned: this.abandoned ? true : undefined,
      ...timeFields(step.startedAt, step.endedAt),
      ...this.placeFields(),
      attempts: step.attempts,
      session_id: this.started ? `${first.runId}/${first.path}` : undefined,
      output_file: this.hasOutput && !writer.hasLost(`${folder}/output.md`) ? 'output.md' : undefined,
    };
  }

  private agentFields(): Fields {
    const node = this.options.place?.node;
    if (node?.kind !== 'agent') return {};
    const { spent } = this.step;
    const { name, models, interactive } = node.agent;
    return {
      agent: name,
      agent_file: this.options.agentFiles?.get(name),
      model: this.model,
      requested_models: models.length === 0 && this.asked !== '' ? [this.asked] : models,
      interactive: interactive === true,
      turns: this.turns,
      ...spendingFields(spent.spending()),
    };
  }

  private placeFields(): Fields {
    const { place } = this.options;
    const met = this.conditionMet();
    return {
      depends_on: place?.dependsOn ?? [],
      condition: place === undefined ? undefined : describeConditions(place),
      condition_met: met,
      condition_result: met,
    };
  }

  /** Undefined if no condition was evaluated: no path led to the step, or the evaluation failed. */
  private conditionMet(): boolean | undefined {
    if (this.started) return true;
    const conditional = this.options.place?.node.when !== undefined;
    const lookedAt = this.step.status === 'skipped' && this.step.attempts > 0;
    return conditional && lookedAt ? false : undefined;
  }
}
