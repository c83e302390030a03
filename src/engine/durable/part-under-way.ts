import { AsyncLocalStorage } from 'node:async_hooks';
import { madeOnce } from '../../base/collections.js';
import { SkeinError } from '../../base/errors.js';
import type { Held, Reserve, Reserving, StepIo } from '../ports/durable.js';

/** A part of an effect, which asks under names of its own: once it is recorded, it asks nothing, and other parts keep their names. */
export interface PartUnderWay {
  readonly of: StepIo;
  readonly name: string;
  /** The part that started the run which this one belongs to. */
  readonly around: PartUnderWay | undefined;
  /** Number of questions so far. */
  asked: number;
  /** Number of its waits for answers and for budget. */
  waits: number;
  over: boolean;
  /** Set if a budget is short: the part then counts as not done, even if it handles the error. */
  short: unknown;
}

/** The part that the running code belongs to. */
const underWay = new AsyncLocalStorage<PartUnderWay | undefined>();

/** Runs a part. Code that it starts belongs to it, also later. */
export function inPart<T>(of: StepIo, name: string, work: (part: PartUnderWay) => T): T {
  const part: PartUnderWay = {
    of,
    name,
    around: underWay.getStore(),
    asked: 0,
    waits: 0,
    over: false,
    short: undefined,
  };
  return underWay.run(part, () => work(part));
}

export function partOf(of: StepIo): PartUnderWay | undefined {
  let part = underWay.getStore();
  while (part !== undefined && part.of !== of) part = part.around;
  return part;
}

/** Reserves for an effect and for its parts. */
export function reserveInParts(of: StepIo, reserve: Reserve): Reserve {
  const inside = async (wanted: Reserving): Promise<Held> => {
    try {
      return await reserve(wanted);
    } catch (error) {
      const isShort = SkeinError.isInstance(error) && error.code === 'SKEIN_BUDGET';
      for (let part = isShort ? partOf(of) : undefined; part !== undefined; part = part.around) part.short ??= error;
      throw error;
    }
  };
  return Object.assign(inside, { strict: reserve.strict });
}

/** @throws what a part lacked that a budget was short of */
export function unlessShort<T>({ short }: PartUnderWay, value: T): T {
  if (short !== undefined) throw short as Error;
  return value;
}

/** Returns a function that continues later as a part of what the running code belongs to, whoever calls it. */
export function asPartNow<A extends unknown[], R>(work: (...args: A) => R): (...args: A) => R {
  const part = underWay.getStore();
  return (...args) => underWay.run(part, () => work(...args));
}

/** The name of the next question of a part that has none of its own; undefined outside of the parts of this effect. */
export function nextInPart(of: StepIo): string | undefined {
  const part = partOf(of);
  return part === undefined ? undefined : `${part.name} ${(part.asked += 1)}`;
}

/** How many runs of each name an effect has started. */
const runsOf = new WeakMap<StepIo, Map<string, number>>();

/** The name of a run that an effect starts, unique in the effect. Runs of its parts are numbered by themselves: a part that is recorded starts none. */
export function nameOfRun(of: StepIo, run: string): string {
  const part = partOf(of);
  const name = part === undefined ? run : `${part.name}+${run}`;
  const runs = madeOnce(runsOf, of, () => new Map<string, number>());
  const count = (runs.get(name) ?? 0) + 1;
  runs.set(name, count);
  return count === 1 ? name : `${name}#${count}`;
}

/** Counts the parts of an effect that are in progress. */
interface CountsParts extends StepIo {
  effects: number;
}

/** The running code waits, and so do the parts that it belongs to: they are not in progress until the returned function is called. */
export function partsStandStill(of: CountsParts): () => void {
  const still: PartUnderWay[] = [];
  for (let part = partOf(of); part !== undefined; part = part.around) if (part.of === of) still.push(part);
  for (const part of still) if ((part.waits += 1) === 1 && !part.over) of.effects -= 1;
  return () => {
    for (const part of still) if ((part.waits -= 1) === 0 && !part.over) of.effects += 1;
  };
}

export function endPart(of: CountsParts, part: PartUnderWay): void {
  if (part.waits === 0) of.effects -= 1;
  part.over = true;
}
