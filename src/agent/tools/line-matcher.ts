import { PatternError, patternMatcher } from '../../lang/pattern/matcher.js';
import { compileRegex } from '../../lang/pattern/program.js';
import { badInput } from './tool-input.js';

/** Says whether a line has what is searched for. */
export interface LineMatcher {
  test(line: string): boolean;
  /** Steps of all lines so far, from above. */
  readonly cost: number;
  /** A line would have taken too long, and was left out. */
  readonly gaveUp: boolean;
}

/** Cost of one line: a second of the worst expressions. */
const MAX_LINE_COST = 10_000_000;

/**
 * Steps of an expression that are one of the cost. The library knows most lines after one look at each character; only where an expression has
 * more states than it keeps does it follow all steps of the expression.
 */
const STEPS_AT_ONCE = 8;

/** A matcher for lines that contain a text. */
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
 * A matcher for lines that match a regular expression, in time linear in the line: by `re2js`, and by the matcher of JSON Schemas for what that does
 * not know, such as looking ahead. Both never look back, so the cost of a line is known before it is read.
 *
 * @throws SkeinError `SKEIN_TOOL_FAILED` for what is not an expression, too large, or can't be matched in bounded time
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

/** Steps of an expression when its repetitions are written out. */
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

/** `weight` is what a character costs. */
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
