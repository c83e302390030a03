import type { JsonObject } from '../../../base/json.js';
import { isPlainObject } from '../../../base/json.js';
import { refusal } from '../../../base/problem.js';
import { TextReader } from '../../../plan/builder.js';
import type { NodeSpec } from './planned.js';

/**
 * A node that makes values of the state, as one object. In texts `{{ key.path }}` is a value, and `{{= EXPRESSION }}` is worked out in the Common Expression Language over the keys of
 * the state. A text that is one of them and nothing else keeps its type. It takes no slot of `concurrency` and leaves no record.
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

const TEXTS = new TextReader(new Set());
