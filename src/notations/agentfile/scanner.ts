import type { Position } from '../../base/problem.js';
import { placesOf } from '../../text/places.js';

/** A piece of a line. `text` of a text is what it means, without quotes and escapes. */
export interface Token {
  readonly kind: 'word' | 'variable' | 'text' | 'path' | '->' | ',' | '=' | 'other' | 'end';
  readonly text: string;
  readonly at: Position;
  /** Of a text between single quotes that goes on over several lines: where it begins in the source. */
  readonly spread?: number;
}

/** The text of the lines between two places, for a text that stands without quotes. */
export interface Indented {
  readonly text: string;
  readonly at: Position;
}

/** Parts of a piece without quotes, and of a path. */
const PLAIN = /[^ \t\r\n",#=-]+|-(?!>)/y;
const PATH = /[^ \t\r\n#]+/y;
const WORD = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };

/**
 * Reads an Agentfile piece by piece. Each character is looked at a bounded number of times, so the time is linear in the text. Lines end with LF;
 * a CR before it is a blank.
 */
export class Scanner {
  private offset = 0;
  private ahead: Token | undefined;
  private readonly places;
  /** Up to here a text between single quotes ends with its line: its end was looked for once, and looking again for each would take the square of the time. */
  private tightTo = 0;

  constructor(
    private readonly source: string,
    file: string,
    private readonly unclosed: (at: Position, mark: '"' | '"""') => void,
  ) {
    this.places = placesOf(source, file);
    if (source.startsWith('\uFEFF')) this.offset = 1;
  }

  /** Where the next piece would begin. */
  get here(): Position {
    return this.places.at(this.offset);
  }

  /** Nothing is left. */
  get atEnd(): boolean {
    return this.offset >= this.source.length;
  }

  /**
   * Goes back to the end of the line on which a text began that was not meant to be so long; gives what of it stands on that line. Up to here, texts end with their lines.
   */
  backTo(start: number): string {
    const end = this.endOfLine(start);
    this.tightTo = this.offset;
    this.offset = end;
    this.ahead = undefined;
    return unescape(this.source.slice(start, end).trimEnd());
  }

  /** The next piece of the line, which stays the next one. */
  peek(): Token {
    return (this.ahead ??= this.read());
  }

  /** The next piece of the line; `end` at its end, which is not passed. */
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

  /** The next piece, as the path after `FROM`, which was just taken: everything up to a blank or `#`. */
  takePath(): Token {
    this.skipBlanks();
    const at = this.here;
    if (this.source[this.offset] === '"') return this.readText(at);
    const text = this.readWhile(PATH);
    return text === '' ? { kind: 'end', text, at } : { kind: 'path', text, at };
  }

  /** Passes the rest of the line and its end, unless a new line was begun. */
  endLine(): void {
    this.ahead = undefined;
    if (this.offset > 0 && this.source[this.offset - 1] === '\n') return;
    this.nextLine();
  }

  private nextLine(): void {
    const end = this.endOfLine(this.offset);
    this.offset = Math.min(end + 1, this.source.length);
  }

  /** Passes blank lines and comments; tells whether the line that follows is indented. */
  nextStatement(): { readonly indented: boolean } {
    for (;;) {
      const start = this.offset;
      this.skipBlanks();
      if (this.source[this.offset] !== '\n') return { indented: this.offset > start };
      this.offset += 1;
    }
  }

  /**
   * The indented lines from here up to one that is not, or that `stop` says is something else, without their common indentation. Undefined when there is none.
   */
  indentedText(stop: (firstWord: string) => boolean): Indented | undefined {
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

  /** Takes what a sticky pattern finds here, again and again. */
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

  /** A text between triple quotes: as it stands, without one line end on each side. */
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

/** What a text between single quotes means; an escape that is not known stays as it is written. */
function unescape(text: string): string {
  return text.includes('\\') ? text.replaceAll(/\\([^])/g, (whole, char: string) => ESCAPED[char] ?? whole) : text;
}
