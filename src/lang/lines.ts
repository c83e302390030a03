/** Returns whether one of a text's lines equals this one, ignoring the spaces around it. */
export function hasLine(text: string, line: string): boolean {
  return text.includes(line) && text.split('\n').some((each) => each.trim() === line);
}

/** Returns a text without the lines that equal one of these, trimmed. */
export function withoutLines(text: string, lines: readonly string[]): string {
  return text
    .split('\n')
    .filter((each) => !lines.includes(each.trim()))
    .join('\n')
    .trim();
}

/** Returns the share of a text's lines that another text lacks, from 0 to 1, in thousandths. Empty lines do not count. */
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

export interface RoundChange {
  /** See {@link newLines}; 1 in the first round. */
  readonly change: number;
  readonly repeated: boolean;
  readonly oscillating: boolean;
}

export class RoundTexts {
  /** Newest first. */
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
