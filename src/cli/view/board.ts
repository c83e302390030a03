import { fitCells, printable } from './printable.js';
import type { RunLog, StepLog } from './run-log.js';
import { countText, factsText, tookText } from './step-text.js';
import type { Style } from './style.js';

/** The lines at the foot of a terminal that change in place. */
export interface Board {
  /** Writes lines that stay, above the board. */
  write(lines: readonly string[]): void;
  /** Writes a line that stays, also while the board is away. */
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
  write(text: string): unknown;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
const START_OF_LINE = '\r';
const ERASE_DOWN = '\u001b[J';

/**
 * A board with one line for each running step. It redraws itself ten times a second and keeps no process alive.
 *
 * @example
 * const board = createBoard(log, style, process.stderr);
 * board.write(['step a started']);
 * board.stop();
 */
export function createBoard(log: RunLog, style: Style, screen: BoardScreen): Board {
  let drawn = 0;
  let frame = 0;
  let suspended = false;
  const later = createLater();

  const erase = (): string => (drawn === 0 ? '' : `${START_OF_LINE}\u001b[${drawn}A${ERASE_DOWN}`);
  const redraw = (above: readonly string[]): void => {
    const lines = boardLines(log, style, { screen, frame });
    const text = erase() + textOf([...above, ...lines]);
    drawn = lines.length;
    if (text !== '') screen.write(text);
  };
  const clear = (): void => {
    if (drawn > 0) screen.write(erase());
    drawn = 0;
  };
  const timer = setInterval(() => {
    frame += 1;
    if (!suspended && (drawn > 0 || log.running().length > 0)) redraw([]);
  }, FRAME_MS);
  timer.unref();

  return {
    write(lines) {
      // Without lines the next frame is soon enough.
      if (lines.length === 0) return;
      if (suspended) later.add(() => screen.write(textOf(lines)));
      else redraw(lines);
    },
    aside(body) {
      later.add(body);
      if (suspended) return;
      clear();
      later.catchUp();
      redraw([]);
    },
    say(line) {
      if (suspended) screen.write(`${line}\n`);
      else redraw([line]);
    },
    suspend() {
      if (suspended) return;
      suspended = true;
      clear();
    },
    resume() {
      if (!suspended) return;
      suspended = false;
      later.catchUp();
      redraw([]);
    },
    stop() {
      clearInterval(timer);
      clear();
      later.catchUp();
      suspended = true;
    },
  };
}

/** What has to wait until the board is back. */
function createLater(): { add(body: () => void): void; catchUp(): void } {
  let bodies: (() => void)[] = [];
  return {
    add: (body) => void bodies.push(body),
    catchUp() {
      const now = bodies;
      bodies = [];
      for (const body of now) body();
    },
  };
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function boardLines(
  log: RunLog,
  style: Style,
  { screen, frame }: { readonly screen: BoardScreen; readonly frame: number },
): readonly string[] {
  const columns = sizeOr(screen.columns, 80);
  const most = Math.max(1, sizeOr(screen.rows, 24) - 3);
  // What only contains steps shows in them.
  const running = log
    .running()
    .filter(({ kind, reused }) => !reused && kind !== 'call' && kind !== 'map' && kind !== 'loop');
  const shown = running.length > most ? running.slice(0, Math.max(most - 1, 1)) : running;
  const spinner = FRAMES[frame % FRAMES.length] ?? '';
  const now = Date.now();
  // The last column stays free: a full line would wrap.
  const lines = shown.map((step) => colored(fitCells(`${spinner} ${stepText(step, now)}`, columns - 1), step, style));
  const hidden = running.length - shown.length;
  return hidden === 0 ? lines : [...lines, style.dim(fitCells(`  and ${countText(hidden, 'step')} more`, columns - 1))];
}

function stepText(step: StepLog, now: number): string {
  const tools = [...step.openTools.values()];
  const parts = [
    printable(step.path),
    factsText(step),
    tools.length === 0 ? '' : `runs ${printable([...new Set(tools)].join(', '))}`,
    step.activity === undefined ? '' : printable(step.activity),
    tookText(step, now),
  ];
  return parts.filter((part) => part !== '').join('  ');
}

/** Colours are put in after cutting, so that no escape sequence is ever cut. */
function colored(line: string, step: StepLog, style: Style): string {
  const path = printable(step.path);
  const at = line.indexOf(path);
  if (at === -1) return line;
  const end = at + path.length;
  return style.accent(line.slice(0, at)) + style.bold(line.slice(at, end)) + style.dim(line.slice(end));
}

function sizeOr(size: number | undefined, fallback: number): number {
  return size !== undefined && Number.isFinite(size) && size > 0 ? Math.floor(size) : fallback;
}
