import type { Findings } from '../../source/findings.js';
import type { SourceNode } from '../../source/nodes.js';
import { readFields } from '../../source/shape.js';
import type { Fields } from '../../source/shape.js';
import { reportUnsupported } from '../../source/unsupported.js';
import type { UnsupportedKeys } from '../../source/unsupported.js';

/** The keys of a map in files of the other system. */
export interface Keys {
  /** Those that mean something here. */
  readonly known: readonly string[];
  /** Those that mean something there alone. */
  readonly unsupported: UnsupportedKeys;
}

/**
 * Opens a map for reading. A key that is not supported is one finding (`not-supported`), unless its value says nothing: `false`, an empty
 * list or map. A key that neither system knows is an error (`unknown-key`).
 *
 * @example
 * const fields = readSupported(entry.value, 'agent "root"', AGENT_KEYS, findings);
 */
export function readSupported(node: SourceNode, name: string, keys: Keys, findings: Findings): Fields | undefined {
  const fields = readFields(node, { name, known: keys.known, silent: [...keys.unsupported.keys()] }, findings);
  if (fields !== undefined) reportUnsupported(node, name, keys.unsupported, findings);
  return fields;
}
