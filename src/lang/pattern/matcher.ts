import type { CharTest } from './parse.js';
import { compileRegex, type Instruction } from './program.js';

export { PatternError } from './parse.js';

/** Maximum number of steps for one text, about a tenth of a second. */
const MAX_TEXT_COST = 20_000_000;

/**
 * A matcher that follows all ways through the expression at once, so its time is at most the length of the text times the
 * size of the expression, with looking ahead the square of the length, and bounded in any case: no pattern can make it hang.
 *
 * @throws PatternError as {@link compileRegex} does
 */
export function patternMatcher(
  source: string,
  { ignoreCase = false }: { readonly ignoreCase?: boolean } = {},
): PatternMatcher {
  return new PatternMatcher(compileRegex(source), ignoreCase);
}

type Test = (code: number) => boolean;

export class PatternMatcher {
  /** Steps taken so far. */
  cost = 0;
  gaveUp = false;
  /** Marks the position at which an instruction was last entered: each is followed once a position. */
  private readonly entered: Int32Array;
  private readonly tests: readonly (Test | undefined)[];
  private readonly ahead: readonly (PatternMatcher | undefined)[];

  constructor(
    private readonly program: readonly Instruction[],
    ignoreCase: boolean,
  ) {
    this.entered = new Int32Array(program.length);
    this.tests = program.map((step) => (step.op === 'char' ? charTest(step.set, ignoreCase) : undefined));
    this.ahead = program.map((step) =>
      step.op === 'ahead' ? new PatternMatcher(step.program, ignoreCase) : undefined,
    );
  }

  /** Also returns false if the text took more than `most` steps; `gaveUp` tells. */
  test(text: string, most = MAX_TEXT_COST): boolean {
    return this.matches(text, 0, true, this.cost + most);
  }

  /** Whether there is a match at `from`, or, for a search, anywhere behind it. */
  private matches(text: string, from: number, search: boolean, limit: number): boolean {
    this.entered.fill(-1);
    let current: number[] = [];
    for (let at = from; ;) {
      if ((search || at === from) && this.enter(0, text, at, current, limit)) return true;
      if (at >= text.length || (!search && current.length === 0)) return false;
      if (this.cost > limit) {
        this.gaveUp = true;
        return false;
      }
      const code = text.codePointAt(at) ?? 0;
      at += code > 0xffff ? 2 : 1;
      const next: number[] = [];
      this.cost += current.length + 1;
      for (const step of current) {
        if (this.tests[step]?.(code) === true && this.enter(step + 1, text, at, next, limit)) return true;
      }
      current = next;
    }
  }

  /** Follows all instructions that consume no character; true if that reaches the end of the expression. */
  private enter(first: number, text: string, at: number, into: number[], limit: number): boolean {
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
        case 'ahead':
          if (this.seesAhead(step, text, at, limit) !== instruction.not) open.push(step + 1);
          break;
        case 'at':
          if (holds(instruction.where, text, at)) open.push(step + 1);
      }
    }
    return false;
  }

  /** The cost of a look-ahead counts here too. */
  private seesAhead(step: number, text: string, at: number, limit: number): boolean {
    const inner = this.ahead[step];
    if (inner === undefined) return false;
    inner.cost = this.cost;
    const seen = inner.matches(text, at, false, limit);
    this.cost = inner.cost;
    this.gaveUp ||= inner.gaveUp;
    return seen;
  }
}

function holds(where: 'start' | 'end' | 'edge' | 'inside', text: string, at: number): boolean {
  if (where === 'start') return at === 0;
  if (where === 'end') return at === text.length;
  const edge = isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at));
  return where === 'edge' ? edge : !edge;
}

function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
}

/** Answers for the first 128 codes are kept as they come. */
function charTest(set: CharTest, ignoreCase: boolean): Test {
  const { classes = [] } = set;
  const inRanges = (code: number): boolean =>
    set.ranges.some(([first, last]) => first <= code && code <= last) ||
    classes.some((known) => known.test(String.fromCodePoint(code)));
  const slow = (code: number): boolean => {
    const hit = ignoreCase ? caseForms(code).some(inRanges) : inRanges(code);
    return hit !== set.not;
  };
  const known: (boolean | undefined)[] = [];
  return (code) => (code < 128 ? (known[code] ??= slow(code)) : slow(code));
}

function caseForms(code: number): readonly number[] {
  const char = String.fromCodePoint(code);
  return [
    code,
    ...[char.toLowerCase(), char.toUpperCase()].flatMap((form) => {
      const only = form.codePointAt(0) ?? code;
      return String.fromCodePoint(only) === form ? [only] : [];
    }),
  ];
}
