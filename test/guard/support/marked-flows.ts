import fc from 'fast-check';
import { expect } from 'vitest';
import type { Plan, RunResult } from 'skein';
import type { Graph } from 'skein/graph';
import { agentNode, agentTeam, graph, planAndExecute, reflectionLoop, toolNode, workflowNode } from 'skein/graph';
import { hasMark } from './marked-world.js';
import type { MarkedWorld } from './marked-world.js';

type State = Record<string, unknown>;
type Flow = Graph<State>;

/** A node to add: it gives what it makes of a text under its own name. */
interface Place {
  readonly id: string;
  readonly world: MarkedWorld;
  /** The channel of the text. */
  readonly taskParam: string;
  readonly text: (state: State) => string;
}

/** A flow of one agent. */
function single({ id, world }: Place) {
  return graph<{ task: string }>()
    .node('worker', agentNode(world.agent(id, true)))
    .setEntry('worker');
}

/** A flow of two agents side by side, of which one is told only what the user says. */
function pair(id: string, world: MarkedWorld) {
  return graph<{ task: string; said: string; reader: string; teller: string; both: string }>()
    .addNode('begin', () => ({ said: 'Say hello.' }))
    .addNode('reader', agentNode(world.agent(`${id}-reader`, true)))
    .addNode('teller', agentNode(world.agent(`${id}-teller`, true), { taskParam: 'said' }))
    .addEdge('begin', 'reader')
    .addEdge('begin', 'teller')
    .addNode('join', ({ reader, teller }) => ({ both: `${reader} ${teller}` }))
    .addEdge('reader', 'join')
    .addEdge('teller', 'join')
    .setEntry('begin');
}

const KINDS: Readonly<Record<string, (flow: Flow, place: Place) => Flow>> = {
  agent: (flow, { id, world, taskParam }) => flow.addNode(id, agentNode(world.agent(id), { taskParam })),
  function: (flow, { id, text }) => flow.addNode(id, (state) => ({ [id]: `f ${text(state)}` })),
  page: (flow, { id, world }) => flow.addNode(id, toolNode(world.page)),
  workflow: (flow, place) =>
    flow.addNode(place.id, workflowNode(single(place), 'worker', { taskParam: place.taskParam })),
  run: (flow, place) =>
    flow.addNode(place.id, async (state, step) => {
      const { worker } = await single(place).runOrThrow({ task: place.text(state) }, step.runOptions);
      return { [place.id]: worker };
    }),
  map: (flow, place) =>
    flow
      .addNode(`${place.id}-items`, (state) => ({ [`${place.id}-items`]: place.text(state).split(' ').slice(-2) }))
      .map(place.id, { over: `${place.id}-items`, item: 'task' }, single(place)),
  loop(flow, { id, world, taskParam }) {
    const [worker, critic] = [world.agent(id, true), world.agent(`${id}-critic`, true)];
    return flow.addNode(id, agentNode(reflectionLoop({ worker, critic, maxAttempts: 2 }), { taskParam }));
  },
  team(flow, { id, world, taskParam }) {
    const workers = [{ name: 'helper', description: 'Helps.', agent: world.agent(`${id}-helper`, true) }];
    return flow.addNode(id, agentNode(agentTeam({ supervisor: world.agent(id, true), workers }), { taskParam }));
  },
  plan(flow, { id, world, taskParam }) {
    const [planner, executor] = [world.agent(id, true), world.agent(`${id}-doer`, true)];
    return flow.addNode(id, agentNode(planAndExecute({ planner, executor }), { taskParam }));
  },
  supervised: (flow, { id, world, taskParam }) =>
    flow.addNode(id, agentNode(world.agent(id), { taskParam }), { supervise: true }),
  'supervised-pair': (flow, { id, world, taskParam }) =>
    flow.addNode(id, workflowNode(pair(id, world), 'both', { taskParam, answerKey: 'both' }), {
      supervise: { instruction: 'Do it.', model: 'own/n', maxReorients: 2 },
    }),
  fails: (flow, { id, text }) =>
    flow.addNode(id, (state) => Promise.reject(new Error(`No: ${text(state)}`)), { onError: 'continue' }),
};

/** A node: what it is, whose text it is given, and after which one it comes. */
export interface RawNode {
  readonly kind: string;
  readonly reads: number;
  readonly after: number;
}

export const nodes = fc.array(
  fc.record({ kind: fc.constantFrom('agent', 'agent', ...Object.keys(KINDS)), reads: fc.nat(6), after: fc.nat(6) }),
  { minLength: 1, maxLength: 4 },
);

/** Who comes last, and is told only what the user says. */
const LAST: RawNode = { kind: 'agent', reads: 0, after: 0 };

/** A flow in which each node reads the task or what an earlier one gave, beside others or after them. */
export function flowOf(raw: readonly RawNode[], world: MarkedWorld, isInjected: boolean) {
  let flow = graph<State>()
    .addNode('begin', () => ({}))
    .setEntry('begin');
  for (const [at, { kind, reads, after }] of [...raw, LAST].entries()) {
    const id = `n${at}`;
    const from = reads % (at + 1);
    const taskParam = from === 0 ? 'task' : `n${from - 1}`;
    flow = KINDS[kind]?.(flow, { id, world, taskParam, text: (state) => textOf(state[taskParam]) }) ?? flow;
    const first = kind === 'map' ? `${id}-items` : id;
    // Mostly one after the other.
    const before = after % 3 === 0 ? at : after % (at + 1);
    flow = flow.addEdge(before === 0 ? 'begin' : `n${before - 1}`, first);
  }
  const { plan, bindings, problems } = flow.compile();
  expect(problems.map(({ code }) => code).filter((code) => code === 'unreachable-node')).toEqual([]);
  return { plan: remembering(plan, isInjected), bindings };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** The same plan, whose agents have the memory of the run. */
function remembering(plan: Plan, inject: boolean): Plan {
  const changed = plan.nodes.map((node) => {
    if ('plan' in node) return { ...node, plan: remembering(node.plan, inject) };
    if (node.kind !== 'agent') return node;
    return { ...node, agent: { ...node.agent, memory: { inject } } };
  });
  return { ...plan, nodes: changed };
}

/** What is marked and not labelled. */
export function unlabelled({ state, labels = {} }: RunResult): string[] {
  return Object.keys(state).filter((name) => hasMark(state[name]) && labels[name]?.level !== 'untrusted');
}
