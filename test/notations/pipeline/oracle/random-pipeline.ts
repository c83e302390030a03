import fc from 'fast-check';
import type { Step } from './interpret.js';
import { walk } from './interpret.js';

/** A step before it has a name; numbers stand for steps, so that a failing case shrinks well. */
export type Raw =
  | { readonly type: 'agent'; readonly reads: number | undefined }
  | {
      readonly type: 'condition';
      readonly on: number;
      readonly ok: boolean;
      readonly yes: readonly Raw[];
      readonly no: readonly Raw[];
    }
  | { readonly type: 'parallel' | 'sequence'; readonly steps: readonly Raw[] }
  | { readonly type: 'goto'; readonly to: number };

/** A pipeline before its steps have names. */
export interface RawPipeline {
  readonly steps: readonly Raw[];
  readonly limit: number;
  readonly seed: number;
  /** Which step the instructions of all agents read. */
  readonly system: number | undefined;
}

const NUMBER = fc.nat({ max: 40 });

const AGENT: fc.Arbitrary<Raw> = fc.record({
  type: fc.constant('agent' as const),
  reads: fc.option(NUMBER, { nil: undefined, freq: 2 }),
});
const JUMP: fc.Arbitrary<Raw> = NUMBER.map((to): Raw => ({ type: 'goto', to }));

const { list } = fc.letrec<{ list: Raw[]; step: Raw; plain: Raw[]; jumping: Raw[]; condition: Raw }>((tie) => ({
  list: fc.array(tie('step'), { minLength: 1, maxLength: 5, depthIdentifier: 'steps' }),
  plain: fc.oneof({ weight: 2, arbitrary: fc.constant<Raw[]>([]) }, { weight: 1, arbitrary: tie('list') }),
  jumping: fc.oneof(
    { weight: 2, arbitrary: JUMP.map((jump): Raw[] => [jump]) },
    { weight: 1, arbitrary: fc.tuple(tie('list'), JUMP).map(([steps, jump]): Raw[] => [...steps, jump]) },
    { weight: 2, arbitrary: tie('list') },
  ),
  // One branch goes on, so that loops can end.
  condition: fc
    .record({ on: NUMBER, ok: fc.boolean(), plain: tie('plain'), jumping: tie('jumping'), swap: fc.boolean() })
    .map(({ on, ok, plain, jumping, swap }): Raw => {
      return { type: 'condition', on, ok, yes: swap ? jumping : plain, no: swap ? plain : jumping };
    }),
  step: fc.oneof(
    { depthSize: 'small', withCrossShrink: true, depthIdentifier: 'steps' },
    { weight: 5, arbitrary: AGENT },
    { weight: 4, arbitrary: tie('condition') },
    {
      weight: 3,
      arbitrary: fc.record({ type: fc.constantFrom('parallel' as const, 'sequence' as const), steps: tie('list') }),
    },
  ),
}));

/** Pipelines of agents, conditions, jumps and nested blocks. Not all of them are valid. */
export const RAW: fc.Arbitrary<RawPipeline> = fc.record({
  steps: list.map((steps): Raw[] => [{ type: 'agent', reads: undefined }, ...steps]),
  limit: fc.integer({ min: 1, max: 3 }),
  seed: fc.nat({ max: 1000 }),
  system: fc.option(NUMBER, { nil: undefined, freq: 1 }),
});

/** A pipeline whose steps have names. */
export interface NamedPipeline {
  readonly steps: readonly Step[];
  readonly limit: number;
  readonly system: string;
}

interface Naming {
  readonly all: readonly { readonly step: Step; readonly path: string; readonly block: string }[];
  readonly places: ReadonlyMap<string, number>;
}

/**
 * Gives every step an id, and every number the step that it stands for: readers mean agents that stand before them in the file, jumps mean steps of
 * their own block.
 */
export function nameSteps({ steps, limit, system }: RawPipeline): NamedPipeline {
  const bare = nameList(steps, { next: 0 });
  const all = [...walk(bare, '')];
  const naming: Naming = { all, places: new Map(all.map(({ step }, at) => [step.id, at])) };
  const named = bare.map((step, index) => fillStep(step, steps[index], '', naming));
  const instructions = system === undefined ? 'Be brief.' : `Mind {{ ${addressOf(system, all.length, naming)} }}.`;
  return { steps: named, limit, system: instructions };
}

/** The output of an agent that stands before a place in the file. */
function addressOf(number: number, before: number, { all }: Naming): string {
  const known = all.slice(0, Math.max(1, before)).filter(({ step }) => step.type === 'agent');
  const { path = '' } = known[number % known.length] ?? {};
  return `$steps.${path.replaceAll('/', '.outputs.')}.output`;
}

function fillStep(step: Step, raw: Raw | undefined, block: string, naming: Naming): Step {
  const at = naming.places.get(step.id) ?? 0;
  const fillList = (steps: readonly Step[], raws: readonly Raw[], path = block): Step[] =>
    steps.map((each, index) => fillStep(each, raws[index], path, naming));
  if (step.type === 'agent' && raw?.type === 'agent') {
    if (raw.reads === undefined) return step;
    return { ...step, prompt: `Use {{ ${addressOf(raw.reads, at, naming)} }}!` };
  }
  if (step.type === 'condition' && raw?.type === 'condition') {
    const condition = addressOf(raw.on, at, naming) + (raw.ok ? '.ok' : '');
    return { ...step, condition, true: fillList(step.true, raw.yes), false: fillList(step.false, raw.no) };
  }
  if ('steps' in step && raw !== undefined && 'steps' in raw) {
    return { ...step, steps: fillList(step.steps, raw.steps, block === '' ? step.id : `${block}/${step.id}`) };
  }
  return step.type === 'goto' && raw?.type === 'goto' ? { ...step, goto: targetOf(raw.to, block, naming) } : step;
}

function targetOf(number: number, block: string, { all }: Naming): string {
  const targets = all.filter((each) => each.block === block && each.step.type !== 'goto');
  return targets[number % targets.length]?.step.id ?? '';
}

function nameList(raws: readonly Raw[], ids: { next: number }): Step[] {
  return raws.map((raw): Step => {
    const number = ids.next++;
    switch (raw.type) {
      case 'agent':
        return { type: 'agent', id: `a${number}`, name: `agent_${number}` };
      case 'condition':
        return {
          type: 'condition',
          id: `c${number}`,
          condition: '',
          true: nameList(raw.yes, ids),
          false: nameList(raw.no, ids),
        };
      case 'parallel':
      case 'sequence':
        return { type: raw.type, id: `p${number}`, steps: nameList(raw.steps, ids) };
      case 'goto':
        return { type: 'goto', id: `g${number}`, goto: '' };
    }
  });
}

/** An empty branch is left out. */
function written(step: Step): object {
  if ('steps' in step) return { ...step, steps: step.steps.map(written) };
  if (step.type !== 'condition') return step;
  const { true: yes, false: no, ...rest } = step;
  const branches = { true: yes.map(written), false: no.map(written) };
  return { ...rest, ...Object.fromEntries(Object.entries(branches).filter(([, steps]) => steps.length > 0)) };
}

/** The file of a pipeline. JSON is YAML. */
export function fileOf({ steps, limit, system }: NamedPipeline): string {
  const agents = [...walk(steps, '')].flatMap(({ step }) => (step.type === 'agent' ? [step.name] : []));
  return JSON.stringify({
    agents: Object.fromEntries(agents.map((name) => [name, { model: 'mock/m', instruction: system }])),
    workflow: { max_loop_iterations: limit, steps: steps.map(written) },
  });
}
