import { quoteShort } from '../../lang/value-text.js';
import { either, text, texts } from '../../text/forms.js';
import { describe } from '../../text/nodes.js';
import type { SourceScalar } from '../../text/nodes.js';
import type { Fields } from '../../text/shape.js';

/** The key that says which outputs stand above the prompt of an agent. */
export const CONTEXT = either(
  [text('', { pattern: '^(?:[Aa][Ll][Ll]|[Nn][Oo][Nn][Ee]|\\s*)$' }), texts('')],
  'which outputs so far stand above the prompt: all (default), none, or those of the steps with these ids',
);

/** Which outputs are shown; absent: what holds around it, or else all. */
export type ContextDef = 'all' | 'none' | readonly SourceScalar[];

/** Reads `context`. Problem codes: `unknown-value`, and those of the types. */
export function readContext(fields: Fields): ContextDef | undefined {
  const node = fields.node('context');
  if (node === undefined || (node.kind === 'scalar' && node.text.trim() === '')) return undefined;
  if (node.kind === 'list') return fields.texts('context');
  const word = node.kind === 'scalar' ? node.text.toLowerCase() : '';
  if (word === 'all' || word === 'none') return word;
  const seen = node.kind === 'scalar' ? quoteShort(node.text) : describe(node);
  const hint = 'write all, none, or a list of ids: context: [facts]';
  fields.error('unknown-value', 'context', `context of ${fields.name || 'the workflow'} is ${seen}`, hint);
  return undefined;
}
