import { styleText } from 'node:util';

/** Colours, or none. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly accent: (text: string) => string;
}

/** What decides about colours and the live view. */
export interface ScreenTraits {
  readonly isTTY?: boolean;
}

/**
 * Whether a stream gets colours: it is a terminal, not a dumb one, and nobody asked for none (`--no-color`, `NO_COLOR`).
 *
 * @example
 * const style = createStyle(wantsColor(process.stderr, process.env, true));
 */
export function wantsColor(stream: ScreenTraits, env: NodeJS.ProcessEnv, flag: boolean): boolean {
  const refused = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  return flag && !refused && stream.isTTY === true && env['TERM'] !== 'dumb';
}

/** The colours of the screens of this program, or functions that change nothing. */
export function createStyle(colored: boolean): Style {
  const paint = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    colored ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    good: paint('green'),
    bad: paint('red'),
    warn: paint('yellow'),
    accent: paint('cyan'),
  };
}

/**
 * Whether signs beyond ASCII can be shown: the first locale that is set says so, and without one they can.
 *
 * @example
 * hasUnicode({ LANG: 'C' }); // false
 */
export function hasUnicode(env: NodeJS.ProcessEnv = process.env): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => value !== undefined && value !== '');
  return env['TERM'] !== 'dumb' && (locale === undefined || /utf-?8/i.test(locale));
}
