import type { Position } from '../base/problem.js';
import type { Findings } from './findings.js';
import type { SourceNode } from './nodes.js';
import type { ForeignKey, MapForm } from './forms.js';
import { readFields } from './shape.js';
import type { Fields } from './shape.js';

/** Keys with what to do instead, by what is lost. */
export type LossRows = Readonly<Partial<Record<ForeignKey['loses'], Readonly<Record<string, string>>>>>;

/** The keys of one map, from rows by what is lost. */
export function unsupportedKeys(...all: readonly LossRows[]): ReadonlyMap<string, ForeignKey> {
  const found = new Map<string, ForeignKey>();
  for (const rows of all) {
    for (const loses of ['meaning', 'safety', 'nothing'] as const) {
      for (const [key, hint] of Object.entries(rows[loses] ?? {})) found.set(key, { loses, hint });
    }
  }
  return found;
}

/** Reports the keys of a map that are not supported (`not-supported`), unless their value says nothing. */
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

/** Reports one thing that is not supported: a warning, or more where something is lost by it. */
export function reportOne(called: string, { loses, hint }: ForeignKey, at: Position, findings: Findings): void {
  const message = `${called} is not supported`;
  if (loses === 'nothing') findings.warning('not-supported', message, at, hint);
  else findings.lost(loses, message, at, hint);
}

/** A value by which nothing is asked for: none, `false`, an empty list or map. */
function saysNothing(node: SourceNode): boolean {
  if (node.kind === 'list') return node.items.length === 0;
  if (node.kind === 'map') return node.entries.length === 0;
  return node.value === null || node.value === false;
}

/**
 * Opens a map of a file of the other system for reading. A key that means something there alone is one finding (`not-supported`), unless its value
 * says nothing: `false`, an empty list or map. A key that neither system knows is an error (`unknown-key`).
 */
export function readSupported(node: SourceNode, name: string, form: MapForm, findings: Findings): Fields | undefined {
  const fields = readFields(node, { name, form }, findings);
  if (fields !== undefined && form.foreign !== undefined) reportUnsupported(node, name, form.foreign, findings);
  return fields;
}
