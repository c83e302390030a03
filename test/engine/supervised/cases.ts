import { present } from '../../../src/base/json.js';
import type { Executor } from '../../../src/engine/ports/executor.js';
import type { AgentNode, Bindings, NodeOptions, Plan, PlanNode, Route } from '../../../src/plan/plan.js';
import { goto } from '../../../src/plan/goto.js';
import { plan, task } from '../plans.js';
import type { State } from '../plans.js';

/** What is supervised: a node of this kind, or a node inside of a map. */
export const KINDS = ['task', 'agent', 'call', 'map', 'loop', 'map item'] as const;
/** What the node has besides. */
export const FEATURES = [
  'plain',
  'retry',
  'timeout',
  'goto',
  'settled join',
  'reducer',
  'onError',
  'handler',
  'visits',
] as const;

export type Kind = (typeof KINDS)[number];
export type Feature = (typeof FEATURES)[number];

/** Gives the text of one piece of work, in its place, by what was said of the attempt before. */
export type Work = (place: string, correction: string | undefined) => string;

/** A plan in which the node `b` may be supervised, and what runs it. */
export interface Case {
  readonly plan: Plan;
  readonly bindings: Bindings;
  readonly executors: { readonly agent: Executor<never> };
}

const SUPERVISE = { by: 'model', instruction: ['Do the work.'] } as const;

/** The plan of a kind and a feature. `fails`: the first try of each piece of work fails. */
export function caseOf(kind: Kind, feature: Feature, supervised: boolean, work: Work): Case {
  const tried = new Set<string>();
  const done = (place: string, correction: string | undefined): string => {
    // Of a map all items are tried again.
    const round = `${kind === 'map' ? '' : place} ${correction ?? ''}`;
    if (feature === 'retry' && !tried.has(round)) {
      tried.add(round);
      throw new Error('it was busy');
    }
    return work(place, correction);
  };
  const more: NodeOptions = {
    ...(supervised ? { supervise: SUPERVISE } : {}),
    ...(feature === 'retry' ? { retry: { retries: 1, backoff: 'fixed', delayMs: 0 } } : {}),
    ...(feature === 'timeout' ? { timeoutMs: 60_000 } : {}),
    ...(feature === 'onError' ? { onError: 'continue' } : {}),
    ...(feature === 'handler' ? { onError: { to: 'mend' } } : {}),
    ...(feature === 'visits' ? { maxVisits: 3 } : {}),
  };
  const jumps = feature === 'goto' && (kind === 'task' || kind === 'agent');
  const bindings: Record<string, unknown> = {
    b: (_state: State, step: { correction?: string }) => {
      const text = done('b', step.correction);
      return jumps ? goto(wayOf(text), { out: text }) : text;
    },
    'b/w': (state: State, step: { correction?: string }) => done(`w${String(state['x'])}`, step.correction),
    'b/n': (state: State) => Number(state['n'] ?? 0) + 1,
    a: () => ({ list: ['1', '2'], x: '0' }),
    c: () => (feature === 'reducer' ? 'c' : { other: 'c' }),
    z: (state: State) => ({ seen: seenBy(state), count: Number(state['count'] ?? 0) + 1 }),
    left: () => ({ way: 'left' }),
    right: () => ({ way: 'right' }),
    mend: (_state: State, step: { arrivals: readonly { error?: { code: string; details?: unknown } }[] }) => ({
      mended: step.arrivals[0]?.error,
    }),
  };
  const node = nodeOf(kind, more, jumps);
  const agent: Executor<AgentNode> = async (_node, step) => {
    const output = await step.effect('model', () => done('b', step.correction));
    return { type: 'done', output, ...(jumps ? { goto: wayOf(output) } : {}) };
  };
  return { plan: planOf(node, feature, jumps), bindings, executors: { agent } };
}

/** Where a result leads, when it leads somewhere. */
function wayOf(text: string): string {
  return text.includes('first') ? 'left' : 'right';
}

