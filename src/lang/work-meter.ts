/**
 * Counts the work of evaluating texts, so that code that evaluates many can yield in between. A unit is the cost of one step of an
 * expression, some 20 ns. Units depend only on the texts and the values, not on time or caches.
 */
export interface WorkMeter {
  spend(units: number): void;
}

/** Number of copied or compared characters per unit of work. */
const COPIED = 16;
/** Units of work per character parsed as JSON. */
const PARSED = 2;
/** Units of work per compiled expression, and for each of its characters. */
const COMPILED = { base: 2_000, character: 25 } as const;

/** Returns the units for copying or comparing characters. */
export function copyingWork(characters: number): number {
  return Math.ceil(characters / COPIED);
}

/** Returns the units for parsing characters as JSON. */
export function parsingWork(characters: number): number {
  return characters * PARSED;
}

/** Returns the units for compiling an expression. */
export function compilingWork(characters: number): number {
  return COMPILED.base + characters * COMPILED.character;
}
