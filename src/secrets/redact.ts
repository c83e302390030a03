import { withoutCutKeys } from './cuts.js';
import { withoutKnown, withoutPlainKeys } from './formats.js';
import { NOTHING_HELD, PatternSet } from './pattern-set.js';

export const REDACTED = '[redacted]';

/** Shorter values are hidden only as whole words: otherwise they would match inside other words everywhere. */
const LONG_ENOUGH = 8;
/** Shorter values are not secrets. */
export const SHORTEST_SECRET = 4;

/** Paths and addresses begin and end like others, so their parts are not secret. */
const LIKE_A_PLACE = /^(?:~?[/\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\]|[A-Za-z][A-Za-z0-9+.-]*:\/\/)/;

export interface Redactor {
  /** Returns a text without the secrets, in whatever form they occur in it. */
  readonly text: (text: string) => string;
  /** Returns a value as JSON text without the secrets, on one line unless `indent` is given; escapes characters that a terminal obeys. */
  readonly json: (value: unknown, indent?: number) => string;
  readonly stream: () => RedactedStream;
}

/** A text that arrives in pieces. What could begin a secret is held back until it is known. */
export interface RedactedStream {
  /** Adds a piece; returns the text that can be shown so far. */
  push(piece: string): string;
  /** Ends the text; returns what was held back. */
  flush(): string;
}

/**
 * Creates a redactor. It finds the given secrets as they are, in base64 (also in the middle of more data), URL-encoded, in hex and escaped
 * as in JSON, up to three times, and everything that has the shape of a known service's key ({@link withoutKnown}). Values of fewer than 8
 * characters are hidden only as whole words, those of fewer than {@link SHORTEST_SECRET} not at all. The time is linear in the text.
 *
 * @example
 * createRedactor(['hunter2-hunter2']).text('key=hunter2-hunter2'); // 'key=[redacted]'
 */
export function createRedactor(secrets: readonly string[], withoutKeys = withoutAnyKeys): Redactor {
  const forms = new Set(secrets.flatMap(formsOf));
  const patterns = new PatternSet(
    forms,
    new Set(secrets.filter((secret) => LIKE_A_PLACE.test(secret)).flatMap(formsOf)),
  );
  const words = wordsOf(secrets);
  const hidden = (part: string): string => withoutKeys(words === undefined ? part : part.replace(words, REDACTED));
  const text = (whole: string): string =>
    hidden(forms.size === 0 ? whole : patterns.replace(whole, REDACTED, true).text);
  return {
    text,
    json: (value, indent) =>
      escapeInvisible(JSON.stringify(value, (_, part: unknown) => redactPart(part, text), indent)),
    stream() {
      let held = NOTHING_HELD;
      let kept = '';
      const take = (piece: string, final: boolean): string => {
        const replaced = patterns.replace(piece, REDACTED, final, held);
        held = replaced.held;
        const whole = kept + replaced.text;
        const cut = final ? whole.length : endOfWhole(whole);
        kept = whole.slice(cut);
        return hidden(whole.slice(0, cut));
      };
      return { push: (piece) => take(piece, false), flush: () => take('', true) };
    },
  };
}

function withoutAnyKeys(part: string): string {
  return withoutCutKeys(withoutKnown(part, REDACTED), REDACTED);
}

/**
 * Creates a redactor for what a person decides about: others must not be able to hide a part of it. `vouched`: secrets that the user
 * named. Those that lie in the project, where others could have put anything, are hidden only if they can be nothing but keys.
 */
export function createStrictRedactor(vouched: readonly string[], others: readonly string[]): Redactor {
  return createRedactor([...vouched, ...others.filter(isLikeAKey)], (part) => withoutPlainKeys(part, REDACTED));
}

/** Whether a value can be neither a command, nor a word of one, nor a host or a path. */
function isLikeAKey(value: string): boolean {
  return /^[\w+=-]{12,}$/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value) && !value.startsWith('-');
}