/** What comes after sees the whole state. */
function seenBy(state: State): string {
  return JSON.stringify({ out: state['out'], other: state['other'], count: state['count'] });
}

const WORKER: Plan = plan({
  name: 'inner',
  nodes: [task('w', { output: 'r' })],
  channels: ['x', 'r'],
  openInputs: true,
});

const AGENT = { name: 'b', instructions: [], models: [] };
const CHOICE = { answers: { left: { to: 'left' }, right: { to: 'right' } } };

function nodeOf(kind: Kind, more: NodeOptions, jumps: boolean): PlanNode {
  const base = { ...more, id: 'b', ...(jumps && kind === 'task' ? {} : { output: 'out' }) };
  const x = { x: { channel: 'x' } };
  switch (kind) {
    case 'task':
      return task('b', base);
    case 'agent':
      return { ...base, kind, agent: AGENT, prompt: ['Work.'], ...(jumps ? { choice: CHOICE } : {}) };
    case 'call':
      return { ...base, kind, plan: WORKER, inputs: x, outputs: { out: 'r' } };
    case 'map':
      return { ...base, ...mapped(WORKER), kind };
    case 'map item': {
      const inner = { ...WORKER, nodes: [task('w', { ...itemPolicies(more), output: 'r' })] };
      const { supervise: _no, ...outer } = base;
      return { ...outer, ...mapped(inner), kind: 'map' };
    }
    case 'loop': {
      const round = { ...WORKER, nodes: [task('w', { output: 'r' }), task('n', { output: 'n' })] };
      const until = [{ op: 'equals', value: { channel: 'n' }, operand: ['2'] }] as const;
      return { ...base, kind, plan: round, inputs: x, outputs: { out: 'r' }, until, carry: ['n'], maxRounds: 3 };
    }
  }
}

function mapped(inner: Plan) {
  return { plan: inner, over: { channel: 'list' }, item: 'x', result: 'r', maxItems: 5 };
}

/** Of a map whose items are supervised, the items have the retry and the timeout. */
function itemPolicies({ supervise, retry, timeoutMs }: NodeOptions): NodeOptions {
  return present({ supervise, retry, timeoutMs });
}

function planOf(node: PlanNode, feature: Feature, jumps: boolean): Plan {
  const nodes: PlanNode[] = [task('a', { writes: ['list', 'x'] }), node, task('z', { writes: ['seen', 'count'] })];
  const edges = ['a>b'];
  const routes: Route[] = [];
  const channels = [
    'list',
    'x',
    feature === 'reducer' ? 'out:append' : 'out',
    'other',
    'seen',
    'count',
    'way',
    'mended',
  ];
  if (feature === 'goto') {
    nodes.push(task('left', { writes: ['way'] }), task('right', { writes: ['way'] }));
    const isLeft = { op: 'contains', value: { channel: 'out' }, operand: ['first'] } as const;
    routes.push(
      jumps
        ? { from: 'b', choose: 'result', targets: ['left', 'right'] }
        : { from: 'b', cases: [{ when: [isLeft], to: ['left'] }], otherwise: ['right'], targets: ['left', 'right'] },
    );
  } else edges.push('b>z');
  if (feature === 'visits') {
    const first = { op: 'equals', value: { channel: 'count' }, operand: ['1'] } as const;
    routes.push({ from: 'z', cases: [{ when: [first], to: ['b'] }], otherwise: ['END'], targets: ['b', 'END'] });
  }
  if (feature === 'settled join') {
    nodes.push(task('c', { writes: ['other'] }));
    edges.push('a>c', 'c>z');
    nodes[2] = task('z', { writes: ['seen', 'count'], join: 'settled' });
  }
  if (feature === 'reducer') {
    nodes.push(task('c', { output: 'out' }));
    edges.push('a>c', 'c>z');
  }
  if (feature === 'handler') nodes.push(task('mend', { writes: ['mended'] }));
  return plan({ nodes, edges, routes, channels, entry: 'a' });
}
