import { isRounded } from '../base/json.js';
import type { Problem } from '../base/problem.js';
import { quoteShort } from '../lang/value-text.js';
import type { SourceEntry, SourceMap, SourceNode, SourceScalar } from './nodes.js';
import { placesOf, type Places } from './places.js';

export interface ParsedJson {
  /** Undefined if the text is empty or could not be read. */
  readonly root: SourceNode | undefined;
  readonly problems: readonly Problem[];
  readonly places: Places;
}

/** Limits of a text: bytes of UTF-8, and depth of nested lists and maps. */
const MOST_BYTES = 16_000_000;
const DEEPEST = 200;

/**
 * Reads a JSON text (RFC 8259) as data with positions. It never throws. The first syntax error is a problem, and then there is no data.
 * Repeated keys are problems, and the first one counts. Any name may be a key, even `__proto__`.
 *
 * Problem codes: `json-syntax`, `json-limit`, `duplicate-key`.
 */
export function parseJson(text: string, file: string): ParsedJson {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const places = placesOf(source, file);
  const reader = new JsonReader(source, places);
  const root = Buffer.byteLength(source) > MOST_BYTES ? reader.tooLarge() : reader.document();
  return { root, problems: reader.problems, places };
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_$][\w$]*/y;
/** Characters for which a text is read one by one: escapes, and what may not be in it. */
const SPECIAL = /[\\\p{Cc}]/u;
const WORDS = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** What follows in a list or a map. Undefined after a mistake. */
type Next = 'part' | 'end' | undefined;

/** Reads values from an offset. After the first mistake it stops, and every part returns undefined. */
class JsonReader {
  readonly problems: Problem[] = [];
  private offset = 0;

  constructor(
    private readonly text: string,
    private readonly places: Places,
  ) {}

  document(): SourceNode | undefined {
    this.skipSpace();
    const root = this.value(0);
    if (root === undefined) return undefined;
    this.skipSpace();
    if (this.offset === this.text.length) return root;
    return this.wrong('there is more text after the value', 'a file holds one value');
  }

  tooLarge(): undefined {
    this.report('json-limit', `the text has more than ${MOST_BYTES} bytes`, 0, 'split the file');
  }

  private value(depth: number): SourceNode | undefined {
    if (depth > DEEPEST) {
      this.report('json-limit', `nested deeper than ${DEEPEST} levels`, this.offset, 'split the file');
      return undefined;
    }
    const char = this.text[this.offset];
    if (char === '{') return this.map(depth);
    if (char === '[') return this.list(depth);
    const from = this.offset;
    if (char === '"') {
      const text = this.string();
      return text === undefined ? undefined : this.scalar(text, text, from);
    }
    const number = this.match(NUMBER);
    if (number !== undefined) return this.scalar(isRounded(number) ? number : Number(number), number, from);
    const word = this.match(WORD);
    const known = word === undefined ? undefined : WORDS.get(word);
    if (word !== undefined && known !== undefined) return this.scalar(known, known === null ? '' : word, from);
    this.offset = from;
    return this.wrong(this.isAtEnd() ? 'the text ends where a value is expected' : 'a value is expected here');
  }

  private scalar(value: SourceScalar['value'], text: string, from: number): SourceScalar {
    return { kind: 'scalar', value, text, at: this.places.at(from), range: [from, this.offset] };
  }

