import { cellsOf } from '../base/text.js';

/** Directions in which a line leaves the middle of a cell. */
const [UP, DOWN, LEFT, RIGHT] = [1, 2, 4, 8];

/** Line characters, indexed by the directions that meet in a cell. */
const LINES = ' ╵╷│╴╯╮┤╶╰╭├─┴┬┼';
const DASHED: ReadonlyMap<number, string> = new Map([
  [UP | DOWN, '┊'],
  [LEFT | RIGHT, '┄'],
]);
/** ASCII replacements for the characters of boxes and lines. */
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
  /** Directions of the lines in the cell; 0 if `sign` holds its content. */
  ways: number;
  dashed: boolean;
  /** Text or part of a border. Empty for the second cell of a wide character. */
  sign: string | undefined;
  /** Whether the cell is coloured: part of a border or text whose content may be influenced from outside. */
  tinted: boolean;
}

/** Colours the tinted cells. */
type Paint = (text: string) => string;

/** A grid of terminal cells that grows as it is written to. Lines that meet are joined; text and boxes cover them. */
export class Canvas {
  private readonly rows: Cell[][] = [];
  private tinted = false;

  /** @param unicode draws lines and corners in Unicode, otherwise in ASCII */
  constructor(private readonly unicode: boolean) {}

  /** Tints what `draw` writes if `tinted` is true. */
  inTint(tinted: boolean, draw: () => void): void {
    this.tinted = tinted;
    draw();
    this.tinted = false;
  }

  /** Draws a line between two rows of a column, both included. */
  down(x: number, from: number, to: number, dashed: boolean): void {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    for (let y = first; y <= last; y += 1) {
      const ways = (y > first ? UP : 0) | (y < last ? DOWN : 0);
      this.join(x, y, ways, dashed);
    }
  }

  /** Draws a line between two columns of a row, both included. */
  across(y: number, from: number, to: number, dashed: boolean): void {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    for (let x = first; x <= last; x += 1) {
      const ways = (x > first ? LEFT : 0) | (x < last ? RIGHT : 0);
      this.join(x, y, ways, dashed);
    }
  }

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

  /** Returns everything written so far, without spaces at the ends of lines. */
  text(paint: Paint = (text) => text): string {
    return this.rows.map((row) => this.line(row, paint)).join('\n');
  }

  /** Adjacent tinted cells are painted in one call. */
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
