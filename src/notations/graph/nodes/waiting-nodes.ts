import { checkOptions } from '../../../base/options.js';
import { present, type Json } from '../../../base/json.js';
import { limitOf, type Moment } from '../../../base/duration.js';
import type { StateOf } from '../../../plan/builder-input.js';
import type { WaitNode } from '../../../plan/plan.js';
import type { NodeSpec } from './planned.js';
import { jsonSchemaOf, type AcceptedBy, type SchemaInput, type TypedSchema } from '../../../plan/given-schema.js';
import { refusal } from '../../../base/problem.js';

/** How long a node sleeps: for milliseconds or a duration (`2h`), until a time, or as a function of the state returns. */
export type SleepInput =
  { readonly ms: Moment } | { readonly until: Moment } | ((state: StateOf) => Moment | Promise<Moment>);

/**
 * Waits for a time, as a node. A resumed run does not start the wait again: it continues when the original wait ends, or at once if that
 * time is past. The node uses no slot of `concurrency`, and has no result.
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
  checkOptions<Exclude<SleepInput, (...given: never) => unknown>>('sleepNode', input, {
    ms: 'text, or a number, or an object',
    until: 'text, or a number, or an object',
  });
  const limit = limitOf('until' in input ? input.until : input.ms, 'how long a node sleeps');
  return 'at' in limit ? { until: limit.at } : { ms: limit.ms };
}

/** The form of an outside event, and how long to wait for it. */
export interface EventNodeOptions {
  /** The event's data: a JSON Schema, or a Standard Schema that can be converted to one. Other data is refused on delivery. */
  readonly schema?: SchemaInput;
  /** A duration, `2h` or milliseconds, after which the node fails with `SKEIN_TIMEOUT`, or continues with `default`. */
  readonly expires?: number | string;
  /** The result of the node if the event does not arrive in time. */
  readonly default?: Json;
}

/**
 * Waits for an outside event: `deliverEvent(store, run, name, data)`, or `skein answer RUN NAME VALUE`. Its data is the result of the node.
 * If nothing else can run, the run pauses. A resume processes events delivered meanwhile, even before the node waited.
 *
 * @example
 * const flow = graph<{ order: string }>()
 *   .node('paid', eventNode('payment', { expires: '7d', default: null }))
 *   .node('ship', ({ paid, order }) => (paid === null ? `${order} is given up` : `${order} is on its way`))
 *   .setEntry('paid');
 */
export function eventNode<Schema extends TypedSchema, const Default extends Json = never>(
  event: string,
  options: EventNodeOptions & { readonly schema: Schema; readonly default?: Default },
): NodeSpec<AcceptedBy<Schema> | Default>;
export function eventNode<Data = unknown>(event: string, options?: EventNodeOptions): NodeSpec<Data>;
export function eventNode(event: string, options: EventNodeOptions = {}): NodeSpec {
  checkOptions<EventNodeOptions>('eventNode', options, { schema: 'any', expires: 'text, or a number', default: 'any' });
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
        ...present({ ms: limit, schema: shape }),
        ...(fallback === undefined ? {} : { onExpire: { answer: fallback } }),
      },
    }),
  };
}

/** Returns milliseconds. Refuses a point in time, which would differ each time the graph is built. */
function durationOf(expires: number | string, event: string): number {
  const limit = limitOf(expires, `expires of the event '${event}'`);
  if ('ms' in limit) return limit.ms;
  throw refusal('bad-expiry', `expires of the event '${event}' must be a duration`, "give milliseconds, or '2h'");
}
