import { cellsOfText } from '../../base/text.js';
import type { Moment } from './live-lines.js';
import { unpainted } from './style.js';

/** The lines at the foot of a terminal that change in place. */
export interface Board {
  /** Writes lines that stay, above the board: with the next frame. */
  write(lines: readonly string[]): void;
  /** Writes a line that stays at once, also while the board is away. */
  say(line: string): void;
  /** Does something that writes to the same terminal, with the board out of its way; while the board is away, later. */
  aside(body: () => void): void;
  /** Takes the board away until `resume`. Lines that are written meanwhile wait. */
  suspend(): void;
  resume(): void;
  stop(): void;
}

/** A terminal. Some report no size, or one of 0. */
export interface BoardScreen {
  readonly columns?: number;
  readonly rows?: number;
  /** Asks the terminal for its size, as Node does when a signal says that it is another one; a frame may be due before that. */
  _refreshSize?(): void;
  write(text: string): unknown;
}

/** What a board is made of. */
export interface BoardOptions {
  readonly screen: BoardScreen;
  /** What is to be seen now, each line no wider than the columns; empty: nothing. */
  readonly picture: (moment: Moment) => readonly string[];
  /** Lines that are wider than a terminal that got narrower are broken by it, as most terminals do. */
  readonly breaksLines: boolean;
}

const FRAME_MS = 100;
/** More lines are no better to read, and a terminal that gets lower would push them out of reach. */
const TALLEST = 24;
/** Lines that are longer than a terminal that is just getting narrower must not go on in the next one. */
const WRAP_OFF = '\u001b[?7l';
const WRAP_ON = '\u001b[?7h';
const ERASE_LINE_END = '\u001b[K';
const ERASE_DOWN = '\u001b[J';

/**
 * A board that draws its picture ten times a second, and of that only the lines that changed. The cursor stays visible, in the line below. It keeps
 * no process alive.
 */
export function createBoard(options: BoardOptions): Board {
  const { screen } = options;
  const pen = new Pen(options);
  let away = false;
  let later: (() => void)[] = [];
  const catchUp = (): void => {
    const bodies = later;
    later = [];
    for (const body of bodies) body();
  };
  const timer = setInterval(() => {
    if (!away) pen.draw();
  }, FRAME_MS);
  timer.unref();

  return {
    write(lines) {
      if (away) later.push(() => screen.write(textOf(lines)));
      else pen.above.push(...lines);
    },
    say(line) {
      if (away) screen.write(`${line}\n`);
      else {
        pen.above.push(line);
        pen.draw();
      }
    },
    aside(body) {
      later.push(body);
      if (away) return;
      pen.clear();
      catchUp();
      pen.draw();
    },
    suspend() {
      if (away) return;
      away = true;
      pen.clear();
    },
    resume() {
      if (!away) return;
      away = false;
      catchUp();
      pen.draw();
    },
    stop() {
      clearInterval(timer);
      away = true;
      catchUp();
      pen.clear();
    },
  };
}

/** Knows what of the board is on the screen. */
class Pen {
  /** Lines that stay, to be written above the next picture. */
  above: string[] = [];
  private lines: readonly string[] = [];
  /** Width of the screen that they were drawn on. */
  private columns = 0;
  private frame = 0;

  constructor(private readonly options: BoardOptions) {}

  draw(): void {
    const { screen } = this.options;
    const asked = sizeOf(screen);
    const first = this.picture(asked);
    // It takes a while to make a picture of many steps.
    const size = sizeOf(screen);
    const { columns } = size;
    const lines = columns === asked.columns && size.rows === asked.rows ? first : this.picture(size);
    const isFresh = this.above.length > 0 || columns !== this.columns;
    const kept = isFresh ? this.erased(columns) + textOf(this.above) : '';
    const text = isFresh ? textOf(lines) : changes(this.lines, lines);
    this.lines = lines;
    this.columns = columns;
    this.above = [];
    if (kept + text !== '') screen.write(kept + (text === '' ? '' : WRAP_OFF + text + WRAP_ON));
  }

  clear(): void {
    const { screen } = this.options;
    const text = this.erased(sizeOf(screen).columns) + textOf(this.above);
    this.lines = [];
    this.above = [];
    if (text !== '') screen.write(text);
  }

  /** What a terminal pushes out of sight can't be erased: also at half of its width all of the board must be in sight. */
  private picture({ columns, rows }: Size): readonly string[] {
    const { picture, breaksLines } = this.options;
    // The last column stays free: some terminals go on in the next line when it is taken.
    const moment = { columns: columns - 1, now: Date.now(), frame: this.frame++ };
    const lines = picture({ ...moment, lines: Math.max(1, Math.min(rows - 2, TALLEST)) });
    if (!breaksLines || heightOf(lines, Math.ceil(columns / 2)) < rows) return lines;
    return picture({ ...moment, lines: Math.max(1, Math.min(Math.floor(rows / 2) - 1, TALLEST)) });
  }

  private erased(columns: number): string {
    const isBroken = this.options.breaksLines && columns < this.columns;
    return upBy(isBroken ? heightOf(this.lines, columns) : this.lines.length, ERASE_DOWN);
  }
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Up to the first of so many lines, if there are any, and what is done there. */
function upBy(lines: number, then: string): string {
  return lines === 0 ? '' : `\r\u001b[${lines}A${then}`;
}

/** How many lines of a screen these take when it breaks them. */
function heightOf(lines: readonly string[], columns: number): number {
  const each = lines.map((line) => Math.max(1, Math.ceil(cellsOfText(unpainted(line)) / columns)));
  return each.reduce((sum, height) => sum + height, 0);
}

/** Draws over lines that are there; empty when nothing changed. */
function changes(before: readonly string[], lines: readonly string[]): string {
  if (before.length === lines.length && before.every((line, at) => line === lines[at])) return '';
  const over = lines.map((line, at) => (line === before[at] ? '\n' : `${line}${ERASE_LINE_END}\n`)).join('');
  return `${upBy(before.length, '')}${over}${lines.length < before.length ? ERASE_DOWN : ''}`;
}

interface Size {
  readonly columns: number;
  readonly rows: number;
}

function sizeOf(screen: BoardScreen): Size {
  screen._refreshSize?.();
  return { columns: sizeOr(screen.columns, 80), rows: sizeOr(screen.rows, 24) };
}

function sizeOr(size: number | undefined, fallback: number): number {
  return size !== undefined && Number.isFinite(size) && size > 0 ? Math.floor(size) : fallback;
}
