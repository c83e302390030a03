import { addTo } from '../../base/collections.js';
import { quoteShort } from '../../lang/value-text.js';
import { walkBack } from '../../plan/reach.js';
import type { Findings } from '../../text/findings.js';
import type { StepDef } from './definition.js';

/** Which step comes before which. */
export interface StepGraph {
  readonly ids: ReadonlySet<string>;
  /** Known dependencies of a step, in order, each once. */
  dependsOn(id: string): readonly string[];
  /** True when a step has ended whenever this one starts. */
  endsBefore(id: string, step: StepDef): boolean;
  /** All steps that have ended whenever this one starts. */
  upstreamOf(step: StepDef): readonly string[];
}

/**
 * Resolves `depends_on`. Problem codes: `unknown-step`, `self-dependency`, `cycle` (with one path that really exists).
 */
export function connectSteps(steps: readonly StepDef[], findings: Findings): StepGraph {
  const ids = new Set(steps.map((step) => step.id).filter((id) => id !== ''));
  const parents = new Map<string, readonly string[]>();
  for (const step of steps) {
    const known = new Set<string>();
    for (const { text, at } of step.dependsOn) {
      if (text === step.id) {
        findings.error('self-dependency', `${step.label} depends on itself`, at, 'remove it from depends_on');
      } else if (ids.has(text)) known.add(text);
      else {
        const hint = nearestStep(text, ids, findings);
        findings.error(
          'unknown-step',
          `${step.label} depends on the step ${quoteShort(text)}, which does not exist`,
          at,
          hint,
        );
      }
    }
    if (step.id !== '') parents.set(step.id, [...known]);
  }
  reportCycle(steps, parents, findings);
  const walk = upstreamWalk(parents);
  return {
    ids,
    dependsOn: (id) => parents.get(id) ?? [],
    endsBefore: (id, step) => walk(step)(id),
    upstreamOf: (step) => [...parents.keys()].filter(walk(step)),
  };
}

/** Steps that a hint lists. */
const MOST_LISTED = 8;

/** A hint for a step that does not exist: the one that was most likely meant, or those that there are. */
export function nearestStep(word: string, ids: ReadonlySet<string>, findings: Findings): string {
  const listed = [...ids].slice(0, MOST_LISTED).join(', ');
  return findings.near(word, ids) ?? `steps are: ${listed}${ids.size > MOST_LISTED ? ', ...' : ''}`;
}

/** Steps of a cycle that are named in the message. */
const LONGEST_PATH = 20;

type Parents = ReadonlyMap<string, readonly string[]>;

/** Tells which steps are upstream of a step. */
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
  // Each of these steps waits for another one of them, so a walk along the dependencies comes back to a step it has seen.
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
