import type { Findings } from '../../source/findings.js';
import type { SourceNode } from '../../source/nodes.js';
import { readFields } from '../../source/shape.js';
import type { Fields } from '../../source/shape.js';

/** The keys of a map in files of the other system. */
export interface Keys {
  /** Those that mean something here. */
  readonly known: readonly string[];
  /** Those that mean something there alone, each with what to do instead. */
  readonly unsupported: ReadonlyMap<string, string>;
}

/**
 * Opens a map for reading. A key that is not supported is one warning (`not-supported`), unless its value says nothing: `false`, an empty
 * list or map. A key that neither system knows is an error (`unknown-key`).
 *
 * @example
 * const fields = readSupported(entry.value, 'agent "root"', AGENT_KEYS, findings);
 */
export function readSupported(node: SourceNode, name: string, keys: Keys, findings: Findings): Fields | undefined {
  const fields = readFields(node, { name, known: [...keys.known, ...keys.unsupported.keys()] }, findings);
  if (fields !== undefined) warnUnsupported(node, name, keys.unsupported, findings);
  return fields;
}

/**
 * The warnings for keys of a map that are not supported.
 *
 * @example
 * warnUnsupported(root, '', new Map([['rag', 'give the agent an MCP server that searches']]), findings);
 */
export function warnUnsupported(
  node: SourceNode,
  name: string,
  unsupported: ReadonlyMap<string, string>,
  findings: Findings,
): void {
  for (const entry of node.kind === 'map' ? node.entries : []) {
    const hint = unsupported.get(entry.key);
    if (hint === undefined || saysNothing(entry.value)) continue;
    const called = name === '' ? entry.key : `${entry.key} of ${name}`;
    findings.warning('not-supported', `${called} is not supported`, entry.at, hint);
  }
}

function saysNothing(node: SourceNode): boolean {
  if (node.kind === 'list') return node.items.length === 0;
  if (node.kind === 'map') return node.entries.length === 0;
  return node.value === null || node.value === false;
}
