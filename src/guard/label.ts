/**
 * Trust levels: where a value comes from. `vetted` is what the user keeps but did not write for this run, such as the files of the project.
 */
export type Level = 'trusted' | 'vetted' | 'untrusted';

/** The origin of a value, and whether it is private. */
export interface Label {
  readonly level: Level;
  readonly isPrivate: boolean;
  /** `path@effect`, `input:NAME`, `file:PATH`, `server:NAME`; sorted, at most {@link MOST_SOURCES}. */
  readonly sources: readonly string[];
  /** Set if there are more sources than listed. */
  readonly more?: true;
}

export const MOST_SOURCES = 64;

/** From the best to the worst. */
export const LEVELS: readonly Level[] = ['trusted', 'vetted', 'untrusted'];

/** The label of values that nobody else influenced. */
export const TRUSTED: Label = Object.freeze({ level: 'trusted', isPrivate: false, sources: Object.freeze([]) });

/** The number of {@link TRUSTED} in every table. */
export const CLEAN = 0;

/** The label of content that came from outside into the step at a path. */
export function fromOutside(path: string, what: string): Label {
  return { level: 'untrusted', isPrivate: false, sources: [`${path}@${what}`] };
}

/** The label of an input, or of a value set in a fork, that the user does not control. */
function fromInput(name: string): Label {
  return { level: 'untrusted', isPrivate: false, sources: [`input:${name}`] };
}

/** Names of inputs, and of values set in a fork, with a label. */
export interface MarkedNames {
  readonly untrusted?: readonly string[] | undefined;
  /** Of those that are not for everybody. */
  readonly private?: readonly string[] | undefined;
}

/** Returns the labels of marked inputs, by name. A name can have two. */
export function labelsOfInputs({ untrusted = [], private: hidden = [] }: MarkedNames): readonly [string, Label][] {
  return [
    ...untrusted.map((name): [string, Label] => [name, fromInput(name)]),
    ...hidden.map((name): [string, Label] => [name, { ...TRUSTED, isPrivate: true, sources: [`input:${name}`] }]),
  ];
}

/** What is given as an answer by `skein answer RUN -`. */
export const FROM_STDIN = 'stdin';

/** Returns what receives the source of an answer, and tells the label of one that is not the person's own. `also` hears it too. */
export function hearsAnswer(
  path: string,
  tell: (label: Label) => void,
  also?: (by: string | undefined) => void,
): (by: string | undefined) => void {
  return (by) => {
    if (by === FROM_STDIN) tell(fromOutside(path, 'answer'));
    also?.(by);
  };
}

export function worse(a: Level, b: Level): Level {
  return LEVELS.indexOf(a) >= LEVELS.indexOf(b) ? a : b;
}

/** Returns a label with its sources sorted and without duplicates. */
export function labelOf({ level, isPrivate, sources, more }: Label): Label {
  const sorted = [...new Set(sources)].toSorted();
  const all = { level, isPrivate, sources: sorted.slice(0, MOST_SOURCES) };
  return more === true || sorted.length > MOST_SOURCES ? { ...all, more: true } : all;
}

/** The label of a value made from two: the less trusted level, private if one is, with the sources of both. */
export function joined(a: Label, b: Label): Label {
  return labelOf({
    level: worse(a.level, b.level),
    isPrivate: a.isPrivate || b.isPrivate,
    sources: [...a.sources, ...b.sources],
    ...(a.more === true || b.more === true ? { more: true } : {}),
  });
}

/** A label without one source: trusted if there is no other one. With others it stays, since each may be the reason for its level. */
export function withoutSource(label: Label, source: string): Label {
  const { sources, more } = label;
  return more !== true && sources.length === 1 && sources[0] === source ? TRUSTED : label;
}

/** Like {@link joined}, where either may be missing. */
export function joinedIf(a: Label | undefined, b: Label | undefined): Label | undefined {
  return a === undefined || b === undefined ? (a ?? b) : joined(a, b);
}

/**
 * The labels of a run as small integers, so that a cell of the state holds one at no cost. {@link CLEAN} is trusted and public.
 *
 * @example
 * const labels = new Labels();
 * const page = labels.of({ level: 'untrusted', isPrivate: false, sources: ['read@tool#1.1'] });
 * labels.get(labels.join(CLEAN, page)).level; // 'untrusted'
 */
export class Labels {
  private readonly all: Label[] = [TRUSTED];
  private readonly numbers = new Map<string, number>([[keyOf(TRUSTED), CLEAN]]);
  private readonly joins = new Map<string, number>();

  /** The number of a label; equal labels have the same number. */
  of(label: Label): number {
    const whole = labelOf(label);
    const key = keyOf(whole);
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    const id = this.all.push(whole) - 1;
    this.numbers.set(key, id);
    return id;
  }

  /** @throws RangeError for a number that is not in this table */
  get(id: number): Label {
    const label = this.all[id];
    if (label === undefined) throw new RangeError(`there is no label ${id}`);
    return label;
  }

  /** The label of a value made from two. */
  join(a: number, b: number): number {
    if (a === b || b === CLEAN) return a;
    if (a === CLEAN) return b;
    const key = a < b ? `${a} ${b}` : `${b} ${a}`;
    const known = this.joins.get(key);
    if (known !== undefined) return known;
    const id = this.of(joined(this.get(a), this.get(b)));
    this.joins.set(key, id);
    return id;
  }
}

function keyOf({ level, isPrivate, sources, more }: Label): string {
  return JSON.stringify([level, isPrivate, more === true, ...sources]);
}
