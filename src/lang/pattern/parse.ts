/** Ranges of code points, first and last, and classes of Unicode. */
export interface CharTest {
  readonly not: boolean;
  readonly ranges: readonly (readonly [number, number])[];
  /** The tests of `\p{...}`, each on one character. */
  readonly classes?: readonly RegExp[];
}

export type RegexNode =
  | { readonly kind: 'char'; readonly set: CharTest }
  | { readonly kind: 'at'; readonly where: 'start' | 'end' | 'edge' | 'inside' }
  /** The following text must match, or must not; consumes nothing. */
  | { readonly kind: 'ahead'; readonly not: boolean; readonly item: RegexNode }
  | { readonly kind: 'list'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexNode[] }
  | { readonly kind: 'repeat'; readonly item: RegexNode; readonly least: number; readonly most: number };

/** A pattern that can't be used: invalid, too large, or of a kind that may not finish in bounded time. */
export class PatternError extends Error {}

const MAX_PATTERN = 4_000;
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
/** Sets by the lower-case letter of their escape; an upper-case letter negates the set. */
const SETS: ReadonlyMap<string, CharTest['ranges']> = new Map([
  ['d', DIGIT],
  ['w', WORD],
  ['s', SPACE],
]);
const LINE_ENDS: CharTest['ranges'] = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];
const ESCAPES: ReadonlyMap<string, number> = new Map([
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['f', 12],
  ['v', 11],
  ['0', 0],
]);

/** @throws PatternError for what can't be matched in bounded time, and for what is not an expression */
export function parseRegex(source: string): RegexNode {
  if (source.length > MAX_PATTERN) throw new PatternError(`a pattern of ${source.length} characters is too long`);
  return new Parser(source).parse();
}

class Parser {
  private at = 0;
  private depth = 0;

  private readonly source: readonly string[];

  constructor(source: string) {
    this.source = Array.from(source);
  }

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
    const braces = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.source.slice(this.at, this.at + 12).join(''));
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
        return { kind: 'char', set: { not: true, ranges: LINE_ENDS } };
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
    const ahead = this.opening();
    const item = this.choice();
    if (!this.take(')')) throw this.wrong('a group is not closed');
    return ahead === undefined ? item : { kind: 'ahead', not: ahead === '!', item };
  }

  /** What stands behind `(`: `=` or `!` for a look ahead. */
  private opening(): '=' | '!' | undefined {
    if (!this.take('?') || this.take(':')) return undefined;
    if (this.take('=')) return '=';
    if (this.take('!')) return '!';
    const name = /^<[A-Za-z_$][\w$]{0,50}>/.exec(this.source.slice(this.at, this.at + 53).join(''))?.[0];
    if (name === undefined) throw this.wrong('looking behind and modes are not supported');
    this.at += name.length;
    return undefined;
  }

  private escape(): RegexNode {
    const char = this.next();
    if (char === 'b') return { kind: 'at', where: 'edge' };
    if (char === 'B') return { kind: 'at', where: 'inside' };
    if (/[1-9k]/.test(char)) throw this.wrong('back references are not supported');
    return { kind: 'char', set: this.escaped(char) };
  }

  /** Returns the meaning of an escape inside and outside a class. */
  private escaped(char: string): CharTest {
    const ranges = SETS.get(char.toLowerCase());
    if (ranges !== undefined) return { not: char !== char.toLowerCase(), ranges };
    switch (char) {
      case 'x':
        return one(this.hex(2));
      case 'u':
        return one(this.take('{') ? this.codePoint() : this.hex(4));
      case 'p':
      case 'P':
        return { not: char === 'P', ranges: [], classes: [this.unicodeClass()] };
      default: {
        const code = ESCAPES.get(char);
        if (code !== undefined) return { not: false, ranges: [[code, code]] };
        if (/[A-Za-z0-9]/.test(char)) throw this.wrong(`the escape \\${char} is not supported`);
        return one(char);
      }
    }
  }

  private codePoint(): string {
    const text = this.upTo('}', 8);
    const code = /^[0-9a-f]{1,6}$/i.test(text) ? Number.parseInt(text, 16) : Infinity;
    if (code > LAST_CODE) throw this.wrong('an escape is not a character');
    return String.fromCodePoint(code);
  }

  private unicodeClass(): RegExp {
    const name = this.take('{') ? this.upTo('}', 60) : '';
    if (!/^[A-Za-z_]+(?:=[A-Za-z_0-9]+)?$/.test(name)) throw this.wrong('a class of characters needs a name');
    try {
      return new RegExp(`^\\p{${name}}$`, 'u');
    } catch {
      throw this.wrong(`there is no class of characters ${name}`);
    }
  }

  private upTo(end: string, most: number): string {
    const text = this.source.slice(this.at, this.at + most);
    const length = text.indexOf(end);
    if (length < 0) throw this.wrong('an escape is not closed');
    this.at += length + 1;
    return text.slice(0, length).join('');
  }

  private hex(digits: number): string {
    const text = this.source.slice(this.at, this.at + digits).join('');
    if (text.length < digits || !/^[0-9a-fA-F]+$/.test(text)) throw this.wrong(`an escape needs ${digits} hex digits`);
    this.at += digits;
    return String.fromCharCode(Number.parseInt(text, 16));
  }

  private set(): CharTest {
    const not = this.take('^');
    const ranges: (readonly [number, number])[] = [];
    const classes: RegExp[] = [];
    while (!this.take(']')) {
      const first = this.setItem();
      const range = this.rangeFrom(first);
      if (range !== undefined) ranges.push(range);
      else if (first.classes !== undefined && !first.not) classes.push(...first.classes);
      else if (first.classes !== undefined)
        classes.push(...first.classes.map(({ source }) => new RegExp(source.replace('\\p', '\\P'), 'u')));
      else ranges.push(...(first.not ? opposite(first.ranges) : first.ranges));
    }
    return classes.length === 0 ? { not, ranges } : { not, ranges, classes };
  }

  /** `a-z`, when that is what stands there. */
  private rangeFrom(first: CharTest): readonly [number, number] | undefined {
    const [only] = first.ranges;
    const isOne = first.ranges.length === 1 && !first.not && only?.[0] === only?.[1];
    if (!isOne || this.source[this.at] !== '-' || (this.source[this.at + 1] ?? ']') === ']') return undefined;
    this.at += 1;
    const last = this.setItem();
    const [from, to] = [only?.[0] ?? 0, last.ranges[0]?.[1] ?? 0];
    if (last.not || last.ranges.length > 1 || to < from) throw this.wrong('a range of a class is in the wrong order');
    return [from, to];
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
    return new PatternError(`${message} (at character ${this.at + 1})`);
  }
}

function one(char: string): CharTest {
  const code = char.codePointAt(0) ?? 0;
  return { not: false, ranges: [[code, code]] };
}

const LAST_CODE = 0x10ffff;

function opposite(ranges: CharTest['ranges']): CharTest['ranges'] {
  const result: (readonly [number, number])[] = [];
  let from = 0;
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (first > from) result.push([from, first - 1]);
    from = last + 1;
  }
  if (from <= LAST_CODE) result.push([from, LAST_CODE]);
  return result;
}