  private list(depth: number): SourceNode | undefined {
    const at = this.places.at(this.offset);
    const items: SourceNode[] = [];
    let next = this.begins(']');
    while (next === 'part') {
      const item = this.value(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
      next = this.goesOn(']');
    }
    return next === 'end' ? { kind: 'list', items, at } : undefined;
  }

  private map(depth: number): SourceMap | undefined {
    const at = this.places.at(this.offset);
    const entries: SourceEntry[] = [];
    const keys = new Set<string>();
    let next = this.begins('}');
    while (next === 'part') {
      const from = this.offset;
      const key = this.key();
      const value = key === undefined ? undefined : this.value(depth + 1);
      if (key === undefined || value === undefined) return undefined;
      if (keys.has(key))
        this.report('duplicate-key', `the key ${quoteShort(key)} is defined twice`, from, 'remove one of the two');
      else entries.push({ key, at: this.places.at(from), value });
      keys.add(key);
      next = this.goesOn('}');
    }
    return next === 'end' ? { kind: 'map', entries, at } : undefined;
  }

  private key(): string | undefined {
    if (this.text[this.offset] !== '"') return this.wrong('a key in double quotes is expected here');
    const key = this.string();
    if (key === undefined) return undefined;
    this.skipSpace();
    if (this.text[this.offset] !== ':') return this.wrong('a colon is expected here');
    this.offset += 1;
    this.skipSpace();
    return key;
  }

  /** Reads an opening bracket. Returns what follows: a part, or the closing one. */
  private begins(close: string): Next {
    this.offset += 1;
    this.skipSpace();
    if (this.text[this.offset] !== close) return 'part';
    this.offset += 1;
    return 'end';
  }

  /** Reads what separates parts, up to the next one, or the closing bracket. Returns undefined after a mistake. */
  private goesOn(close: string): Next {
    this.skipSpace();
    const char = this.text[this.offset];
    if (char !== ',' && char !== close) return this.wrong(`a comma or ${close} is expected here`);
    const at = this.offset;
    this.offset += 1;
    if (char === close) return 'end';
    this.skipSpace();
    if (this.text[this.offset] !== close) return 'part';
    this.offset = at;
    return this.wrong(`there is a comma before ${close}`, 'remove the comma');
  }

  /** Reads a text. Most have no escapes, and searching for their end is faster than looking at each character. */
  private string(): string | undefined {
    const from = this.offset + 1;
    const end = this.text.indexOf('"', from);
    const inside = end === -1 ? '' : this.text.slice(from, end);
    if (end === -1 || SPECIAL.test(inside)) return this.specialString();
    this.offset = end + 1;
    return inside;
  }

  /** Reads a text character by character: it has escapes or a mistake. */
  private specialString(): string | undefined {
    const from = this.offset;
    for (let at = from + 1; at < this.text.length; at += 1) {
      const code = this.text.charCodeAt(at);
      if (code === 0x22) {
        this.offset = at + 1;
        return this.decoded(from);
      }
      if (code === 0x5c) at += 1;
      else if (code < 0x20) {
        this.offset = at;
        return this.wrong(
          'a text holds a control character',
          code === 0x0a ? 'write \\n, or close the text' : 'write it as \\u00..',
        );
      }
    }
    return this.wrong('a text is not closed', 'put " after it');
  }

  private decoded(from: number): string | undefined {
    const written = this.text.slice(from, this.offset);
    const to = this.offset;
    try {
      // An escape can produce half of a surrogate pair, which cannot be written to a file as text.
      return (JSON.parse(written) as string).replaceAll(/\p{Surrogate}/gu, '\uFFFD');
    } catch {
      this.offset = from;
      const problem = this.wrong('a text holds an unknown escape', 'write a backslash as \\\\');
      this.offset = to;
      return problem;
    }
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.offset;
    const found = pattern.exec(this.text)?.[0];
    this.offset += found?.length ?? 0;
    return found;
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.offset);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.offset += 1;
    }
  }

  private isAtEnd(): boolean {
    return this.offset >= this.text.length;
  }

  private wrong(message: string, hint = this.hintHere()): undefined {
    this.report('json-syntax', message, this.offset, hint);
  }

  private hintHere(): string {
    const char = this.text[this.offset];
    if (char === "'") return 'put texts and keys into double quotes';
    if (char === '/' || char === '#') return 'JSON has no comments: remove it';
    return 'check brackets, commas and quotes up to this place';
  }

  private report(code: string, message: string, offset: number, hint: string): void {
    this.problems.push({ code, severity: 'error', message, at: this.places.at(offset), hint });
  }
}
