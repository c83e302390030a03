import type { MapForm } from '../../../text/forms.js';
import type { Findings } from '../../../text/findings.js';
import type { SourceNode } from '../../../text/nodes.js';
import { readFields } from '../../../text/shape.js';
import type { Fields } from '../../../text/shape.js';
import { reportUnsupported } from '../../../text/unsupported.js';

/**
 * Opens a map of a file of the other system for reading. A key that means something there alone is one finding (`not-supported`), unless its value
 * says nothing: `false`, an empty list or map. A key that neither system knows is an error (`unknown-key`).
 *
 * @example
 * const fields = readSupported(entry.value, 'agent "root"', AGENT, findings);
 */
export function readSupported(node: SourceNode, name: string, form: MapForm, findings: Findings): Fields | undefined {
  const fields = readFields(node, { name, form }, findings);
  if (fields !== undefined && form.foreign !== undefined) reportUnsupported(node, name, form.foreign, findings);
  return fields;
}
