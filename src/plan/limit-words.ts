/** Limits of nodes and agents that a run can reach. */
export type Limit = 'maxItems' | 'maxTurns' | 'maxToolCalls';

/** What the notations in YAML call them; a limit that is not here has no key there. */
const WORDS: Readonly<Record<string, Readonly<Partial<Record<Limit, string>>>>> = {
  dag: {},
  pipeline: { maxItems: 'max_items', maxTurns: 'max_iterations' },
};

/**
 * What to do about a limit that was reached, in the words of the notation.
 *
 * @example
 * limitHint('pipeline', 'maxItems', 'shorten the list'); // 'raise max_items, or shorten the list'
 */
export function limitHint(notation: string | undefined, limit: Limit, otherwise: string): string {
  const words = notation === undefined || !Object.hasOwn(WORDS, notation) ? undefined : WORDS[notation];
  const word = words === undefined ? limit : words[limit];
  return word === undefined ? otherwise : `raise ${word}, or ${otherwise}`;
}
