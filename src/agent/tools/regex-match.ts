import type { CharTest } from './regex-parse.js';
import type { Instruction } from './regex-program.js';
import { compileRegex } from './regex-program.js';

/** Says whether a line contains a match. */
export interface LineMatcher {
  /** False also when the line took more than {@link MAX_LINE_COST} steps; `gaveUp` tells. */
  test(line: string): boolean;
  /** Steps taken so far. */
  readonly cost: number;
  readonly gaveUp: boolean;
}

/** Steps that one line may take, about a tenth of a second. */
export const MAX_LINE_COST = 20_000_000;

/**
 * A matcher that follows all ways through the expression at once, so its time is at most the length of the text times the
 * size of the expression: no pattern can make it hang.
 *
 * @throws SkeinError as {@link compileRegex} does
 * @example
 * lineMatcher('(a+)+$', false).test('a'.repeat(50_000) + '!'); // false, at once
 */
export function lineMatcher(source: string, ignoreCase: boolean): LineMatcher {
  const program = compileRegex(source);
  const tests = program.map((step) => (step.op === 'char' ? charTest(step.set, ignoreCase) : undefined));
  return new SetMatcher(program, tests);
}

type Test = (code: number) => boolean;

class SetMatcher implements LineMatcher {
  cost = 0;
  gaveUp = false;
  /** Marks the position at which an instruction was last entered: each is followed once a position. */
  private readonly entered: Int32Array;

  constructor(
    private readonly program: readonly Instruction[],
    private readonly tests: readonly (Test | undefined)[],
  ) {
    this.entered = new Int32Array(program.length);
  }

  test(line: string): boolean {
    this.entered.fill(-1);
    let current: number[] = [];
    const most = this.cost + MAX_LINE_COST;
    for (let at = 0; at <= line.length; at++) {
      // A match may begin anywhere, so the start is entered at every position.
      if (this.enter(0, line, at, current)) return true;
      if (at === line.length) return false;
      if (this.cost > most) {
        this.gaveUp = true;
        return false;
      }
      const code = line.charCodeAt(at);
      const next: number[] = [];
      this.cost += current.length;
      for (const step of current) {
        if (this.tests[step]?.(code) === true && this.enter(step + 1, line, at + 1, next)) return true;
      }
      current = next;
    }
    return false;
  }

  /** Follows everything that takes no character; true when that reaches the end of the expression. */
  private enter(first: number, line: string, at: number, into: number[]): boolean {
    const open = [first];
    for (let step = open.pop(); step !== undefined; step = open.pop()) {
      if (this.entered[step] === at) continue;
      this.entered[step] = at;
      this.cost += 1;
      const instruction = this.program[step];
      if (instruction === undefined) continue;
      switch (instruction.op) {
        case 'match':
          return true;
        case 'char':
          into.push(step);
          break;
        case 'jump':
          open.push(instruction.to);
          break;
        case 'fork':
          open.push(instruction.to, step + 1);
          break;
        case 'at':
          if (holds(instruction.where, line, at)) open.push(step + 1);
      }
    }
    return false;
  }
}

function holds(where: 'start' | 'end' | 'edge' | 'inside', line: string, at: number): boolean {
  if (where === 'start') return at === 0;
  if (where === 'end') return at === line.length;
  const edge = isWord(line.charCodeAt(at - 1)) !== isWord(line.charCodeAt(at));
  return where === 'edge' ? edge : !edge;
}

function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
}

/** Answers for the first 128 codes are kept as they come. */
function charTest(set: CharTest, ignoreCase: boolean): Test {
  const inRanges = (code: number): boolean => set.ranges.some(([first, last]) => first <= code && code <= last);
  const slow = (code: number): boolean => {
    const hit = ignoreCase ? caseForms(code).some(inRanges) : inRanges(code);
    return hit !== set.not;
  };
  const known: (boolean | undefined)[] = [];
  return (code) => (code < 128 ? (known[code] ??= slow(code)) : slow(code));
}

function caseForms(code: number): readonly number[] {
  const char = String.fromCharCode(code);
  return [
    code,
    ...[char.toLowerCase(), char.toUpperCase()].filter((form) => form.length === 1).map((form) => form.charCodeAt(0)),
  ];
}
