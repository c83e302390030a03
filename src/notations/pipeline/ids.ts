import { entryOf, type SourceNode } from '../../text/nodes.js';
import type { StepDef } from './definition.js';

export interface BlockIds {
  readonly steps: Map<string, StepDef | undefined>;
  /** Returns an unused id: the wanted one, or the wanted one with a number appended. */
  free(wanted: string, type: StepDef['type']): string;
}

/** Longer ids are shortened, because ids are parts of addresses. */
const LONGEST = 64;

const PREFIXES: Readonly<Record<StepDef['type'], string>> = {
  agent: 'step',
  run: 'run',
  tool: 'tool',
  condition: 'cond',
  parallel: 'par',
  sequence: 'seq',
  goto: 'goto',
  loop: 'loop',
  map: 'map',
  ask: 'ask',
  set: 'set',
  call: 'call',
  end: 'end',
  wait: 'wait',
};

/**
 * Creates the ids of a block from its list. Written ids are reserved first, wherever they stand, so that a positional id never conflicts.
 */
export function createIds(list: SourceNode): BlockIds {
  const taken = new Set<string>();
  collectWritten(list, taken);
  const counts = new Map<string, number>();
  return {
    steps: new Map(),
    free: (wanted, type) => {
      const base = wanted.length <= LONGEST ? wanted : `${PREFIXES[type]}_deep`;
      let id = base;
      while (taken.has(id)) {
        const count = (counts.get(base) ?? 1) + 1;
        counts.set(base, count);
        id = `${base}_${count}`;
      }
      taken.add(id);
      return id;
    },
  };
}

/** Returns the id of a step without one: its number in its list, from 1, after its branch: `step_2`, `cond_3_true_1`. */
export function positionalId(type: StepDef['type'], number: number, branch: string | undefined): string {
  return `${branch ?? PREFIXES[type]}_${number}`;
}

/** Collects written ids. Branches belong to the block; the steps of parallel, sequence, loop and map steps do not. */
function collectWritten(list: SourceNode, taken: Set<string>): void {
  if (list.kind !== 'list') return;
  for (const step of list.items) {
    const id = entryOf(step, 'id')?.value;
    if (id?.kind === 'scalar' && id.text !== '') taken.add(id.text);
    const choose = entryOf(step, 'choose')?.value;
    const answers = choose?.kind === 'map' ? choose.entries.map(({ value }) => value) : [];
    const written = entryOf(step, 'cases')?.value;
    const cases = written?.kind === 'list' ? written.items : [];
    const branches = ['true', 'false', 'else'].map((branch) => entryOf(step, branch)?.value);
    const lists = [...answers, ...cases].flatMap((way) => [way, entryOf(way, 'steps')?.value]);
    for (const steps of [...branches, ...lists]) if (steps !== undefined) collectWritten(steps, taken);
  }
}
