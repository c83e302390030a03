import { cellsOf, cellsOfText } from '../../base/text.js';
import { isPlainObject } from '../../base/json.js';
import type { RunOverview } from '../../index.js';
import { findSecrets, type SecretSources } from '../../secrets/find-secrets.js';
import { createRedactor, createStrictRedactor, type Redactor } from '../../secrets/redact.js';

/** Control characters, and marks that change the direction of text. */
const UNSAFE = /\p{Cc}|\p{Bidi_Control}/gu;

/** Makes text from models, tools and files safe for a screen: without secrets, and {@link escaped}. */
export function printable(text: string): string {
  return escaped(secretsHidden().text(text));
}

/** Escapes control characters in results: they could move the cursor, hide text or change the terminal. Tabs and line ends stay. */
export function escaped(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSAFE, (char) => (char === '\n' || char === '\t' ? char : escapeOf(char)));
}

/** Makes text printable on one line of at most `limit` characters. `cut` marks what is left out. */
export function oneLine(text: string, limit: number, cut = '…'): string {
  const flat = printable(text.slice(0, limit * 4))
    .replaceAll(/\s+/g, ' ')
    .trim();
  const chars = Array.from(flat);
  return chars.length <= limit ? flat : `${chars.slice(0, Math.max(limit - cut.length, 0)).join('')}${cut}`;
}

export function quoted(word: string): string {
  return `'${printable(word).replaceAll("'", String.raw`'\''`)}'`;
}

function escapeOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** The part of a text to leave out if it is too long. */
export type Cut = 'start' | 'middle' | 'end';

/** Cuts printable text on one line to a number of terminal cells. Wide characters, such as Chinese ones and emoji, occupy two. */
export function fitCells(text: string, cells: number, from: Cut = 'end', mark = '…'): string {
  if (text.length <= cells && ASCII_ONLY.test(text)) return text;
  if (cellsOfText(text) <= cells) return text;
  const room = cells - cellsOfText(mark);
  if (room < 0) return mark.slice(0, Math.max(cells, 0));
  const ahead = from === 'end' ? room : from === 'start' ? 0 : Math.ceil(room / 2);
  const chars = Array.from(text);
  const [head, used] = taken(chars, ahead);
  const [tail] = from === 'end' ? [[]] : taken(chars.toReversed(), from === 'start' ? room : room - used);
  return `${head.join('')}${mark}${tail.toReversed().join('')}`;
}

const ASCII_ONLY = /^[\u0020-\u007e]*$/;

/** The first characters that fit, and the number of cells they occupy. Combining marks stay with their character. */
function taken(chars: readonly string[], cells: number): readonly [readonly string[], number] {
  let used = 0;
  let end = 0;
  for (const char of chars) {
    const width = cellsOf(char);
    if (used + width > cells) break;
    used += width;
    end += 1;
  }
  return [chars.slice(0, end), used];
}

export function padCells(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - cellsOfText(text)));
}

/** Isolates text inside a line: right-to-left text does not change the direction of what follows. */
export function isolated(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Characters that JSON does not escape although a terminal may interpret them. Line breaks of the indentation stay. */
const UNSAFE_IN_JSON = /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu;

/** Formats a value as indented JSON with every control character escaped: safe on a terminal, and equal as JSON. */
export function jsonText(value: unknown): string {
  return escapeJson(JSON.stringify(value, null, 2));
}

/** Formats recorded values as JSON without secrets. */
export function shownJson(value: unknown): string {
  return escapeJson(secretsHidden().json(value, 2));
}

/** Escapes every control character in JSON text. */
export function escapeJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

let redactor: Redactor | undefined;
let strictRedactor: Redactor | undefined;
/** Secrets that the user named, in the environment and for the displayed run, and those that lie in the project. */
let secrets: { readonly vouched: readonly string[]; readonly others: readonly string[] } | undefined;

/** Hides secrets of the environment, of the folder's `.env` files, and of the displayed run. */
export function secretsHidden(): Redactor {
  const { vouched, others } = (secrets ??= known({}));
  return (redactor ??= createRedactor([...vouched, ...others]));
}

/** The same for what a person decides about, of which others must not hide a part. */
export function secretsHiddenForDecision(): Redactor {
  const { vouched, others } = (secrets ??= known({}));
  return (strictRedactor ??= createStrictRedactor(vouched, others));
}

/** Forgets the secrets at the start of a command line. They are read again on first use. */
export function forgetSecrets(): void {
  [secrets, redactor, strictRedactor] = [undefined, undefined, undefined];
}

/** Also hides the secrets of a run from here on: keys that its plan names, and inputs with telling names. */
export function hideSecretsOf(run: Pick<SecretSources, 'plan' | 'inputs'>): void {
  forgetSecrets();
  secrets = known(run);
}

/** Does the same for a recorded run. */
export function hideSecretsOfRecord({ inputs }: Pick<RunOverview, 'inputs'>): void {
  hideSecretsOf({ inputs: isPlainObject(inputs) ? inputs : {} });
}

function known(run: Pick<SecretSources, 'plan' | 'inputs'>): NonNullable<typeof secrets> {
  return {
    vouched: findSecrets({ env: process.env, ...run }),
    others: findSecrets({ env: {}, folder: workingFolder() }),
  };
}

/** Undefined if the folder was removed, which is an error to report. */
function workingFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
