import { badInput } from './tool-input.js';

/** Ranges of UTF-16 code units, first and last. */
export interface CharTest {
  readonly not: boolean;
  readonly ranges: readonly (readonly [number, number])[];
}

/** A parsed expression. */
export type RegexNode =
  | { readonly kind: 'char'; readonly set: CharTest }
  | { readonly kind: 'at'; readonly where: 'start' | 'end' | 'edge' | 'inside' }
  | { readonly kind: 'list'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexNode[] }
  | { readonly kind: 'repeat'; readonly item: RegexNode; readonly least: number; readonly most: number };

const MAX_PATTERN = 1_000;
const MAX_DEPTH = 50;
const MAX_REPEAT = 1_000;

const DIGIT: CharTest['ranges'] = [[48, 57]];
const WORD: CharTest['ranges'] = [...DIGIT, [65, 90], [95, 95], [97, 122]];
// What \s means in JavaScript.
const SPACE: CharTest['ranges'] = [
  [9, 13],
  [32, 32],
  [160, 160],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const ESCAPES: ReadonlyMap<string, number> = new Map([
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['f', 12],
  ['v', 11],
  ['0', 0],
]);

/**
 * Reads a regular expression.
 *
 * @throws SkeinError `SKEIN_TOOL_FAILED` for what can't be matched in linear time, and for what is no expression
 */
export function parseRegex(source: string): RegexNode {
  if (source.length > MAX_PATTERN) throw badInput(`a pattern of ${source.length} characters is too long`);
  return new Parser(source).parse();
}

class Parser {
  private at = 0;
  private depth = 0;

  constructor(private readonly source: string) {}

  parse(): RegexNode {
    const node = this.choice();
    if (this.at < this.source.length) throw this.wrong('there is a ")" too many');
    return node;
  }

  private choice(): RegexNode {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw this.wrong('groups are nested too deeply');
    const options = [this.list()];
    while (this.take('|')) options.push(this.list());
    this.depth -= 1;
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { kind: 'choice', options };
  }

  private list(): RegexNode {
    const items: RegexNode[] = [];
    while (this.at < this.source.length && this.source[this.at] !== '|' && this.source[this.at] !== ')') {
      items.push(this.repeated());
    }
    return { kind: 'list', items };
  }

  private repeated(): RegexNode {
    const item = this.single();
    const count = this.count();
    if (count === undefined) return item;
    this.take('?');
    if (this.count() !== undefined) throw this.wrong('a repetition of a repetition needs a group');
    return { kind: 'repeat', item, ...count };
  }

  private count(): { least: number; most: number } | undefined {
    if (this.take('*')) return { least: 0, most: Infinity };
    if (this.take('+')) return { least: 1, most: Infinity };
    if (this.take('?')) return { least: 0, most: 1 };
    const braces = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.source.slice(this.at, this.at + 12));
    if (braces === null) return undefined;
    this.at += braces[0].length;
    const least = Number(braces[1]);
    const most = braces[2] === undefined ? least : braces[3] === '' ? Infinity : Number(braces[3]);
    if (least > MAX_REPEAT || (most !== Infinity && most > MAX_REPEAT)) throw this.wrong('the repetition is too large');
    if (most < least) throw this.wrong('the numbers of a repetition are in the wrong order');
    return { least, most };
  }

  private single(): RegexNode {
    const char = this.next();
    switch (char) {
      case '(':
        return this.group();
      case '[':
        return { kind: 'char', set: this.set() };
      case '.':
        return {
          kind: 'char',
          set: {
            not: true,
            ranges: [
              [10, 10],
              [13, 13],
              [0x2028, 0x2029],
            ],
          },
        };
      case '^':
        return { kind: 'at', where: 'start' };
      case '$':
        return { kind: 'at', where: 'end' };
      case '\\':
        return this.escape();
      case '*':
      case '+':
      case '?':
        throw this.wrong('there is nothing to repeat');
      default:
        return { kind: 'char', set: one(char) };
    }
  }

  private group(): RegexNode {
    if (this.take('?') && !this.take(':')) {
      throw this.wrong('look-around and named groups are not supported; use (?:...)');
    }
    const inner = this.choice();
    if (!this.take(')')) throw this.wrong('a group is not closed');
    return inner;
  }

  private escape(): RegexNode {
    const char = this.next();
    if (char === 'b') return { kind: 'at', where: 'edge' };
    if (char === 'B') return { kind: 'at', where: 'inside' };
    if (/[1-9]/.test(char)) throw this.wrong('back references are not supported');
    return { kind: 'char', set: this.escaped(char) };
  }

  /** What an escape means in and outside of a class. */
  private escaped(char: string): CharTest {
    switch (char) {
      case 'd':
      case 'D':
        return { not: char === 'D', ranges: DIGIT };
      case 'w':
      case 'W':
        return { not: char === 'W', ranges: WORD };
      case 's':
      case 'S':
        return { not: char === 'S', ranges: SPACE };
      case 'x':
        return one(this.hex(2));
      case 'u':
        return one(this.hex(4));
      default: {
        const code = ESCAPES.get(char);
        if (code !== undefined) return { not: false, ranges: [[code, code]] };
        if (/[A-Za-z0-9]/.test(char)) throw this.wrong(`the escape \\${char} is not supported`);
        return one(char);
      }
    }
  }

  private hex(digits: number): string {
    const text = this.source.slice(this.at, this.at + digits);
    if (text.length < digits || !/^[0-9a-fA-F]+$/.test(text)) throw this.wrong(`an escape needs ${digits} hex digits`);
    this.at += digits;
    return String.fromCharCode(Number.parseInt(text, 16));
  }

  private set(): CharTest {
    const not = this.take('^');
    const ranges: (readonly [number, number])[] = [];
    while (!this.take(']')) {
      const first = this.setItem();
      const isOne = first.ranges.length === 1 && !first.not && first.ranges[0]?.[0] === first.ranges[0]?.[1];
      if (isOne && this.source[this.at] === '-' && (this.source[this.at + 1] ?? ']') !== ']') {
        this.at += 1;
        const last = this.setItem();
        const [from, to] = [first.ranges[0]?.[0] ?? 0, last.ranges[0]?.[1] ?? 0];
        if (last.not || last.ranges.length > 1 || to < from)
          throw this.wrong('a range of a class is in the wrong order');
        ranges.push([from, to]);
      } else {
        ranges.push(...(first.not ? opposite(first.ranges) : first.ranges));
      }
    }
    return { not, ranges };
  }

  private setItem(): CharTest {
    const char = this.next();
    if (char !== '\\') return one(char);
    const escaped = this.next();
    return escaped === 'b' ? { not: false, ranges: [[8, 8]] } : this.escaped(escaped);
  }

  private next(): string {
    const char = this.source[this.at];
    if (char === undefined) throw this.wrong('it ends too early');
    this.at += 1;
    return char;
  }

  private take(char: string): boolean {
    if (this.source[this.at] !== char) return false;
    this.at += 1;
    return true;
  }

  private wrong(message: string): Error {
    return badInput(
      `the pattern is no regular expression that can be searched for: ${message} (at character ${this.at + 1})`,
      'leave "regex" out to search for the text itself',
    );
  }
}

function one(char: string): CharTest {
  const code = char.charCodeAt(0);
  return { not: false, ranges: [[code, code]] };
}

function opposite(ranges: CharTest['ranges']): CharTest['ranges'] {
  const result: (readonly [number, number])[] = [];
  let from = 0;
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (first > from) result.push([from, first - 1]);
    from = last + 1;
  }
  if (from <= 0xffff) result.push([from, 0xffff]);
  return result;
}
