import { jsonIn, ownValue } from '../base/json.js';
import type { ValueRef } from './values.js';
import { SkeinError } from '../base/errors.js';
import { parsingWork, type WorkMeter } from './work-meter.js';

/** Finds the JSON in a text; returns undefined if there is none. */
export interface TextReader {
  parse(text: string): unknown;
}

/** Reads a channel of the state that a step sees; returns undefined if no upstream node wrote it. */
export type ReadChannel = (channel: string) => unknown;

/**
 * Reads the JSON in a text: the whole text, or the first code fence in it that holds JSON. Undefined when there is none.
 * Of more than a thousand fences only the first thousand are looked into.
 * Nothing but own keys is ever made: a key `__proto__` in the text stays an ordinary key.
 */
export function parseJsonText(text: string): unknown {
  const whole = jsonIn(text);
  if (whole !== undefined) return whole;
  let left = MOST_FENCES;
  for (const block of fencedBlocks(text)) {
    // An attempt that fails costs much more than the text is long.
    if (left-- === 0) return undefined;
    const value = jsonIn(block);
    if (value !== undefined) return value;
  }
  return undefined;
}

/**
 * Follows a path into a value. Text is first read as JSON. Only own keys of objects and indexes of lists are found;
 * anything else is undefined, as is a path that leads nowhere. `texts` reads the text.
 */
export function readPath(value: unknown, path: readonly string[], texts?: TextReader): unknown {
  if (path.length === 0) return value;
  let here = typeof value === 'string' ? (texts === undefined ? parseJsonText(value) : texts.parse(value)) : value;
  for (const key of path) {
    if (here === undefined) return undefined;
    if (!Array.isArray(here)) here = ownValue(here, key);
    else here = INDEX.test(key) ? (here[Number(key)] as unknown) : undefined;
  }
  return here;
}

/**
 * Reads what a reference points at; undefined when the channel or the path in it is missing. `texts` reads text that the path leads into.
 */
export function readRef(ref: ValueRef, read: ReadChannel, texts?: TextReader): unknown {
  const value = read(ref.channel);
  const found = ref.path === undefined ? value : readPath(value, ref.path, texts);
  return found === undefined ? ref.absent : found;
}

/** Formats a reference for people: `steps.qa.output.approved`. */
export function refText(ref: ValueRef): string {
  if (ref.written !== undefined) return ref.written;
  return ref.path === undefined || ref.path.length === 0 ? ref.channel : `${ref.channel}.${ref.path.join('.')}`;
}

const INDEX = /^(?:0|[1-9]\d{0,9})$/;

const FENCE = '```';
const MOST_FENCES = 1_000;

/** Yields the bodies of code fences. A fence opens and closes at the start of a line, after spaces at most. */
function* fencedBlocks(text: string): Generator<string> {
  let bodyStart = -1;
  for (let line = 0; line < text.length;) {
    const found = text.indexOf('\n', line);
    const end = found === -1 ? text.length : found;
    let first = line;
    while (first < end && (text[first] === ' ' || text[first] === '\t')) first += 1;
    if (text.startsWith(FENCE, first)) {
      if (bodyStart === -1) bodyStart = end + 1;
      else {
        yield text.slice(bodyStart, line);
        bodyStart = -1;
      }
    }
    line = end + 1;
  }
}

/** Characters that one evaluation parses as JSON before it refuses more: they take less than a second. */
const MOST_READ = 16_000_000;

/** Parses texts as JSON for one evaluation, each of them once: a long text may be referenced very often. */
export class JsonTexts implements TextReader {
  private left = MOST_READ;
  private values: Map<string, unknown> | undefined = undefined;

  constructor(private readonly meter?: WorkMeter) {}

  /**
   * The JSON in a text, as {@link parseJsonText} finds it. However long a text is, it is read; but not another one behind it.
   *
   * @throws SkeinError SKEIN_TEMPLATE when too much was read before
   */
  parse(text: string): unknown {
    const values = (this.values ??= new Map());
    const known: unknown = values.get(text);
    if (known !== undefined || values.has(text)) return known;
    if (this.left <= 0) {
      throw new SkeinError('SKEIN_TEMPLATE', `one evaluation would read more than ${MOST_READ} characters as JSON`, {
        hint: 'look into fewer or shorter texts',
      });
    }
    this.left -= text.length;
    this.meter?.spend(parsingWork(text.length));
    const value = parseJsonText(text);
    values.set(text, value);
    return value;
  }
}
