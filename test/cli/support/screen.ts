import { cellsOf } from '../../../src/base/text.js';

/** One line of a terminal. Of a wide character the second cell is empty. */
interface Line {
  cells: string[];
  /** It goes on in the next one: it was too long. */
  goesOn: boolean;
}

/** How a terminal that is being shown. */
export interface ScreenOptions {
  readonly columns: number;
  readonly rows: number;
  /** A terminal that gets narrower or wider breaks its lines anew, as most do; else it cuts them off. */
  readonly breaks?: boolean;
}

/**
 * What a terminal makes of the text that it gets: lines that scroll out of sight stay to be looked at. A change of its size stands in the text as `CSI 8;ROWS;COLUMNS t`.
 * It knows the control sequences that the program may use, and throws at all others.
 */
export class Screen {
  private lines: Line[] = [emptyLine()];
  private top = 0;
  private row = 0;
  private column = 0;
  private wraps = true;
  private columns: number;
  private rows: number;
  private readonly breaks: boolean;

  constructor({ columns, rows, breaks = true }: ScreenOptions) {
    this.columns = columns;
    this.rows = rows;
    this.breaks = breaks;
  }

  write(text: string): void {
    for (const [token, mode = '', counts = '', command] of text.replaceAll('\u001b', '␛').matchAll(TOKENS)) {
      if (token === '␛') throw new Error('an escape character that begins no control sequence');
      if (command !== undefined) this.control(token, mode, counts.split(';').map(Number), command);
      else if (token === '\r') this.column = 0;
      else if (token === '\n') this.feed();
      else for (const char of token) this.put(char);
    }
  }

  /** Everything, what has scrolled out of sight included. */
  all(): readonly string[] {
    return this.lines.map(({ cells }) => cells.join('').trimEnd());
  }

  /** What can be seen, down to the line of the cursor. */
  visible(): readonly string[] {
    return this.all().slice(this.top);
  }

  /** Lines do not go on in the next one only while something is drawn. */
  get isAtRest(): boolean {
    return this.wraps;
  }

  resize(columns: number, rows: number): void {
    if (this.breaks) this.breakAnew(columns);
    else for (const line of this.lines.slice(this.top)) line.cells.length = Math.min(line.cells.length, columns);
    this.columns = columns;
    this.rows = rows;
    this.top = Math.max(0, Math.min(this.top, this.lines.length - rows), this.row - rows + 1);
  }

  private control(token: string, mode: string, counts: readonly number[], command: string): void {
    const [count = 0, second = 0, third = 0] = counts;
    if (command === 'm') return;
    if (command === 'A') this.row = Math.max(this.top, this.row - Math.max(1, count));
    else if (command === 'K' && count === 0) this.line.cells.length = Math.min(this.line.cells.length, this.column);
    else if (command === 'J' && count === 0) {
      this.line.cells.length = Math.min(this.line.cells.length, this.column);
      this.line.goesOn = false;
      this.lines.length = this.row + 1;
    } else if (mode === '?' && count === 7) this.wraps = command === 'h';
    else if (command === 't' && count === 8) this.resize(third, second);
    else throw new Error(`unexpected control sequence ${JSON.stringify(token)}`);
  }

  private get line(): Line {
    return (this.lines[this.row] ??= emptyLine());
  }

  private feed(): void {
    this.row += 1;
    this.lines[this.row] ??= emptyLine();
    this.top = Math.max(this.top, this.row - this.rows + 1);
  }

  private put(char: string): void {
    const width = cellsOf(char);
    if (width === 0) {
      const at = Math.max(0, this.column - 1);
      this.line.cells[at] = (this.line.cells[at] ?? '') + char;
      return;
    }
    if (this.column + width > this.columns) {
      if (this.wraps) {
        this.line.goesOn = true;
        this.feed();
        this.column = 0;
      } else this.column = Math.max(0, this.columns - width);
    }
    const { cells } = this.line;
    while (cells.length < this.column) cells.push(' ');
    cells.splice(this.column, width, char, ...(width === 2 ? [''] : []));
    this.column += width;
  }

  private breakAnew(columns: number): void {
    const lines: Line[] = [];
    let cursor = 0;
    let whole: string[] = [];
    this.lines.forEach(({ cells, goesOn }, at) => {
      if (at === this.row) cursor = lines.length + Math.floor((whole.length + this.column) / columns);
      whole.push(...cells);
      if (goesOn) return;
      for (let start = 0; start === 0 || start < whole.length; start += columns)
        lines.push({ cells: whole.slice(start, start + columns), goesOn: start + columns < whole.length });
      whole = [];
    });
    this.lines = lines;
    // What was in sight above the cursor scrolls out of it when it takes more lines.
    this.top = Math.max(0, cursor - (this.row - this.top));
    this.row = cursor;
  }
}

const TOKENS = /␛\[(\??)([\d;]*)([A-Za-z])|\r|\n|[^␛\r\n]+|␛/g;

function emptyLine(): Line {
  return { cells: [], goesOn: false };
}
