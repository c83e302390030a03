import { cellsOf } from '../base/text.js';

/** Ways that lead out of the middle of a cell. */
const [UP, DOWN, LEFT, RIGHT] = [1, 2, 4, 8];

/** Signs by the ways that meet in a cell. */
const LINES = ' ╵╷│╴╯╮┤╶╰╭├─┴┬┼';
const DASHED: ReadonlyMap<number, string> = new Map([
  [UP | DOWN, '┊'],
  [LEFT | RIGHT, '┄'],
]);
/** What the parts of boxes and lines are in ASCII. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  ...Array.from('╯╮┤╰╭├┴┬┼┏┓┗┛┌┐└┘', (char) => [char, '+'] as const),
  ...Array.from('│╵╷┃', (char) => [char, '|'] as const),
  ...Array.from('─╴╶━', (char) => [char, '-'] as const),
  ['┊', ':'],
  ['┄', '.'],
  ['▼', 'v'],
  ['▲', '^'],
  ['…', '~'],
]);

interface Cell {
  /** Ways of lines; 0 when `sign` says what is here. */
  ways: number;
  dashed: boolean;
  /** Text or a border. Empty: the second cell of a wide character. */
  sign: string | undefined;
  /** It stands out: a border or a line of what others may have a say in. */
  tinted: boolean;
}

/** Colours what stands out. */
type Paint = (text: string) => string;

/** A sheet of terminal cells that grows as it is written to. Lines that meet are joined; text and boxes cover them. */
export class Canvas {
  private readonly rows: Cell[][] = [];
  private tinted = false;

  /** `unicode`: lines and corners as Unicode has them; else signs of ASCII. */
  constructor(private readonly unicode: boolean) {}

  /** What `draw` puts here stands out, if `tinted`. */
  inTint(tinted: boolean, draw: () => void): void {
    this.tinted = tinted;
    draw();
    this.tinted = false;
  }

  /** A line between two rows of a column, both included. */
  down(x: number, from: number, to: number, dashed: boolean): void {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    for (let y = first; y <= last; y += 1) {
      const ways = (y > first ? UP : 0) | (y < last ? DOWN : 0);
      this.join(x, y, ways, dashed);
    }
  }

  /** The same between two columns of a row. */
  across(y: number, from: number, to: number, dashed: boolean): void {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    for (let x = first; x <= last; x += 1) {
      const ways = (x > first ? LEFT : 0) | (x < last ? RIGHT : 0);
      this.join(x, y, ways, dashed);
    }
  }

  /** An empty box; what is below it is covered. */
  box(left: number, top: number, width: number, height: number, bold: boolean): void {
    const [a = '', b = '', c = '', d = '', line = '', wall = ''] = bold ? '┏┓┗┛━┃' : '┌┐└┘─│';
    const middle = line.repeat(Math.max(0, width - 2));
    for (let y = top; y < top + height; y += 1) {
      for (let x = left; x < left + width; x += 1) this.clear(x, y);
      this.write(left, y, wall);
      this.write(left + width - 1, y, wall);
    }
    this.write(left, top, a + middle + b);
    this.write(left, top + height - 1, c + middle + d);
  }

  /** The end of a line, as an arrow. */
  tip(x: number, y: number, upwards: boolean): void {
    this.write(x, y, upwards ? '▲' : '▼');
  }

  write(x: number, y: number, text: string): void {
    let at = x;
    for (const char of text) {
      const cells = cellsOf(char);
      for (let part = 0; part < cells; part += 1)
        Object.assign(this.cell(at + part, y), { sign: part === 0 ? char : '', tinted: this.tinted });
      at += cells;
    }
  }

  /** Everything that was written, without spaces at the ends of lines. */
  text(paint: Paint = (text) => text): string {
    return this.rows.map((row) => this.line(row, paint)).join('\n');
  }

  /** Cells beside each other are painted at once. */
  private line(row: readonly Cell[], paint: Paint): string {
    const signs = row.map((cell) => this.signOf(cell));
    const end = signs.findLastIndex((sign) => sign.trim() !== '') + 1;
    let line = '';
    for (let from = 0, to = 0; from < end; from = to) {
      const isTinted = row[from]?.tinted === true;
      while (to < end && (row[to]?.tinted === true) === isTinted) to += 1;
      const text = signs.slice(from, to).join('');
      line += isTinted ? paint(text) : text;
    }
    return line;
  }

  private clear(x: number, y: number): void {
    Object.assign(this.cell(x, y), { ways: 0, dashed: false, sign: undefined, tinted: false });
  }

  private join(x: number, y: number, ways: number, dashed: boolean): void {
    const cell = this.cell(x, y);
    cell.dashed = cell.ways === 0 ? dashed : cell.dashed && dashed;
    cell.ways |= ways;
    cell.tinted ||= this.tinted;
  }

  private cell(x: number, y: number): Cell {
    const [column, line] = [Math.max(0, x), Math.max(0, y)];
    while (this.rows.length <= line) this.rows.push([]);
    const row = this.rows[line] ?? [];
    while (row.length <= column) row.push({ ways: 0, dashed: false, sign: undefined, tinted: false });
    return row[column] ?? { ways: 0, dashed: false, sign: undefined, tinted: false };
  }

  private signOf({ sign, ways, dashed }: Cell): string {
    const drawn = sign ?? (dashed ? DASHED.get(ways) : undefined) ?? LINES[ways] ?? ' ';
    return this.unicode ? drawn : (PLAIN.get(drawn) ?? drawn);
  }
}
