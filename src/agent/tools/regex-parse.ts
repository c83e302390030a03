import { badInput } from './tool-input.js';

/**
 * A program for the matcher in regex-match.ts. Each instruction goes on to the next one unless it says otherwise.
 * `fork` goes on at both places.
 */
export type Instruction =
  | { readonly op: 'char'; readonly set: CharTest }
  | { readonly op: 'fork'; to: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'at'; readonly where: 'start' | 'end' | 'edge' | 'inside' }
  | { readonly op: 'match' };

/** Ranges of UTF-16 code units, first and last. */
export interface CharTest {
  readonly not: boolean;
  readonly ranges: readonly (readonly [number, number])[];
}

type Node =
  | { readonly kind: 'char'; readonly set: CharTest }
  | { readonly kind: 'at'; readonly where: 'start' | 'end' | 'edge' | 'inside' }
  | { readonly kind: 'list'; readonly items: readonly Node[] }
  | { readonly kind: 'choice'; readonly options: readonly Node[] }
  | { readonly kind: 'repeat'; readonly item: Node; readonly least: number; readonly most: number };

const MAX_PROGRAM = 2_000;
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
 * Compiles a regular expression. Supported is what can be matched in linear time: characters, classes, `.`, `\d \w \s \b` and
 * their opposites, `^ $`, groups, `|`, `* + ? {m,n}` (lazy forms mean the same here). Look-around and back references are
 * refused with a message.
 *
 * @throws SkeinError `SKEIN_TOOL_FAILED` for anything else, and for expressions that unfold to more than 2,000 steps
 */
export function compileRegex(source: string): readonly Instruction[] {
  if (source.length > MAX_PATTERN) throw badInput(`a pattern of ${source.length} characters is too long`);
  const program = new Program();
  emit(new Parser(source).parse(), program);
  program.steps.push({ op: 'match' });
  return program.steps;
}

class Program {
  readonly steps: Instruction[] = [];
  private left = 5 * MAX_PROGRAM;

  /** Empty groups write no step, so what is counted is the visits to nodes. */
  visit(): void {
    this.left -= 1;
    if (this.left < 0 || this.steps.length > MAX_PROGRAM) {
      throw badInput('the pattern is too large when its repetitions are written out');
    }
  }
}

function emit(node: Node, program: Program): void {
  program.visit();
  switch (node.kind) {
    case 'char':
      program.steps.push({ op: 'char', set: node.set });
      return;
    case 'at':
      program.steps.push({ op: 'at', where: node.where });
      return;
    case 'list':
      for (const item of node.items) emit(item, program);
      return;
    case 'choice':
      emitChoice(node.options, program);
      return;
    case 'repeat':
      emitRepeat(node, program);
  }
}

function emitChoice(options: readonly Node[], program: Program): void {
  const ends: { to: number }[] = [];
  for (const [i, option] of options.entries()) {
    if (i === options.length - 1) {
      emit(option, program);
      continue;
    }
    const fork: Instruction = { op: 'fork', to: 0 };
    program.steps.push(fork);
    emit(option, program);
    const end: Instruction = { op: 'jump', to: 0 };
    program.steps.push(end);
    ends.push(end);
    fork.to = program.steps.length;
  }
  for (const end of ends) end.to = program.steps.length;
}

function emitRepeat(node: { item: Node; least: number; most: number }, program: Program): void {
  for (let i = 0; i < node.least; i++) emit(node.item, program);
  if (node.most === Infinity) {
    const fork: Instruction = { op: 'fork', to: 0 };
    const back = program.steps.length;
    program.steps.push(fork);
    emit(node.item, program);
    program.steps.push({ op: 'jump', to: back });
    fork.to = program.steps.length;
    return;
  }
  const forks: { to: number }[] = [];
  for (let i = node.least; i < node.most; i++) {
    const fork: Instruction = { op: 'fork', to: 0 };
    program.steps.push(fork);
    forks.push(fork);
    emit(node.item, program);
  }
  for (const fork of forks) fork.to = program.steps.length;
}

class Parser {
  private at = 0;
  private depth = 0;

  constructor(private readonly source: string) {}

  parse(): Node {
    const node = this.choice();
    if (this.at < this.source.length) throw this.wrong('there is a ")" too many');
    return node;
  }

  private choice(): Node {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw this.wrong('groups are nested too deeply');
    const options = [this.list()];
    while (this.take('|')) options.push(this.list());
    this.depth -= 1;
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { kind: 'choice', options };
  }

  private list(): Node {
    const items: Node[] = [];
    while (this.at < this.source.length && this.source[this.at] !== '|' && this.source[this.at] !== ')') {
      items.push(this.repeated());
    }
    return { kind: 'list', items };
  }

  private repeated(): Node {
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

  private single(): Node {
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

  private group(): Node {
    if (this.take('?') && !this.take(':')) {
      throw this.wrong('look-around and named groups are not supported; use (?:...)');
    }
    const inner = this.choice();
    if (!this.take(')')) throw this.wrong('a group is not closed');
    return inner;
  }

  private escape(): Node {
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
