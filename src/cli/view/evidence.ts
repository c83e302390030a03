import { lazily } from '../../base/collections.js';
import { digestText } from '../../base/hash.js';
import { isPlainObject } from '../../base/json.js';
import { escaped, printable, secretsHiddenForDecision } from './printable.js';

/** Maximum lines of a piece of evidence: the call itself must not scroll away. */
const HEAD_LINES = 40;
const TAIL_LINES = 15;
/** Maximum characters of one line. */
const HEAD_CHARS = 2_000;
const TAIL_CHARS = 1_000;

/** Characters without width, or that only look like a space: they could hide what a call does. */
const INVISIBLE = lazily(() => /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs}/gu);

/** Formats what a person needs to see to decide. Invisible characters are escaped; long evidence is cut to its start and end. */
export function evidenceLines(evidence: unknown): readonly string[] {
  if (evidence === undefined) return [];
  // Each of several calls is formatted separately, so that a long one can't hide the others.
  const calls = isPlainObject(evidence) ? evidence['calls'] : undefined;
  if (Array.isArray(calls))
    return calls.flatMap((one: unknown, at) => [`  ${at + 1} of ${calls.length}:`, ...evidenceLines(one)]);
  const text = typeof evidence === 'string' ? evidence : (judgedText(evidence) ?? JSON.stringify(evidence, null, 2));
  // Secrets are hidden before anything is cut: half a secret is like none.
  const lines = secretsHiddenForDecision().text(text).split('\n').map(shortened);
  return shownLines(lines, text).map((line) => `  ${withMarks(escaped(line))}`);
}

/** The work of a supervised step as text: first the promise beside the delivered work, then the work itself. */
function judgedText(evidence: unknown): string | undefined {
  if (!isPlainObject(evidence) || !('promised' in evidence) || !('delivered' in evidence)) return undefined;
  const { output, promised, delivered, triggers, ...more } = evidence;
  const parts = { promised, delivered, triggers, ...more, output };
  return Object.entries(parts)
    .map(([name, value]) => outline(name, value, ''))
    .join('\n');
}

function outline(name: string, value: unknown, indent: string): string {
  const inner = `${indent}  `;
  // A name with a line end could look like another part.
  const called = `${indent}${/\s/.test(name) ? JSON.stringify(name) : name}:`;
  if (isPlainObject(value))
    return [called, ...Object.entries(value).map(([key, part]) => outline(key, part, inner))].join('\n');
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
  const text = isList ? value.join('; ') : typeof value === 'string' ? value : JSON.stringify(value);
  return text.includes('\n')
    ? `${called}\n${inner}${text.replaceAll('\n', `\n${inner}`)}`
    : `${called} ${text === '' ? '-' : text}`;
}

function shownLines(lines: readonly string[], whole: string): readonly string[] {
  const most = HEAD_LINES + TAIL_LINES;
  if (lines.length <= most) return lines;
  const note = `[${lines.length - most} lines are not shown; ${sizeOf(whole)}]`;
  return [...lines.slice(0, HEAD_LINES), note, ...lines.slice(-TAIL_LINES)];
}

function shortened(line: string): string {
  const most = HEAD_CHARS + TAIL_CHARS;
  if (line.length <= most) return line;
  const note = ` [... ${line.length - most} characters are not shown; ${sizeOf(line)} ...] `;
  return line.slice(0, HEAD_CHARS) + note + line.slice(-TAIL_CHARS);
}

function sizeOf(text: string): string {
  return `${text.length} characters in all, digest ${digestText(text)}`;
}

/** Makes a line printable in which a person must see everything: invisible characters become escapes, too. */
export function visible(line: string): string {
  return withMarks(printable(line));
}

function withMarks(line: string): string {
  return line.replace(INVISIBLE(), (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
