/** Colours, or none, and the signs that a terminal can show. */
export interface Style {
  readonly signs: Signs;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly accent: (text: string) => string;
}

/** Marks and lines on the screens of this program. */
const UNICODE = {
  done: '✔',
  failed: '✖',
  skipped: '○',
  stopped: '■',
  paused: '?',
  waiting: '·',
  differs: '≠',
  /** Marks where text is cut. */
  cut: '…',
  /** Separates the parts of a line. */
  dot: '·',
  bar: '│',
  /** Before a step inside another one, before the last such step, and before the content of a step that is not the last. */
  branch: '├ ',
  lastBranch: '└ ',
  trunk: '│ ',
  /** Frames of the spinner while a step runs. */
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as readonly string[],
};

export type Signs = Readonly<typeof UNICODE>;

const ASCII: Signs = {
  done: '+',
  failed: 'x',
  skipped: '-',
  stopped: '!',
  paused: '?',
  waiting: '.',
  differs: '!=',
  cut: '...',
  dot: '|',
  bar: '|',
  branch: '|-',
  lastBranch: '`-',
  trunk: '| ',
  spinner: ['|', '/', '-', '\\'],
};

/** The properties that decide on colours and the live view. */
export interface ScreenTraits {
  readonly isTTY?: boolean;
}

/** Whether a stream gets colours: it is a terminal, not a dumb one, and colours are not disabled (`--no-color`, `NO_COLOR`). */
export function wantsColor(stream: ScreenTraits, env: NodeJS.ProcessEnv, flag: boolean): boolean {
  const refused = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  return flag && !refused && stream.isTTY === true && env['TERM'] !== 'dumb';
}

/** The style for a stream of this process. `color`: the value of the flag. */
export function styleFor(stream: ScreenTraits, color = true): Style {
  return createStyle(wantsColor(stream, process.env, color));
}

/** The colours and signs of this program. Without colours, the functions return text unchanged; without Unicode, signs are ASCII. */
export function createStyle(colored: boolean, unicode = hasUnicode()): Style {
  const paint = (on: number, off: number) => (text: string) =>
    colored ? `${ESCAPE}[${on}m${text}${ESCAPE}[${off}m` : text;
  return {
    signs: unicode ? UNICODE : ASCII,
    bold: paint(1, 22),
    dim: paint(2, 22),
    good: paint(32, 39),
    bad: paint(31, 39),
    warn: paint(33, 39),
    accent: paint(36, 39),
  };
}

const ESCAPE = '\u001B';
const PAINT = new RegExp(`${ESCAPE}\\[\\d+m`, 'g');

/** A text without its colours. */
export function unpainted(text: string): string {
  return text.replaceAll(PAINT, '');
}

/** Whether lines may change in place: on a terminal that can move its cursor, unless `CI` or `NO_COLOR` forbids it. */
export function isLive(stream: ScreenTraits, env: NodeJS.ProcessEnv): boolean {
  const builds = !['', '0', 'false'].includes(env['CI'] ?? '');
  return stream.isTTY === true && env['TERM'] !== 'dumb' && !builds && (env['NO_COLOR'] ?? '') === '';
}

/** Whether a terminal wraps existing lines when it becomes narrower. Most do; those named here cut the lines off. */
export function breaksLines(env: NodeJS.ProcessEnv): boolean {
  if (env['TMUX'] !== undefined) return true;
  return !/^(?:linux|rxvt)/.test(env['TERM'] ?? '') && env['XTERM_VERSION'] === undefined && env['STY'] === undefined;
}

/** Whether signs beyond ASCII can be shown: the first locale that is set decides. Without a locale they can. */
export function hasUnicode(env: NodeJS.ProcessEnv = process.env): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => value !== undefined && value !== '');
  return env['TERM'] !== 'dumb' && (locale === undefined || /utf-?8/i.test(locale));
}
