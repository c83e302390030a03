/** How messages call what a source contains, and what they tell a person to write. */
export interface SourceWords {
  readonly list: string;
  readonly map: string;
  /** A map with known keys, where another value was found. */
  readonly keyed: string;
  /** A map with names of the user's choice. */
  readonly named: string;
  readonly writeKeyed: string;
  readonly writeNamed: string;
  readonly writeItems: string;
  readonly writeText: string;
  readonly writeNumber: string;
  readonly mendText: string;
  /** How a list of texts is written, with one text as an example. */
  readonly writeTexts: (example?: string) => string;
}

export const WORDS_OF_FILES: SourceWords = {
  list: 'a list',
  map: 'a map',
  keyed: 'a map (key: value)',
  named: 'a map (name: value)',
  writeKeyed: 'write key: value',
  writeNamed: 'write each entry as name: value on a line of its own',
  writeItems: 'begin each entry with "- "',
  writeText: 'write one text, in quotes where it is needed',
  writeNumber: 'write digits, without quotes',
  mendText: 'put quotes around it, or take it out',
  writeTexts: (example = 'one, two') => `write a list: [${example}]`,
};

export const WORDS_OF_DATA: SourceWords = {
  list: 'an array',
  map: 'an object',
  keyed: 'an object',
  named: 'an object',
  writeKeyed: 'give an object: { key: value }',
  writeNamed: 'give an object: { name: value }',
  writeItems: 'give an array: [...]',
  writeText: 'give a string',
  writeNumber: 'give a number, not a string',
  mendText: 'make it a string, or take it out',
  writeTexts: (example) => `give an array: [${example === undefined ? "'one', 'two'" : JSON.stringify(example)}]`,
};
