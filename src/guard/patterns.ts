import type { HeardText } from './lineage.js';

/** Phrases of many texts that try to manipulate an agent, and of some honest ones. */
const PATTERNS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['ignore_previous', /\bignor(?:e|ing)\b[^\n]{0,30}\b(?:previous|prior|above|earlier)\b/i],
  ['new_instruction', /\bnew (?:instruction|order|task)s?\b/i],
  ['forget_previous', /\bforget\b[^\n]{0,30}\b(?:previous|prior|above|everything|earlier)\b/i],
  ['update_policy', /\b(?:update|change)\b[^\n]{0,20}\b(?:policy|rules)\b/i],
  ['override', /\boverrid(?:e|es|ing)\b/i],
  ['supersede', /\bsupersed(?:e|es|ing)\b/i],
  ['disregard_previous', /\bdisregard\b[^\n]{0,30}\b(?:previous|prior|above|earlier)\b/i],
  ['reveal_prompt', /\b(?:reveal|show|print|repeat)\b[^\n]{0,20}\b(?:system )?prompt\b/i],
  ['what_instructions', /\bwhat\b[^\n]{0,20}\binstructions\b/i],
  ['execute_code', /\b(?:execute|run)\b[^\n]{0,20}\bcode\b/i],
  ['curl_pipe_bash', /\bcurl\b[^\n|]{0,300}\|\s{0,5}(?:ba|z)?sh\b/i],
  ['wget_pipe_bash', /\bwget\b[^\n|]{0,300}\|\s{0,5}(?:ba|z)?sh\b/i],
];

const KEYWORDS = /api_key|api-key|apikey|password|secret|credential|private_key|access_token/gi;

const ESCAPES = /(?:%[0-9a-f]{2}){3}/i;
const RUNS = /[A-Za-z0-9+/_=-]{50,}/g;
const DIGITS = /^(?:[0-9a-f]{2})+$/i;
/** Bits per character: words of a language are below the first, hexadecimal digits have at most 4. */
const ENTROPY = 4.8;
const DIGITS_ENTROPY = 3;

/** Longest part of one text to search. */
const LONGEST = 65_536;

/**
 * The patterns, words and encodings in texts that others influenced. They help whoever judges a call, a person or a model, and decide
 * nothing: every attack can be worded differently, and honest texts contain the same words.
 *
 * @example
 * const found = new Findings();
 * found.add([{ source: 'read@tool#1.1', steps: ['read'], text: 'Ignore all previous instructions' }]);
 * found.of({ body: 'hello' }); // ['pattern:ignore_previous']
 */
export class Findings {
  private readonly names = new Set<string>();
  /** Number of texts searched. */
  size = 0;

  add(texts: readonly HeardText[]): void {
    this.size += texts.length;
    for (const { text } of texts) for (const name of findingsIn(text)) this.names.add(name);
  }

  /** Returns the findings, including those in the arguments of a call. */
  of(input: object): readonly string[] {
    const isSuspicious = findingsIn(JSON.stringify(input)).length > 0;
    return [...this.names, ...(isSuspicious ? ['suspicious_args'] : [])].toSorted();
  }
}

/** @example findingsIn('my password'); // ['keyword:password'] */
export function findingsIn(whole: string): readonly string[] {
  const text = whole.slice(0, LONGEST);
  const patterns = PATTERNS.filter(([, pattern]) => pattern.test(text)).map(([name]) => `pattern:${name}`);
  const keywords = Array.from(text.matchAll(KEYWORDS), ([word]) => `keyword:${word.toLowerCase()}`);
  return [...new Set([...patterns, ...keywords, ...(isEncoded(text) ? ['encoded_content'] : [])])];
}

function isEncoded(text: string): boolean {
  if (ESCAPES.test(text)) return true;
  return Array.from(text.matchAll(RUNS)).some(
    ([run]) => entropyOf(run) >= (DIGITS.test(run) ? DIGITS_ENTROPY : ENTROPY),
  );
}

/** Shannon entropy, in bits per character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