/** Matches short secrets as whole words. */
function wordsOf(secrets: readonly string[]): RegExp | undefined {
  const short = secrets
    .map((secret) => secret.trim())
    .filter(({ length }) => length >= SHORTEST_SECRET && length < LONG_ENOUGH);
  if (short.length === 0) return undefined;
  const forms = short.flatMap((secret) => {
    const bytes = Buffer.from(secret, 'utf8');
    const base64 = bytes.toString('base64');
    return [secret, encodeURIComponent(secret), bytes.toString('hex'), base64, base64.replace(/=+$/, '')];
  });
  const longestFirst = [...new Set(forms)].toSorted((one, other) => other.length - one.length);
  const sources = longestFirst.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`(?<![A-Za-z0-9_])(?:${sources.join('|')})(?![A-Za-z0-9_])`, 'g');
}

/** Longest suffix of a text to hold back. */
const LONGEST_KEPT = 16_384;
/** Words before a value that make it a key, even if its shape alone does not. */
const NAMES_A_KEY = /(?:bearer|basic|aws_?[a-z_]{0,24}["']?\s{0,4}[:=])\s*$/i;
const LONGEST_NAME = 60;

/** The position before which no key can still continue: excludes the last word, and an unfinished private key. */
function endOfWhole(text: string): number {
  let cut = text.length;
  while (cut > 0 && !/\s/.test(text.charAt(cut - 1))) cut -= 1;
  const named = NAMES_A_KEY.exec(text.slice(Math.max(0, cut - LONGEST_NAME), cut));
  if (named !== null) cut -= named[0].length;
  const opened = text.lastIndexOf('-----BEGIN ');
  if (opened >= 0 && opened < cut && !/-----END [A-Z0-9 ]{0,40}-----/.test(text.slice(opened, cut))) cut = opened;
  return text.length - cut > LONGEST_KEPT ? text.length : cut;
}

function redactPart(part: unknown, text: (whole: string) => string): unknown {
  if (typeof part === 'string') return text(part);
  if (typeof part === 'number') {
    const shown = String(part);
    const safe = text(shown);
    return safe === shown ? part : safe;
  }
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  const entries = Object.entries(part);
  if (entries.every(([key]) => text(key) === key)) return part;
  return Object.fromEntries(entries.map(([key, value]) => [text(key), value]));
}

// JSON does not escape these, and a terminal that shows the file obeys them. They occur only inside JSON strings.
const INVISIBLE = /[\u007F-\u009F\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g;

/** Escapes the characters in JSON text that control a terminal. */
function escapeInvisible(json: string): string {
  return json.replace(INVISIBLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The texts that reveal a secret. */
function formsOf(secret: string): readonly string[] {
  return [...new Set([secret, secret.trim()])].filter((value) => value.length >= LONG_ENOUGH).flatMap(encodingsOf);
}

function encodingsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  const url = encodeURIComponent(bytes.toString('utf8'));
  const form = new URLSearchParams({ v: secret }).toString().slice(2);
  return [
    secret,
    ...escapedForms(secret),
    ...[url, form].flatMap((text) => [text, text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]),
    hex,
    hex.toUpperCase(),
    ...base64Forms(bytes),
  ];
}

/** Levels of JSON inside JSON: each level escapes again. */
const ESCAPED_LEVELS = 3;

function escapedForms(secret: string): readonly string[] {
  const forms: string[] = [];
  for (let form = secret; forms.length < ESCAPED_LEVELS;) forms.push((form = JSON.stringify(form).slice(1, -1)));
  return [...forms, ...forms.slice(0, 1).flatMap(formsOfOthers)];
}

/** JSON text as other languages write it: Python and PHP write what is not ASCII by numbers, Go `<>&`, PHP `/` escaped. */
function formsOfOthers(json: string): readonly string[] {
  const slashed = json.replaceAll('/', String.raw`\/`);
  return [slashed, numbered(json, /[^ -~]/g), numbered(slashed, /[^ -~]/g), numbered(json, /[<>&]/g)];
}

/** Writes characters by their number. */
function numbered(text: string, which: RegExp): string {
  return text.replace(which, (char) => String.raw`\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Base64 of the secret alone, and the constant part of the base64 of any data that contains it: a secret begins at one of three positions
 * of a byte group, and the characters at its ends, which depend on its neighbours, are left out.
 */
function base64Forms(bytes: Buffer): readonly string[] {
  const whole = bytes.toString('base64');
  const forms = [whole, whole.replace(/=+$/, '')];
  for (const before of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    forms.push(text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)));
  }
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}
