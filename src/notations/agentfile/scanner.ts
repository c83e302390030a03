import type { Position } from '../../base/problem.js';
import { placesOf } from '../../text/places.js';
import type { Written } from './statements.js';

/** A token of a line. The `text` of a quoted text is its value, without quotes and escapes. */
export interface Token {
  readonly kind: 'word' | 'variable' | 'text' | 'path' | '->' | ',' | '=' | 'other' | 'end';
  readonly text: string;
  readonly at: Position;
  /** The start in the source of a text in `"` (not `"""`) that spans several lines. */
  readonly spread?: number;
}

/** Parts of an unquoted token, and of a path. */
const PLAIN = /[^ \t\r\n",#=-]+|-(?!>)/y;
const PATH = /[^ \t\r\n#]+/y;
const WORD = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };

/** Splits an Agentfile into tokens, in linear time. Lines end with LF; a CR before it is a blank. */
export class Scanner {
  private offset = 0;
  private ahead: Token | undefined;
  private readonly places;
  /** Up to here a text in `"` (not `"""`) ends with its line: searching for each end again would take quadratic time. */
  private tightTo = 0;

  constructor(
    private readonly source: string,
    file: string,
    private readonly unclosed: (at: Position, mark: '"' | '"""') => void,
  ) {
    this.places = placesOf(source, file);
    if (source.startsWith('\uFEFF')) this.offset = 1;
  }

  /** The place of the next token. */
  get here(): Position {
    return this.places.at(this.offset);
  }

  /** True if nothing is left. */
  get atEnd(): boolean {
    return this.offset >= this.source.length;
  }

  /** Rewinds to the end of the line on which an overlong text began, and returns its part on that line. */
  backTo(start: number): string {
    const end = this.endOfLine(start);
    this.tightTo = this.offset;
    this.offset = end;
    this.ahead = undefined;
    return unescape(this.source.slice(start, end).trimEnd());
  }

  /** Returns the next token of the line without consuming it. */
  peek(): Token {
    return (this.ahead ??= this.read());
  }

  /** Consumes the next token of the line. At the end of the line returns `end`, and stays there. */
  take(): Token {
    const token = this.peek();
    this.ahead = undefined;
    return token;
  }

  private read(): Token {
    this.skipBlanks();
    const at = this.here;
    const char = this.source[this.offset];
    if (char === undefined || char === '\n') return { kind: 'end', text: '', at };
    if (char === '"') return this.readText(at);
    if (char === ',' || char === '=') {
      this.offset += 1;
      return { kind: char, text: char, at };
    }
    if (this.source.startsWith('->', this.offset)) {
      this.offset += 2;
      return { kind: '->', text: '->', at };
    }
    const text = this.readWhile(PLAIN);
    if (WORD.test(text)) return { kind: 'word', text, at };
    if (text.startsWith('$') && WORD.test(text.slice(1))) return { kind: 'variable', text: text.slice(1), at };
    return { kind: 'other', text, at };
  }

  /** Consumes the path after `FROM`: everything up to a blank or `#`. */
  takePath(): Token {
    this.skipBlanks();
    const at = this.here;
    if (this.source[this.offset] === '"') return this.readText(at);
    const text = this.readWhile(PATH);
    return text === '' ? { kind: 'end', text, at } : { kind: 'path', text, at };
  }

  /** Skips the rest of the line and its end, unless the scanner is already at the start of a line. */
  endLine(): void {
    this.ahead = undefined;
    if (this.offset > 0 && this.source[this.offset - 1] === '\n') return;
    this.nextLine();
  }

  private nextLine(): void {
    const end = this.endOfLine(this.offset);
    this.offset = Math.min(end + 1, this.source.length);
  }

  /** Skips blank lines and comments. Returns whether the next line is indented. */
  nextStatement(): { readonly indented: boolean } {
    for (;;) {
      const start = this.offset;
      this.skipBlanks();
      if (this.source[this.offset] !== '\n') return { indented: this.offset > start };
      this.offset += 1;
    }
  }

  /** Reads indented lines without their common indentation, until one is not indented or `stop` accepts its first word. */
  indentedText(stop: (firstWord: string) => boolean): Written | undefined {
    const lines: string[] = [];
    let at: Position | undefined;
    let kept = this.offset;
    while (!this.atEnd) {
      const start = this.offset;
      const end = this.endOfLine(start);
      const line = this.source.slice(start, end).trimEnd();
      const word = line.trimStart();
      const isComment = word.startsWith('#');
      if (word !== '' && !isComment && (word === line || stop(/^\S*/.exec(word)?.[0] ?? ''))) break;
      if (word !== '' && !isComment && at === undefined) at = this.places.at(start + line.length - word.length);
      if (!isComment && (word !== '' || at !== undefined)) lines.push(line);
      this.nextLine();
      if (word !== '' && !isComment) kept = this.offset;
    }
    this.offset = kept;
    if (at === undefined) return undefined;
    while (lines.at(-1) === '') lines.pop();
    const indents = lines.filter((line) => line !== '').map((line) => line.length - line.trimStart().length);
    const indent = indents.reduce((least, one) => Math.min(least, one), Infinity);
    return { text: lines.map((line) => line.slice(indent)).join('\n'), at };
  }

  private endOfLine(from: number): number {
    const end = this.source.indexOf('\n', from);
    return end === -1 ? this.source.length : end;
  }

  private skipBlanks(): void {
    while (' \t\r'.includes(this.source[this.offset] ?? 'x')) this.offset += 1;
    if (this.source[this.offset] === '#') this.offset = this.endOfLine(this.offset);
  }

  /** Consumes matches of a sticky pattern for as long as there are any. */
  private readWhile(part: RegExp): string {
    const start = this.offset;
    part.lastIndex = start;
    while (part.test(this.source)) this.offset = part.lastIndex;
    return this.source.slice(start, this.offset);
  }

  private readText(at: Position): Token {
    if (this.source.startsWith('"""', this.offset)) return this.readBlock(at);
    const start = this.offset + 1;
    const lineEnd = this.endOfLine(start);
    const end = this.closingQuote(start, start < this.tightTo ? lineEnd : this.source.length);
    if (end === undefined) {
      if (start >= this.tightTo) this.tightTo = this.source.length;
      this.unclosed(at, '"');
      this.offset = lineEnd;
      return { kind: 'text', text: unescape(this.source.slice(start, lineEnd).trimEnd()), at };
    }
    this.offset = end + 1;
    const text = unescape(this.source.slice(start, end).replaceAll('\r\n', '\n'));
    return { kind: 'text', text, at, ...(end > lineEnd && { spread: start }) };
  }

  private closingQuote(from: number, to: number): number | undefined {
    for (let offset = from; offset < to; offset += 1) {
      const char = this.source[offset];
      if (char === '\\') offset += 1;
      else if (char === '"') return offset;
    }
    return undefined;
  }

  /** Reads a text between triple quotes, unchanged except for one line end removed on each side. */
  private readBlock(at: Position): Token {
    const start = this.offset + 3;
    const end = this.source.indexOf('"""', start);
    if (end === -1) {
      this.unclosed(at, '"""');
      this.offset = this.endOfLine(start);
      return { kind: 'text', text: this.source.slice(start, this.offset).trim(), at };
    }
    this.offset = end + 3;
    const text = this.source.slice(start, end).replaceAll('\r\n', '\n');
    return { kind: 'text', text: text.replace(/^\n/, '').replace(/\n$/, ''), at };
  }
}

/** Returns the value of a text in `"` (not `"""`). Unknown escapes are kept as written. */
function unescape(text: string): string {
  return text.includes('\\') ? text.replaceAll(/\\([^])/g, (whole, char: string) => ESCAPED[char] ?? whole) : text;
}
