import { SkeinError, stepCancelled } from '../../../base/errors.js';
import { canonicalJson, digestText } from '../../../base/hash.js';
import type { StepPart } from '../../../plan/builder-input.js';
import { sourceText } from '../../../plan/made-of.js';
import { definitionOf } from '../../durable/identity.js';
import { innerKey } from '../../../base/address.js';
import type { Identity, StepIo } from '../../ports/durable.js';
import type { ReadLog } from '../../state/reads.js';
import type { Step } from '../step.js';

const LONGEST_NAME = 200;

/** Effects of their own that the function of a step has, in one attempt. */
export class InnerRuns {
  /** How often each name was used. */
  private readonly used = new Map<string, number>();

  constructor(
    private readonly step: Step,
    private readonly io: StepIo,
    private readonly log: ReadLog | undefined,
  ) {}

  /** `heard`: the function knows its correction. @throws SkeinError `SKEIN_USAGE` for such a name, `SKEIN_CANCELLED`, `SKEIN_NOT_JSON` */
  async run(name: string, part: (io: StepPart) => unknown, heard: boolean): Promise<unknown> {
    const { step, io } = this;
    const own = this.nameOf(name);
    // What it did before it heard its correction stays; what it does then is done for that.
    const known = heard ? `${own}\n${step.correction ?? ''}` : own;
    if (step.over || io.signal.aborted) throw stepCancelled();
    if (step.results?.has(known) === true) return step.results.get(known);
    const key = innerKey(step.path, `run:${own}`);
    const perform = (): unknown => part({ signal: io.signal, idempotencyKey: `${step.run.runId}/${key}` });
    const value =
      io.run === undefined ? await perform() : await io.run(key, { perform }, { identity: this.identityOf(part) });
    (step.results ??= new Map()).set(known, value);
    return value;
  }

  /** A name that is used again gets a number: they are counted as they are called, and not as they end. */
  private nameOf(name: string): string {
    if (typeof name !== 'string' || !NAME.test(name) || name.length > LONGEST_NAME) {
      throw new SkeinError(
        'SKEIN_USAGE',
        `step.run needs a name for what is done, not ${JSON.stringify(name) ?? 'nothing'}`,
        {
          hint: `a text of one line without #, such as step.run('charge', () => charge(order))`,
        },
      );
    }
    const times = (this.used.get(name) ?? 0) + 1;
    this.used.set(name, times);
    return times === 1 ? name : `${name}#${times}`;
  }

  /** What is done depends on its own source, on that of the function around it, and on what that has read of the state. */
  private identityOf(part: unknown): Identity {
    const { step, log } = this;
    return {
      digest: () => digestText(canonicalJson(['run', definitionOf(step.compiled), sourceText(part)])),
      reads: () => log?.reads(),
      current: (name) => log?.current(name) ?? '',
      // What it read, it may have read nowhere else.
      heard: () => log?.heard(),
      reused: (then) => log?.reused(then),
    };
  }
}

const NAME = /^[^\p{C}#]+$/u;
