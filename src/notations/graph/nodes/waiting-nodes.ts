import type { Json } from '../../../base/json.js';
import type { Moment } from '../../../base/duration.js';
import { limitOf } from '../../../base/duration.js';
import type { StateOf } from '../../../plan/builder-input.js';
import type { WaitNode } from '../../../plan/plan.js';
import type { NodeSpec } from './planned.js';
import type { SchemaInput } from './json-schema.js';
import { jsonSchemaOf } from './json-schema.js';
import { refusal } from '../../../base/problem.js';

/** How long a node sleeps: so many milliseconds (or `2h`), until a time, or what a function of the state says. */
export type SleepInput =
  { readonly ms: Moment } | { readonly until: Moment } | ((state: StateOf) => Moment | Promise<Moment>);

/**
 * A node that lets time pass. A recorded run that is resumed does not wait again: it goes on when it would have, or at once when that time is past.
 * It takes no slot of `concurrency`, and gives nothing.
 *
 * @example
 * const flow = graph<{ days: number }>()
 *   .addNode('nap', sleepNode(({ days }) => Number(days) * 86_400_000))
 *   .addNode('remind', () => ({}))
 *   .addEdge('nap', 'remind')
 *   .setEntry('nap');
 */
export function sleepNode(input: SleepInput): NodeSpec<undefined> {
  const time = timeField(input);
  return {
    build: (name) => ({
      node: { id: name, kind: 'wait', writes: [], ...time },
      ...(typeof input === 'function' ? { bindings: { [name]: input } } : {}),
    }),
  };
}

function timeField(input: SleepInput): Pick<WaitNode, 'ms' | 'until'> {
  if (typeof input === 'function') return { until: 'code' };
  const limit = limitOf('until' in input ? input.until : input.ms, 'how long a node sleeps');
  return 'at' in limit ? { until: limit.at } : { ms: limit.ms };
}

/** What an outside event must be, and how long it is waited for. */
export interface EventNodeOptions {
  /** What comes with the event: a JSON Schema, or a Standard Schema that can say itself as one. Anything else is refused when it is delivered. */
  readonly schema?: SchemaInput;
  /** A duration, `2h` or milliseconds, after which the node fails with `SKEIN_TIMEOUT`, or continues with `default`. */
  readonly expires?: number | string;
  /** What the node gives when the event did not come in time. */
  readonly default?: Json;
}

/**
 * A node that waits for something outside: `deliverEvent(store, run, name, data)`, or `skein answer RUN NAME VALUE`. What comes with the event is the
 * result of the node. When nothing else can go on, the run pauses, and a resume takes up what came meanwhile, also what came before the node waited.
 *
 * @example
 * const flow = graph<{ order: string }>()
 *   .node('paid', eventNode('payment', { expires: '7d', default: null }))
 *   .node('ship', ({ paid, order }) => (paid === null ? `${order} is given up` : `${order} is on its way`))
 *   .setEntry('paid');
 */
export function eventNode<Data = unknown>(event: string, options: EventNodeOptions = {}): NodeSpec<Data> {
  const { schema, expires } = options;
  const limit = expires === undefined ? undefined : durationOf(expires, event);
  const shape = schema === undefined ? undefined : jsonSchemaOf(schema, `the schema of the event '${event}'`);
  const fallback = options.default;
  return {
    build: (name, output = name) => ({
      node: {
        id: name,
        kind: 'wait',
        event,
        output,
        ...(limit === undefined ? {} : { ms: limit }),
        ...(shape === undefined ? {} : { schema: shape }),
        ...(fallback === undefined ? {} : { onExpire: { answer: fallback } }),
      },
    }),
  };
}

/** Milliseconds; a time would be another one each time the graph is made. */
function durationOf(expires: number | string, event: string): number {
  const limit = limitOf(expires, `expires of the event '${event}'`);
  if ('ms' in limit) return limit.ms;
  throw refusal('bad-expiry', `expires of the event '${event}' must be a duration`, "give milliseconds, or '2h'");
}
