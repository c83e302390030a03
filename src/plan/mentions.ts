import { acorn } from '../lang/on-demand.js';
import { sourceText } from './made-of.js';

/**
 * The nodes that a chooser without declared targets names: those whose ids stand as string literals in its source text (E6). A name that it
 * makes up or takes from somewhere else can't be seen.
 * `mentionsOf((state) => (state.risky ? 'wipe' : 'END'), ['look', 'wipe'])` gives `['wipe']`.
 */
export function mentionsOf(chooser: unknown, ids: Iterable<string>): readonly string[] {
  const literals = literalsOf(sourceText(chooser));
  return [...ids].filter((id) => literals.has(id));
}

/** Ids need no escapes, so the text between the quotes is what counts. */
function literalsOf(source: string): ReadonlySet<string> {
  const literals = new Set<string>();
  const { tokenizer, tokTypes } = acorn();
  try {
    let before: unknown;
    let text = '';
    for (const { type, start, end } of tokenizer(source, { ecmaVersion: 'latest', sourceType: 'module' })) {
      if (type === tokTypes.string) literals.add(source.slice(start + 1, end - 1));
      // A template without anything to fill in is a text as well.
      if (type === tokTypes.backQuote && before === tokTypes.template) literals.add(text);
      before = type === tokTypes.template && before !== tokTypes.backQuote ? undefined : type;
      text = source.slice(start, end);
    }
  } catch {
    // What can't be read has no names that count: the check of the plan asks for declared targets.
  }
  return literals;
}
