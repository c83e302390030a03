import { isPlainObject } from '../../base/json.js';
import type { CompiledNode } from '../graph/compile.js';
import type { ChannelWrite } from '../ports/executor.js';

/**
 * Does a step leave out something that its node declares to write? What is not there can't carry a label, and yet says something: so it counts as a
 * decision about where the run goes on. Of a function that declares nothing nobody knows what it might have written.
 */
export function leavesOut(
  { node, output: channel, writes }: CompiledNode,
  output: unknown,
  more: readonly ChannelWrite[] = [],
): boolean {
  if (channel >= 0 && output === undefined) return true;
  const declared = 'outputs' in node && node.outputs !== undefined ? Object.keys(node.outputs) : (writes ?? []);
  const update = channel < 0 && isPlainObject(output) ? output : {};
  for (const name of declared)
    if (name !== node.output && !Object.hasOwn(update, name) && !more.some((write) => write.channel === name))
      return true;
  return false;
}
