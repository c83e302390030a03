import { PatternError, patternMatcher } from '../../lang/pattern/matcher.js';
import { compileRegex } from '../../lang/pattern/program.js';
import { badInput } from './tool-input.js';

export interface LineMatcher {
  test(line: string): boolean;
  /** Upper bound of the steps of all lines so far. */
  readonly cost: number;
  /** Whether a line was skipped because it would have taken too long. */
  readonly gaveUp: boolean;
}

/** Cost limit of one line: a second of the worst expressions. */
const MAX_LINE_COST = 10_000_000;

/**
 * Steps of an expression that count as one unit of cost. The library handles most lines with one look-up per character; it follows all
 * steps only for an expression with more states than it caches.
 */
const STEPS_AT_ONCE = 8;

export function textMatcher(text: string, ignoreCase: boolean): LineMatcher {
  const wanted = ignoreCase ? text.toLowerCase() : text;
  const matcher = {
    cost: 0,
    gaveUp: false,
    test(line: string) {
      matcher.cost += line.length;
      return (ignoreCase ? line.toLowerCase() : line).includes(wanted);
    },
  };
  return matcher;
}

/**
 * Returns a matcher for lines that match a regular expression, in time linear in the line: `re2js`, or for unsupported syntax, such as
 * lookahead, the matcher of JSON Schemas. Neither backtracks, so the cost of a line is known in advance.
 *
 * @throws SkeinError `SKEIN_TOOL_FAILED` for an expression that is invalid, too large, or cannot be matched in bounded time
 */
export async function expressionMatcher(source: string, ignoreCase: boolean): Promise<LineMatcher> {
  const size = sizeOf(source);
  const { RE2JS, RE2JSException } = await import('re2js');
  try {
    const flags = ignoreCase ? RE2JS.CASE_INSENSITIVE : 0;
    return weighed(RE2JS.compile(RE2JS.translateRegExp(source), flags), Math.ceil(size / STEPS_AT_ONCE));
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return patternMatcher(source, { ignoreCase });
  }
}

/** Steps of an expression with its repetitions expanded. */
function sizeOf(source: string): number {
  try {
    return compileRegex(source).length;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw badInput(
      `the pattern is not a supported regular expression: ${error.message}`,
      'leave "regex" out to search for the text itself',
    );
  }
}

/** `weight` is the cost of a character. */
function weighed(expression: { test(line: string): boolean }, weight: number): LineMatcher {
  const matcher = {
    cost: 0,
    gaveUp: false,
    test(line: string) {
      const cost = (line.length + 1) * weight;
      if (cost > MAX_LINE_COST) {
        matcher.gaveUp = true;
        return false;
      }
      matcher.cost += cost;
      return expression.test(line);
    },
  };
  return matcher;
}
