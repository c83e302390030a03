import { addTo } from '../../base/collections.js';
import { quoteShort } from '../../lang/value-text.js';
import { walkBack } from '../../plan/reach.js';
import type { Findings } from '../../text/findings.js';
import type { SourceScalar } from '../../text/nodes.js';
import { allSteps, innerSteps, type StepDef } from './definition.js';

/** The order of steps. The steps of a loop or a map form a graph of their own, and see what ended before that loop or map started. */
export interface StepGraph {
  /** Top-level steps of the file, not those inside loops and maps. */
  readonly ids: ReadonlySet<string>;
  idsBeside(step: StepDef): ReadonlySet<string>;
  /** Returns the ids in the step's own list and in the lists of the loops and maps around it. */
  idsAround(step: StepDef): ReadonlySet<string>;
  /** False for a step without an output: it ends the file, or waits for a time. */
  hasOutput(id: string): boolean;
  /** Returns the known dependencies of a step, in order, each once. */
  dependsOn(id: string): readonly string[];
  /** True if a step has ended whenever this one starts. */
  endsBefore(id: string, step: StepDef): boolean;
  /** True if a step ended in the previous round, except in the first: a loop around this step contains it. */
  endedInRoundBefore(id: string, step: StepDef): boolean;
  isAround(id: string, step: StepDef): boolean;
  /** True for the step that runs after all others, and for steps inside it. */
  isAtEnd(step: StepDef): boolean;
  blocksAround(step: StepDef): number;
  /** Returns all steps that have ended whenever this one starts. */
  upstreamOf(step: StepDef): readonly string[];
  /** Returns the innermost loop or map that contains a step. */
  blockOf(id: string): StepDef | undefined;
  /** Returns the maps around a step, innermost first. */
  mapsAround(step: StepDef): readonly StepDef[];
  step(id: string): StepDef | undefined;
  /** Returns the steps of a loop. Empty for other steps. */
  stepsIn(id: string): readonly string[];
  /** Returns the scope in which a loop's end condition is read: after all of its steps. */
  endOf(loop: StepDef): StepDef;
  /** The scope in which the file's values are read: after all of its steps. Undefined without steps. */
  readonly end: StepDef | undefined;
}

interface Level {
  readonly block: StepDef | undefined;
  readonly ids: ReadonlySet<string>;
  readonly walk: (step: StepDef) => (id: string) => boolean;
}

/** The lists of steps of a file, and how they are connected. */
interface Levels {
  readonly top: Level;
  readonly of: ReadonlyMap<StepDef, Level>;
  readonly ofId: ReadonlyMap<string, Level>;
  /** The scopes in which end conditions of loops are read. */
  readonly ends: ReadonlyMap<StepDef, StepDef>;
  /** The scope in which the file's values are read. */
  readonly end: StepDef | undefined;
  readonly parents: ReadonlyMap<string, readonly string[]>;
}

function connectLists(steps: readonly StepDef[], findings: Findings): Levels {
  const of = new Map<StepDef, Level>();
  const ofId = new Map<string, Level>();
  const ends = new Map<StepDef, StepDef>();
  const all = new Map<string, readonly string[]>();
  const connect = (list: readonly StepDef[], block: StepDef | undefined): Level => {
    const ids = new Set(list.map((step) => step.id).filter((id) => id !== ''));
    const parents = parentsIn(list, { block, ids }, findings);
    for (const [id, needed] of parents) all.set(id, needed);
    reportCycle(list, parents, findings);
    const level: Level = { block, ids, walk: upstreamWalk(parents) };
    for (const id of ids) ofId.set(id, level);
    for (const step of list) {
      of.set(step, level);
      const inner = innerSteps(step);
      if (inner === undefined) continue;
      const end = endOf(step, inner);
      ends.set(step, end);
      of.set(end, connect(inner, step));
    }
    return level;
  };
  const top = connect(steps, undefined);
  const others = steps.filter(({ last }) => last === undefined);
  const [first] = others;
  const end = first && { ...endOf(first, others), label: 'output' };
  if (end !== undefined) of.set(end, top);
  return { top, of, ofId, ends, end, parents: all };
}

