import { withoutKnown } from './formats.js';
import { NOTHING_HELD, PatternSet } from './pattern-set.js';

/** Stands where a secret was. */
export const REDACTED = '[redacted]';

/** Shorter values are hidden only where they stand as a word: in other words they would be found everywhere. */
const LONG_ENOUGH = 8;
/** Nothing shorter is a secret. */
export const SHORTEST_SECRET = 4;

/** Takes secrets out of texts. */
export interface Redactor {
  /** A text without the secrets, in whatever form they stand in it. */
  readonly text: (text: string) => string;
  /** A value as JSON text without the secrets, on one line unless `indent` is given; characters that a terminal obeys are escaped. */
  readonly json: (value: unknown, indent?: number) => string;
  /** For a text that comes in pieces. */
  readonly stream: () => RedactedStream;
}

/** A text that comes in pieces. What could be the beginning of a secret is held back until it is known. */
export interface RedactedStream {
  /** Takes a piece; gives what can be shown now. */
  push(piece: string): string;
  /** Gives what was held back: the text is at its end. */
  flush(): string;
}

/**
 * Finds the given secrets as they are, in base64 (also in the middle of more data), URL-encoded, in hex and escaped as in JSON, up to three times,
 * and whatever has the shape of a key that a known service gives out ({@link withoutKnown}). Values of fewer than 8 characters are hidden where
 * they stand as a word, those of fewer than {@link SHORTEST_SECRET} are left alone. The time is linear in the text.
 *
 * @example
 * createRedactor(['hunter2-hunter2']).text('key=hunter2-hunter2'); // 'key=[redacted]'
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const forms = new Set(secrets.flatMap(formsOf));
  const patterns = new PatternSet(forms);
  const words = wordsOf(secrets);
  const hidden = (part: string): string =>
    withoutKnown(words === undefined ? part : part.replace(words, REDACTED), REDACTED);
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

/** Short secrets, as words of their own. */
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

/** The longest end of a text that waits for what comes. */
const LONGEST_KEPT = 16_384;
/** What a key may stand behind, so that it is none by itself. */
const NAMES_A_KEY = /(?:bearer|basic|aws_?[a-z_]{0,24}["']?\s{0,4}[:=])\s*$/i;
const LONGEST_NAME = 60;

/** Up to where no key can go on behind the end of a text: its last word is left out, and a private key that has not ended. */
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

// JSON leaves these as they are, a terminal that shows the file obeys them. They occur only inside of JSON strings.
const INVISIBLE = /[\u007F-\u009F\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g;

/** JSON text in which characters that steer a terminal are written as escapes. */
function escapeInvisible(json: string): string {
  return json.replace(INVISIBLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The texts in which a secret can be recognised. */
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

/** JSON in texts of JSON: what is escaped is escaped again. */
const ESCAPED_LEVELS = 3;

function escapedForms(secret: string): readonly string[] {
  const forms: string[] = [];
  for (let form = secret; forms.length < ESCAPED_LEVELS;) forms.push((form = JSON.stringify(form).slice(1, -1)));
  return forms;
}

/**
 * Base64 of the secret alone, and what is the same in the base64 of any data that holds it: a secret begins at one of three places of a group
 * of bytes, and the characters at its ends, which depend on its neighbours, are left out.
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
