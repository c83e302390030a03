import { cellsOfText } from '../../base/text.js';
import type { Moment } from './live-lines.js';
import { unpainted } from './style.js';
import { sameTexts } from '../../base/collections.js';

/** Lines at the bottom of a terminal that change in place. */
export interface Board {
  /** Writes permanent lines above the board, with the next frame. */
  write(lines: readonly string[]): void;
  /** Writes a permanent line at once, even while the board is suspended. */
  say(line: string): void;
  /** Runs a function that writes to the same terminal while the board is removed; if suspended, later. */
  aside(body: () => void): void;
  /** Removes the board until `resume`. Lines written meanwhile wait. */
  suspend(): void;
  resume(): void;
  stop(): void;
}

/** A terminal. Some report no size, or a size of 0. */
export interface BoardScreen {
  readonly columns?: number;
  readonly rows?: number;
  /** Reads the size of the terminal, as Node does on a resize signal; a frame may be due before that signal. */
  _refreshSize?(): void;
  write(text: string): unknown;
}

export interface BoardOptions {
  readonly screen: BoardScreen;
  /** Returns the current lines, each at most `columns` wide. Empty for no board. */
  readonly picture: (moment: Moment) => readonly string[];
  /** Whether the terminal wraps lines that are too wide after it becomes narrower, as most terminals do. */
  readonly breaksLines: boolean;
}

const FRAME_MS = 100;
/** Maximum height: more lines are hard to read, and a terminal that becomes lower would scroll them out of reach. */
const TALLEST = 24;
/** Disables wrapping while drawing: lines must not continue on the next one if the terminal becomes narrower at that moment. */
const WRAP_OFF = '\u001b[?7l';
const WRAP_ON = '\u001b[?7h';
const ERASE_LINE_END = '\u001b[K';
const ERASE_DOWN = '\u001b[J';

/** A board that draws ten frames per second, and only the lines that changed. It keeps no process alive. */
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

/** Tracks what part of the board is on the screen. */
class Pen {
  /** Permanent lines to write above the next frame. */
  above: string[] = [];
  private lines: readonly string[] = [];
  /** Width of the screen when the lines were drawn. */
  private columns = 0;
  private frame = 0;

  constructor(private readonly options: BoardOptions) {}

  draw(): void {
    const { screen } = this.options;
    const asked = sizeOf(screen);
    const first = this.picture(asked);
    // Formatting many steps takes time, so the size may have changed.
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

  /** Lines that a terminal scrolls out of sight can't be erased: the whole board must be visible even at half the width. */
  private picture({ columns, rows }: Size): readonly string[] {
    const { picture, breaksLines } = this.options;
    // The last column stays free: some terminals wrap when it is used.
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

/** Moves up to the first of this many lines and writes `then`. Empty for no lines. */
function upBy(lines: number, then: string): string {
  return lines === 0 ? '' : `\r\u001b[${lines}A${then}`;
}

/** The number of screen lines that wrapped lines occupy. */
function heightOf(lines: readonly string[], columns: number): number {
  const each = lines.map((line) => Math.max(1, Math.ceil(cellsOfText(unpainted(line)) / columns)));
  return each.reduce((sum, height) => sum + height, 0);
}

/** Draws over existing lines. Empty if nothing changed. */
function changes(before: readonly string[], lines: readonly string[]): string {
  if (sameTexts(before, lines)) return '';
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
