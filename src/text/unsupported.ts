import type { Position } from '../base/problem.js';
import type { Findings } from './findings.js';
import type { SourceNode } from './nodes.js';
import type { ForeignKey, MapForm } from './forms.js';
import { readFields, type Fields } from './shape.js';

/** Unsupported keys and what to do instead, by what the file loses without them. */
export type LossRows = Readonly<Partial<Record<ForeignKey['loses'], Readonly<Record<string, string>>>>>;

export function unsupportedKeys(...all: readonly LossRows[]): ReadonlyMap<string, ForeignKey> {
  const found = new Map<string, ForeignKey>();
  for (const rows of all) {
    for (const loses of ['meaning', 'safety', 'nothing'] as const) {
      for (const [key, hint] of Object.entries(rows[loses] ?? {})) found.set(key, { loses, hint });
    }
  }
  return found;
}

/** Reports the unsupported keys of a map (`not-supported`), unless their value requests nothing. */
export function reportUnsupported(
  node: SourceNode,
  name: string,
  keys: ReadonlyMap<string, ForeignKey>,
  findings: Findings,
): void {
  for (const entry of node.kind === 'map' ? node.entries : []) {
    const found = keys.get(entry.key);
    if (found === undefined || saysNothing(entry.value)) continue;
    reportOne(name === '' ? entry.key : `${entry.key} of ${name}`, found, entry.at, findings);
  }
}

/** Reports one unsupported key: a warning, or more if the file loses meaning or safety. */
export function reportOne(called: string, { loses, hint }: ForeignKey, at: Position, findings: Findings): void {
  const message = `${called} is not supported`;
  if (loses === 'nothing') findings.warning('not-supported', message, at, hint);
  else findings.lost(loses, message, at, hint);
}

/** True for a value that requests nothing: null, `false`, an empty list or map. */
function saysNothing(node: SourceNode): boolean {
  if (node.kind === 'list') return node.items.length === 0;
  if (node.kind === 'map') return node.entries.length === 0;
  return node.value === null || node.value === false;
}

/**
 * Opens a map in a file of another system. A key that only that system supports is one finding (`not-supported`), unless its value requests
 * nothing: `false`, an empty list or map. A key unknown to both systems is an error (`unknown-key`).
 */
export function readSupported(node: SourceNode, name: string, form: MapForm, findings: Findings): Fields | undefined {
  const fields = readFields(node, { name, form }, findings);
  if (fields !== undefined && form.foreign !== undefined) reportUnsupported(node, name, form.foreign, findings);
  return fields;
}
