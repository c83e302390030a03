/**
 * Is told how much work the evaluation of texts is, so that whoever has many of them evaluated can give way in between. A unit is what one step of
 * an expression costs, some 20 ns. Units are a function of the texts and the values alone: never of time, nor of what is cached.
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
