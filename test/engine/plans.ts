import { startRun, type RunResult } from '../../src/engine/run.js';
import type { SkeinEvent } from '../../src/events/event.js';
import type { ChannelSpec, Plan, PlanNode, ReducerName, Route } from '../../src/plan/plan.js';
import { ManualDurable } from '../../src/testing/index.js';

/** A plan in short: `edges` are `a>b`, `channels` are `name` or `name:reducer`; the rest as in a plan. */
export interface Short extends Partial<Omit<Plan, 'nodes' | 'edges' | 'channels' | 'routes'>> {
  readonly nodes: readonly (string | PlanNode)[];
  readonly edges?: readonly string[];
  readonly channels?: readonly string[];
  readonly routes?: readonly Route[];
}

/** Writes a short plan out. */
export function plan(short: Short): Plan {
  return {
    format: 1,
    name: 'test',
    inputs: [],
    ...short,
    channels: (short.channels ?? []).map(channel),
    nodes: short.nodes.map((node) => (typeof node === 'string' ? { kind: 'task', id: node } : node)),
    edges: (short.edges ?? []).map((edge) => {
      const [from = '', to = ''] = edge.split('>');
      return { from, to };
    }),
    routes: short.routes ?? [],
  };
}

function channel(text: string): ChannelSpec {
  const [name = '', reducer] = text.split(':');
  return reducer === undefined ? { name } : { name, reducer: reducer as ReducerName };
}

/** A task node. */
export function task(id: string, more: Partial<PlanNode> = {}): PlanNode {
  return { ...more, kind: 'task', id };
}

/** The state that a body gets. */
export type State = Readonly<Record<string, unknown>>;

/** A body that writes always the same. */
export function writes(update: Record<string, unknown>): () => Record<string, unknown> {
  return () => update;
}

/** A body that adds a word to `log`. */
export function logs(word: string): () => Record<string, unknown> {
  return () => ({ log: word });
}

/** A body that fails. */
export function fails(message = 'no'): () => never {
  return () => {
    throw new Error(message);
  };
}

/** What a run came to, with its events. */
export interface Ran {
  readonly result: RunResult;
  readonly events: readonly SkeinEvent[];
  /** Nodes in the order in which their steps started. */
  readonly started: readonly string[];
}

/** Runs in memory; with `order`, steps end in that order (their keys). */
export async function run(
  thePlan: Plan,
  bindings: Record<string, unknown>,
  options: {
    readonly order?: readonly string[];
    readonly inputs?: Record<string, unknown>;
    readonly concurrency?: number;
  } = {},
): Promise<Ran> {
  const events: SkeinEvent[] = [];
  const { order, inputs = {}, concurrency } = options;
  // Choosers are effects too; here only the ends of steps are put in order.
  const settleAtOnce = (key: string): boolean => key.endsWith('@route');
  const durable = order === undefined ? undefined : new ManualDurable({ settleAtOnce });
  for (const key of order ?? []) void durable?.deliver(key);
  const handle = startRun(thePlan, {
    bindings,
    inputs,
    listeners: [(event) => events.push(event)],
    ...(durable === undefined ? {} : { durable }),
    ...(concurrency === undefined ? {} : { concurrency }),
  });
  const result = await handle.result;
  const started = events.flatMap((event) => (event.type === 'step.started' ? [event.node] : []));
  return { result, events, started };
}

/** Outcomes of the steps that did not simply succeed, by path. */
export function outcomes(result: RunResult): Record<string, string> {
  return Object.fromEntries(result.steps.map((step) => [step.path, step.outcome]));
}
