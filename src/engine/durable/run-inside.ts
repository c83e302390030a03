import { parseKey, stepOf } from '../../base/address.js';
import { aroundName, effectInside } from '../../base/names-inside.js';
import { amountOfEffect } from '../../budget/amount.js';
import { toErrorData } from '../../base/errors.js';
import { canonicalJson, digestText } from '../../base/hash.js';
import { isUnmade } from '../../base/decided.js';
import type {
  Effect,
  FindingOut,
  Outcome,
  PartEffect,
  PartOutcome,
  Parts,
  RunUnderWay,
  StepIo,
} from '../ports/durable.js';
import type { Identity, StepOptions } from '../ports/recording.js';
import type { RunBudget } from './run-budget.js';
import { inPart, nameOfRun, partOf, unlessShort } from './part-under-way.js';

/** An effect of a run inside another one. */
interface Inner extends StepIo {
  readonly key: string;
  readonly dropped: boolean;
  readonly running: boolean;
  /** Set if a budget is short. */
  readonly short: Outcome | undefined;
}

type OwnBudget = Pick<RunBudget<never>, 'charge'>;

/** Length of the digest in the name of a run. */
const DIGEST = 8;

/**
 * A run inside an effect of a recorded run. Its model calls, its tool calls and its other recorded effects are parts of that effect. They are named after
 * the plan and the inputs of the run: the order in which a function starts runs may differ whenever it is performed.
 */
export class RunInside {
  /** Unique in the effect around it. */
  readonly name: string;
  private underWay: RunUnderWay | undefined = undefined;
  /** Numbers of waits of its effects for answers, and for the budget of a run around it. */
  private readonly waiting = new Map<Inner, number>();

  private readonly standing = new Map<object, () => void>();
  private budget: OwnBudget | undefined = undefined;

  constructor(
    private readonly parts: Parts,
    plan: string,
    inputs: unknown,
  ) {
    this.name = parts.nameOf(`in:${plan.replaceAll(NOT_IN_NAMES, '-')}:${digestOf(inputs)}`);
  }

  /** `budget`: that of the run itself. */
  begins(isAtWork: () => boolean, budget: OwnBudget | undefined): void {
    this.underWay = this.parts.begins(isAtWork);
    this.budget = budget;
  }

  /** The run may have come to rest. */
  rests(): void {
    this.underWay?.rests();
  }

  over(): void {
    this.underWay?.over();
  }

  /** An effect waits for something that the run around asks for once it is at rest. Returns a function to call when the wait ends. */
  waits(ticket: Inner): () => void {
    const { waiting } = this;
    waiting.set(ticket, (waiting.get(ticket) ?? 0) + 1);
    this.rests();
    return () => {
      const left = (waiting.get(ticket) ?? 1) - 1;
      if (left === 0) waiting.delete(ticket);
      else waiting.set(ticket, left);
    };
  }

  /** An effect waits until nothing else in the run continues. */
  stands(stand: object): void {
    if (!this.standing.has(stand)) this.standing.set(stand, this.parts.waits());
  }

  /** Such a wait is over. */
  goesOn(stand: object): void {
    this.standing.get(stand)?.();
    this.standing.delete(stand);
  }

  /** Number of effects that only wait. */
  get waitingEffects(): number {
    let count = 0;
    for (const { running } of this.waiting.keys()) if (running) count += 1;
    return count;
  }

  /** Performs an effect of the run, unless its outcome is recorded. */
  perform(ticket: Inner, effect: Effect, options: StepOptions): Promise<Outcome> {
    const waits: FindingOut = (by) => {
      const goOn = [options.stopsClock?.(), by === 'person' ? this.waits(ticket) : undefined];
      return () => goOn.forEach((goesOn) => goesOn?.());
    };
    const made = async (): Promise<PartOutcome | undefined> => {
      const outcome = await outcomeOf(effect, ticket);
      return ticket.dropped || ticket.short !== undefined ? undefined : outcome;
    };
    return this.part(ticket, [this.partOf(ticket.key), made, options, waits]);
  }

  run(ticket: Inner, key: string, effect: Effect, options: StepOptions): Promise<unknown> {
    const perform = (): unknown =>
      inPart(ticket, parseKey(key).name ?? '', async (part) => unlessShort(part, await effect.perform(ticket)));
    return this.parts.run(this.partOf(key), { perform }, options);
  }

  /** What records the effects of runs inside an effect of this run. */
  partsOf(ticket: Inner): Parts {
    const { parts } = this;
    const nameIn = (name: string): string => `${this.partOf(ticket.key)} ${name}`;
    return {
      nameOf: (run) => nameOfRun(ticket, run),
      begins: (isAtWork) => parts.begins(isAtWork),
      perform: (name, effect, options, waits) => {
        const both: FindingOut = (by) => {
          const goOn = [waits(by), by === 'person' ? this.waits(ticket) : undefined];
          return () => goOn.forEach((goesOn) => goesOn?.());
        };
        return this.part(ticket, [nameIn(name), effect, options, both]);
      },
      run: (name, effect, options) => parts.run(nameIn(name), effect, options),
      isRecorded: (name, identity) => parts.isRecorded(nameIn(name), identity),
      isTaken: (name, identity) => parts.isTaken(nameIn(name), identity),
      waits: () => {
        const goOn = [parts.waits(), this.waits(ticket)];
        return () => goOn.forEach((goesOn) => goesOn());
      },
      underWay: () => partOf(ticket)?.name,
      idempotencyKey: (name) => parts.idempotencyKey(nameIn(name)),
      random: (name) => parts.random(nameIn(name)),
    };
  }

  /** Performs a part of an effect. What one from the record has spent counts toward the budget of the run, too. */
  private async part({ key }: Inner, [name, effect, ...how]: Parameters<Parts['perform']>): Promise<Outcome> {
    let isMade = false;
    const made = (): ReturnType<PartEffect> => {
      isMade = true;
      return effect();
    };
    const outcome = await this.parts.perform(name, made, ...how);
    const spent = isMade ? undefined : amountOfEffect(effectInside(name) ?? '', () => outcome);
    if (spent !== undefined) this.budget?.charge(stepOf(key), spent);
    return outcome;
  }

  isRecorded(key: string, identity?: Identity): boolean {
    return this.parts.isRecorded(this.partOf(key), identity);
  }

  isTaken(key: string, identity: Identity): boolean {
    return this.parts.isTaken(this.partOf(key), identity);
  }

  idempotencyKey(key: string): string {
    return this.parts.idempotencyKey(this.partOf(key));
  }

  random(key: string): number {
    return this.parts.random(this.partOf(key));
  }

  private partOf(key: string): string {
    return `${this.name} ${aroundName(key, 1)}`;
  }
}

/** Whether an effect is recorded as part of another one. Without an identity, nothing says whether a record holds. */
export function isPart(options: StepOptions | undefined): options is StepOptions {
  return options?.identity !== undefined && options.cleanup !== true && options.pure !== true;
}

const NOT_IN_NAMES = /[^\w-]/g;

/** Inputs of such a run need not be JSON. Its effects have identities of their own, so inputs that are not told apart do no harm. */
function digestOf(inputs: unknown): string {
  try {
    return digestText(canonicalJson(inputs)).slice(0, DIGEST);
  } catch {
    return 'inputs';
  }
}

async function outcomeOf(effect: Effect, ticket: Inner): Promise<PartOutcome> {
  try {
    return { ok: true, value: await effect.perform(ticket) };
  } catch (error) {
    const data = toErrorData(error);
    return { ok: false, error: data, unmade: data.code === 'SKEIN_QUESTION' || isUnmade(error) };
  }
}
