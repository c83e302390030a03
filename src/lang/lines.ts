/** Whether one of the lines of a text is this one, without the spaces around it. */
export function hasLine(text: string, line: string): boolean {
  return text.includes(line) && text.split('\n').some((each) => each.trim() === line);
}

/** A text without the lines that are one of these, and without space around what is left. */
export function withoutLines(text: string, lines: readonly string[]): string {
  return text
    .split('\n')
    .filter((each) => !lines.includes(each.trim()))
    .join('\n')
    .trim();
}

/** The share of the lines of a text that another one does not have, from 0 to 1, in thousandths. Empty lines do not count. */
export function newLines(before: string, text: string): number {
  const lines = linesOf(text);
  if (lines.length === 0) return 0;
  const known = new Set(linesOf(before));
  const fresh = lines.filter((line) => !known.has(line)).length;
  return Math.round((fresh / lines.length) * 1_000) / 1_000;
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const trimmed = line.trim();
    return trimmed === '' ? [] : [trimmed];
  });
}

/** What a text is beside those of the rounds before. */
export interface RoundChange {
  /** See {@link newLines}; 1 in the first round. */
  readonly change: number;
  readonly repeated: boolean;
  readonly oscillating: boolean;
}

/** The texts of the last rounds of something that is done again and again. */
export class RoundTexts {
  /** The newest first. */
  private last: readonly string[] = [];

  take(text: string): RoundChange {
    const [one, two, three] = this.last;
    this.last = [text, ...this.last.slice(0, 2)];
    const repeated = text === one;
    return {
      change: one === undefined ? 1 : repeated ? 0 : newLines(one, text),
      repeated,
      oscillating: !repeated && one !== undefined && text === two && one === three,
    };
  }
}