/**
 * Resolves `depends_on`. Problem codes: `unknown-step`, `self-dependency`, `cycle` (with one path that really exists).
 */
export function connectSteps(steps: readonly StepDef[], findings: Findings): StepGraph {
  const { top, of: levels, ofId, ends, end, parents } = connectLists(steps, findings);
  const { ids } = top;
  // If several steps have the same id, which was reported, the first one counts.
  const byId = new Map(
    allSteps(steps)
      .toReversed()
      .map((step) => [step.id, step]),
  );
  const isEmpty = (id: string): boolean => {
    const step = byId.get(id);
    return step !== undefined && givesNothing(step);
  };
  const around = (step: StepDef): Iterable<readonly [Level, StepDef]> => levelsAround(step, levels);
  return {
    ids,
    idsBeside: (step) => levels.get(step)?.ids ?? ids,
    idsAround: (step) => {
      const [own = ids, ...more] = [...around(step)].map(([level]) => level.ids);
      return more.length === 0 ? own : new Set([own, ...more].flatMap((each) => [...each]));
    },
    hasOutput: (id) => !isEmpty(id),
    dependsOn: (id) => parents.get(id) ?? [],
    endsBefore: (id, step) => [...around(step)].some(([level, here]) => level.ids.has(id) && level.walk(here)(id)),
    endedInRoundBefore: (id, step) =>
      [...around(step)].some(([level]) => level.block?.loop !== undefined && level.ids.has(id)),
    isAround: (id, step) => [...around(step)].some(([level]) => level.block?.id === id),
    isAtEnd: (step) => [...around(step)].some(([level]) => level.block?.last !== undefined),
    blocksAround: (step) => [...around(step)].length - 1,
    upstreamOf: (step) =>
      [...around(step)]
        .toReversed()
        .flatMap(([level, here]) => [...level.ids].filter(level.walk(here)))
        .filter((id) => !isEmpty(id)),
    blockOf: (id) => ofId.get(id)?.block,
    mapsAround: (step) => [...around(step)].flatMap(([{ block }]) => (block?.map === undefined ? [] : [block])),
    step: (id) => byId.get(id),
    stepsIn: (id) => byId.get(id)?.loop?.steps.map((each) => each.id) ?? [],
    endOf: (loop) => ends.get(loop) ?? loop,
    end,
  };
}

/** True for steps that have no output: they end the file, or wait for a time, or are loops whose last step has none. */
function givesNothing({ end, wait, last, loop }: StepDef): boolean {
  const inner = loop?.steps.at(-1);
  if (inner !== undefined && givesNothing(inner)) return true;
  return end !== undefined || last !== undefined || (wait !== undefined && wait.event === undefined);
}

/** Yields the level of a step and those of the enclosing blocks, each with the step or block in it. */
function* levelsAround(step: StepDef, levels: ReadonlyMap<StepDef, Level>): Generator<readonly [Level, StepDef]> {
  for (let here: StepDef | undefined = step; here !== undefined;) {
    const level = levels.get(here);
    if (level === undefined) return;
    yield [level, here];
    here = level.block;
  }
}

function endOf(loop: StepDef, steps: readonly StepDef[]): StepDef {
  const dependsOn = steps.map(({ id, at }): SourceScalar => ({
    kind: 'scalar',
    value: id,
    text: id,
    at,
    range: [0, 0],
  }));
  return { ...loop, id: '', dependsOn };
}

