import { lazily } from '../../../base/collections.js';
import { SkeinError, stepCancelled } from '../../../base/errors.js';
import { canonicalJson, digestText } from '../../../base/hash.js';
import type { StepPart } from '../../../plan/builder-input.js';
import { sourceText } from '../../../plan/made-of.js';
import { definitionOf } from '../../durable/identity.js';
import { innerKey } from '../../../base/address.js';
import type { StepIo } from '../../ports/durable.js';
import type { Identity } from '../../ports/recording.js';
import type { ReadLog } from '../../state/reads.js';
import type { Step } from '../step.js';

const LONGEST_NAME = 200;

/** The parts with records of their own in one attempt of a step's function. */
export class InnerRuns {
  private readonly used = new Map<string, number>();

  constructor(
    private readonly step: Step,
    private readonly io: StepIo,
    private readonly log: ReadLog | undefined,
  ) {}

  /** `heard`: the correction was read. @throws SkeinError `SKEIN_USAGE` for an invalid name, `SKEIN_CANCELLED`, `SKEIN_NOT_JSON` */
  async run(name: string, part: (io: StepPart) => unknown, heard: boolean): Promise<unknown> {
    const { step, io, log } = this;
    const own = this.nameOf(name);
    // Parts from before the function read its correction are reused; later ones belong to that correction.
    const known = heard ? `${own}\n${step.correction ?? ''}` : own;
    if (step.over || io.signal.aborted) throw stepCancelled();
    const before = step.results?.get(known);
    if (before !== undefined) {
      // The result of this attempt depends on it, too.
      if (before.past !== undefined) log?.reused(before.past);
      return before.value;
    }
    const key = innerKey(step.path, `run:${own}`);
    const perform = (): unknown => {
      const place = `${step.run.runId}/${key}`;
      return part({ signal: io.signal, idempotencyKey: heard ? step.keyOfCall(place) : place });
    };
    const value =
      io.run === undefined ? await perform() : await io.run(key, { perform }, { identity: this.identityOf(part) });
    (step.results ??= new Map()).set(known, { value, past: log?.past() });
    return value;
  }

  /** A repeated name gets a number, in the order of the calls and not of their ends. */
  private nameOf(name: string): string {
    if (typeof name !== 'string' || !NAME().test(name) || name.length > LONGEST_NAME) {
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

  /** A part depends on its own source, on that of the surrounding function, and on what that function has read of the state. */
  private identityOf(part: unknown): Identity {
    const { step, log } = this;
    return {
      digest: () => digestText(canonicalJson(['run', definitionOf(step.compiled), sourceText(part)])),
      reads: () => log?.reads(),
      current: (name) => log?.current(name) ?? '',
      // The part may be the only reader of what it read.
      heard: () => log?.heard(),
      wrote: () => log?.wrote(),
      reused: (then) => log?.reused(then),
    };
  }
}

const NAME = lazily(() => /^[^\p{C}#]+$/u);
