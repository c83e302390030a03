import { checkOptions } from '../../../base/options.js';
import { isPlainObject, type JsonObject } from '../../../base/json.js';
import { refusal } from '../../../base/problem.js';
import { TextReader } from '../../../plan/builder.js';
import type { EndNode } from '../../../plan/plan.js';
import type { NodeSpec } from './planned.js';

const TEXTS = new TextReader(new Set());

/** Options for the end of a graph. */
export interface EndNodeOptions {
  /** Default `succeeded`. `failed`: the run fails with `SKEIN_ENDED` and the reason as message; `retry` and `onError` do not apply. */
  readonly status?: NonNullable<EndNode['status']>;
  /** Why the graph ends. Names in braces are keys of the state, optionally with a path: `{{ verdict.why }}`. */
  readonly reason?: string;
}

/**
 * Ends a graph on purpose, as a node. Running steps are cancelled, and the final state is what the node saw, as with `firstExitWins`. In a
 * graph that is a node of another one, it ends only the inner graph.
 *
 * @example
 * const flow = graph<{ tests: string; published?: string }>()
 *   .addNode('check', ({ tests }) => ({ tests: tests.trim() }))
 *   .addNode('stop', endNode({ status: 'failed', reason: 'The tests say: {{ tests }}' }))
 *   .addNode('publish', () => ({ published: 'yes' }))
 *   .addConditionalEdge('check', ({ tests }) => (tests === 'passed' ? 'publish' : 'stop'))
 *   .setEntry('check');
 */
export function endNode(options: EndNodeOptions = {}): NodeSpec<undefined> {
  checkOptions<EndNodeOptions>('endNode', options, { status: 'text', reason: 'text' });
  const { status, reason } = options;
  if (status !== undefined && status !== 'succeeded' && status !== 'failed')
    throw refusal('bad-end', `endNode: the status ${JSON.stringify(status)} does not exist`, "'succeeded' or 'failed'");
  const how = {
    ...(status === undefined ? {} : { status }),
    ...(reason === undefined ? {} : { reason: TEXTS.template(reason) }),
  };
  return { build: (name) => ({ node: { id: name, kind: 'end', writes: [], ...how } }) };
}

/**
 * Sets values of the state, as one object. In texts, `{{ key.path }}` is a value; `{{= EXPRESSION }}` is evaluated in the Common Expression
 * Language over the state. A text that is exactly one of them keeps its type. Uses no slot of `concurrency`, leaves no record.
 *
 * @example
 * const flow = graph<{ severity: string }>()
 *   .node('flags', setNode({ urgent: "{{= severity in ['high', 'critical'] }}", title: 'A {{ severity }} one' }))
 *   .setEntry('flags');
 * console.log((await flow.run({ severity: 'high' })).state.flags); // { urgent: true, title: 'A high one' }
 */
export function setNode(values: JsonObject): NodeSpec<Record<string, unknown>> {
  if (!isPlainObject(values) || Object.keys(values).length === 0)
    throw refusal('missing-values', 'setNode: no values are given', "write setNode({ name: '{{ key }}' })");
  const made = TEXTS.values(values);
  return { build: (name, output) => ({ node: { id: name, kind: 'set', output: output ?? name, values: made } }) };
}