function parentsIn(
  steps: readonly StepDef[],
  { block, ids }: Pick<Level, 'block' | 'ids'>,
  findings: Findings,
): ReadonlyMap<string, readonly string[]> {
  const parents = new Map<string, readonly string[]>();
  for (const step of steps) {
    const known = new Set<string>();
    for (const { text, at } of step.dependsOn) {
      if (text === step.id) {
        findings.error('self-dependency', `${step.label} depends on itself`, at, 'remove it from depends_on');
      } else if (ids.has(text)) known.add(text);
      else {
        const isOutside = block !== undefined;
        const what = isOutside ? `which ${block.label} does not have` : 'which does not exist';
        const hint = nearestStep(text, ids, findings);
        const advice = isOutside ? `${hint}; what runs before ${block.label} stands under its own depends_on` : hint;
        findings.error('unknown-step', `${step.label} depends on the step ${quoteShort(text)}, ${what}`, at, advice);
      }
    }
    if (step.id !== '') parents.set(step.id, [...known]);
  }
  return parents;
}

/** The maximum number of steps in a hint. */
const MOST_LISTED = 8;

/** Returns a hint for an unknown step: the one most likely meant, or the existing ones. */
export function nearestStep(word: string, ids: ReadonlySet<string>, findings: Findings): string {
  const listed = [...ids].slice(0, MOST_LISTED).join(', ');
  return findings.near(word, ids) ?? `steps are: ${listed}${ids.size > MOST_LISTED ? ', ...' : ''}`;
}

/** The maximum number of steps of a cycle in a message. */
const LONGEST_PATH = 20;

type Parents = ReadonlyMap<string, readonly string[]>;

/** Returns a function that tells which steps are upstream of a step. */
function upstreamWalk(parents: Parents): (step: StepDef) => (id: string) => boolean {
  const indexes = new Map([...parents.keys()].map((id, index) => [id, index]));
  const indexOf = (id: string): number => indexes.get(id) ?? -1;
  const walk = walkBack([...parents.values()].map((list) => list.map(indexOf)));
  return (step) => {
    const direct = step.dependsOn.flatMap(({ text }) => (text === step.id ? [] : [indexOf(text)]));
    const isUpstream = walk(step, direct);
    return (id) => isUpstream(indexOf(id));
  };
}

function reportCycle(steps: readonly StepDef[], parents: Parents, findings: Findings): void {
  const stuck = stepsThatNeverStart(parents);
  let [here] = stuck;
  if (here === undefined) return;
  // Each of these steps waits for another of them, so a walk along dependencies returns to a step it has visited.
  const walked: string[] = [];
  const seenAt = new Map<string, number>();
  while (here !== undefined && !seenAt.has(here)) {
    seenAt.set(here, walked.length);
    walked.push(here);
    here = (parents.get(here) ?? []).find((parent) => stuck.has(parent));
  }
  const cycle = walked.slice(seenAt.get(here ?? '') ?? 0).toReversed();
  const [first] = cycle;
  const step = steps.find(({ id }) => id === first);
  const last = cycle.at(-1);
  const at = step?.dependsOn.find(({ text }) => text === last)?.at ?? step?.at;
  const more = cycle.length - LONGEST_PATH;
  const shown = more > 0 ? [...cycle.slice(0, LONGEST_PATH), `(${more} more)`] : cycle;
  const path = [...shown, first].join(' -> ');
  findings.error('cycle', `these steps wait for each other: ${path}`, at, 'remove one of the dependencies');
}

function stepsThatNeverStart(parents: Parents): ReadonlySet<string> {
  const children = new Map<string, string[]>();
  const missing = new Map<string, number>();
  for (const [id, list] of parents) {
    missing.set(id, list.length);
    for (const parent of list) addTo(children, parent, id);
  }
  const stuck = new Set(parents.keys());
  const ready = [...missing].filter(([, count]) => count === 0).map(([id]) => id);
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    stuck.delete(next);
    for (const child of children.get(next) ?? []) {
      const left = (missing.get(child) ?? 0) - 1;
      missing.set(child, left);
      if (left === 0) ready.push(child);
    }
  }
  return stuck;
}
