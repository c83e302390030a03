/**
 * Is told how much work the evaluation of texts is, so that whoever has many of them evaluated can give way in between. A unit is what one step of
 * an expression costs, some 20 ns. Units are a function of the texts and the values alone: never of time, nor of what is cached.
 */
export interface WorkMeter {
  spend(units: number): void;
}

/** Characters that are copied or compared for a unit of work. */
const COPIED = 16;
/** Units of work for a character that is read as JSON. */
const PARSED = 2;
/** Units of work for an expression that is compiled, and for each of its characters. */
const COMPILED = { base: 2_000, character: 25 } as const;

/** The units of copying or comparing so many characters. */
export function copyingWork(characters: number): number {
  return Math.ceil(characters / COPIED);
}

/** The units of reading so many characters as JSON. */
export function parsingWork(characters: number): number {
  return characters * PARSED;
}

/** The units of compiling an expression of so many characters. */
export function compilingWork(characters: number): number {
  return COMPILED.base + characters * COMPILED.character;
}
