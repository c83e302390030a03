import { definePlan, END } from '../src/index.js';
import type { Runnable } from '../src/index.js';
import { compile } from '../src/engine/graph/compile.js';
import type { CompiledPlan } from '../src/engine/graph/compile.js';
import type { TaskFunction } from '../src/engine/graph/compile.js';
import type { Plan, TaskNode } from '../src/plan/plan.js';

const BASE = { format: 1, inputs: [], channels: [], edges: [], routes: [] } as const;

function tasks(count: number, prefix: string): TaskNode[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `${prefix}${at}`,
    kind: 'task',
    output: `${prefix}${at}.out`,
  }));
}

/** `count` nodes in a row; each reads what the one before wrote, and adds one. */
export function chain(count: number): CompiledPlan {
  const nodes = tasks(count, 'n');
  const edges = nodes.slice(1).map((node, at) => ({ from: `n${at}`, to: node.id }));
  const bindings: Record<string, TaskFunction> = {};
  nodes.forEach((node, at) => {
    const before = `n${at - 1}.out`;
    bindings[node.id] = at === 0 ? () => 1 : (state) => Number(state[before]) + 1;
  });
  return compile({ ...BASE, name: 'chain', nodes, edges }, bindings);
}

/** One node, `width` branches, a join that adds up what they wrote. */
export function fanOut(width: number): CompiledPlan {
  const branches = tasks(width, 'b');
  const nodes: TaskNode[] = [{ id: 'start', kind: 'task' }, ...branches, { id: 'join', kind: 'task', output: 'sum' }];
  const edges = branches.flatMap((node) => [
    { from: 'start', to: node.id },
    { from: node.id, to: 'join' },
  ]);
  const bindings: Record<string, TaskFunction> = { start: () => undefined, join: addUp(branches) };
  branches.forEach((node, at) => {
    bindings[node.id] = () => at;
  });
  return compile({ ...BASE, name: 'fan-out', nodes, edges }, bindings);
}

function addUp(branches: readonly TaskNode[]): TaskFunction {
  const names = branches.map((node) => `${node.id}.out`);
  return (state) => names.reduce((sum, name) => sum + Number(state[name]), 0);
}

/** A node that a route sends back to itself `rounds` times. `eachTenth` is called at the start of each tenth. */
export function routeLoop(rounds: number, eachTenth: () => void = () => undefined): CompiledPlan {
  const plan: Plan = {
    ...BASE,
    name: 'route-loop',
    entry: 'work',
    nodes: [{ id: 'work', kind: 'task', output: 'count' }],
    routes: [{ from: 'work', choose: 'code', targets: ['work', END] }],
    limits: { maxSteps: rounds + 1 },
  };
  const tenth = rounds / 10;
  return compile(plan, {
    work: (state: Readonly<Record<string, unknown>>) => {
      const count = Number(state['count'] ?? 0);
      if (count % tenth === 0) eachTenth();
      return count + 1;
    },
    'route:work': (state: Readonly<Record<string, unknown>>) => (Number(state['count']) < rounds ? 'work' : END),
  });
}

/** A `loop` node whose sub-plan of one node runs `rounds` times. */
export function nodeLoop(rounds: number): CompiledPlan {
  const { plan, bindings } = definePlan({
    name: 'node-loop',
    nodes: [
      {
        id: 'loop',
        kind: 'loop',
        plan: definePlan({
          name: 'round',
          inputs: [{ name: 'count', default: 0 }],
          nodes: [{ id: 'work', kind: 'task', output: 'count', run: (state) => Number(state['count']) + 1 }],
        }),
        inputs: { count: { value: 0 } },
        carry: ['count'],
        until: (state) => Number(state['count']) >= rounds,
        maxRounds: rounds,
        output: 'count',
      },
    ],
  });
  return compile(plan, bindings);
}

/** Five nodes in a row, each of which waits `ms` milliseconds, as a model call would. */
export function waitingChain(ms: number): CompiledPlan {
  const nodes = tasks(5, 'w').map((node): TaskNode => ({ ...node, output: 'hops' }));
  const edges = nodes.slice(1).map((node, at) => ({ from: `w${at}`, to: node.id }));
  const body: TaskFunction = (state) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms, Number(state['hops'] ?? 0) + 1);
    });
  return compile({ ...BASE, name: 'waiting', nodes, edges }, Object.fromEntries(nodes.map((node) => [node.id, body])));
}

/** What a step of a recorded run writes, in bytes. */
export const BYTES = 300;
export const PAYLOAD = 'x'.repeat(BYTES - 30);

type State = Readonly<Record<string, unknown>>;

/** A node that a route sends back to itself, `steps` times; each time it writes `BYTES` bytes. `reach` is told of each round. */
export function sequence(steps: number, reach: (round: number) => void = () => undefined): Runnable {
  const count = (state: State): number => (state['last'] as { readonly n: number } | undefined)?.n ?? 0;
  return definePlan({
    name: 'sequence',
    entry: 'work',
    nodes: [
      {
        id: 'work',
        kind: 'task',
        output: 'last',
        run: (state) => {
          const n = count(state) + 1;
          reach(n);
          return { n, text: PAYLOAD };
        },
      },
    ],
    routes: [{ from: 'work', choose: (state) => (count(state) < steps ? 'work' : END), targets: ['work', END] }],
    limits: { maxSteps: steps + 1 },
  });
}
