import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { SkeinError } from '../base/errors.js';
import type { Problem } from '../base/problem.js';
import { inspectExpression, type ExpressionShape } from './expression-shape.js';
import { estimate } from './expression-cost.js';
import { hasLine } from './lines.js';
import { cel } from './on-demand.js';
import { compilingWork, type WorkMeter } from './work-meter.js';
import { extentOf, toCelValue, toPlain, type Extent } from './expression-values.js';
import { didYouMean } from '../base/suggest.js';
import { quoteShort } from './value-text.js';
import { messageOf } from '../base/thrown.js';

export const EXPRESSION_LIMITS = {
  sourceChars: 4_000,
  nodes: 2_000,
  macroNesting: 2,
  depth: 100,
  work: 10_000_000,
} as const;

export interface Expression {
  /**
   * Returns the value for these variables as plain JSON data. Whole numbers are ordinary numbers. `meter` counts the work, with compiling.
   *
   * @throws SkeinError SKEIN_TEMPLATE if the evaluation fails: a missing key, wrong types, a list that is too long.
   */
  evaluate(vars: Readonly<Record<string, unknown>>, meter?: WorkMeter): unknown;
  /** Paths from a variable: `['steps', 'qa', 'output', 'approved']`. A final `*`: the value before it is used as a whole. */
  readonly reads: readonly (readonly string[])[];
}

/**
 * Compiles an expression of the Common Expression Language over the named variables. Numbers are numbers: `n + 1`, `[1, n]` and
 * `1 == 1.0` work. `matches` (regular expressions) and `cel.bind` are refused. A missing key is an error, except in `has(o.b)` and
 * `o.?b.orValue("d")`. `json(v)` returns JSON text. `text.hasLine("DONE")`: the text has this line, ignoring spaces around it. Also
 * `list.join(", ")`. Positions of problems are relative to the source; `hintOf` gives the hint for a name that is not one of these.
 */
export function compileExpression(
  source: string,
  names: readonly string[],
  hintOf: NameHint = among(names),
): { readonly problems: readonly Problem[]; readonly expression?: Expression } {
  if (source.length > EXPRESSION_LIMITS.sourceChars) {
    return {
      problems: [problemAt(source, 0, `the expression is longer than ${EXPRESSION_LIMITS.sourceChars} characters`)],
    };
  }
  try {
    const shape = inspectExpression(base().parse(source).ast, EXPRESSION_LIMITS.macroNesting);
    if (shape.refusal !== undefined)
      return { problems: [problemAt(source, shape.refusal.offset, shape.refusal.message)] };
    const environment = base().clone();
    for (const name of names) {
      if (!shape.variables.has(name)) continue;
      // Registering a name that the language reserves throws.
      if (base().hasVariable(name)) {
        const message = `${JSON.stringify(name)} is a word of the expression language, and can't be the name of a value`;
        return { problems: [problemAt(source, 0, message, 'rename the channel')] };
      }
      environment.registerVariable(name, 'dyn');
    }
    const parsed = environment.parse(source);
    const checked = parsed.check();
    if (!checked.valid) return { problems: [problemOf(source, checked.error, hintOf)] };
    const run = (vars: ReadonlyMap<string, unknown>): unknown => parsed(new Map(vars)) as unknown;
    return { problems: [], expression: makeExpression(source, run, parsed.ast, shape, names) };
  } catch (error) {
    return { problems: [problemOf(source, error, hintOf)] };
  }
}

/** Returns the names that an expression reads; none if it can't be parsed. */
export function variablesOf(source: string): readonly string[] {
  if (source.length > EXPRESSION_LIMITS.sourceChars) return [];
  try {
    return [...inspectExpression(base().parse(source).ast, EXPRESSION_LIMITS.macroNesting).variables];
  } catch {
    return [];
  }
}

function makeExpression(
  source: string,
  run: (vars: ReadonlyMap<string, unknown>) => unknown,
  ast: ASTNode,
  shape: ExpressionShape,
  names: readonly string[],
): Expression {
  const evaluate = (vars: Readonly<Record<string, unknown>>, meter?: WorkMeter): unknown => {
    const values = new Map<string, unknown>();
    const extents = new Map<string, Extent>();
    let size = 0;
    for (const name of names) {
      if (!shape.variables.has(name)) continue;
      const value = Object.hasOwn(vars, name) ? toCelValue(vars[name]) : null;
      const extent = extentOf(value);
      values.set(name, value);
      extents.set(name, extent);
      size += extent.size;
    }
    const { work } = estimate(ast, extents);
    meter?.spend(compilingWork(source.length) + size + Math.min(work, EXPRESSION_LIMITS.work));
    if (work > EXPRESSION_LIMITS.work) {
      throw new SkeinError(
        'SKEIN_TEMPLATE',
        `the expression ${quoteShort(source)} would take too long for these values`,
        {
          hint: 'filter before you nest, or use a code condition',
        },
      );
    }
    try {
      return toPlain(run(values));
    } catch (error) {
      throw evaluationError(source, error);
    }
  };
  return { evaluate, reads: shape.reads };
}

let shared: Environment | undefined;

/** Returns the environment of all expressions, created on first use. */
function base(): Environment {
  if (shared !== undefined) return shared;
  const { nodes, depth } = EXPRESSION_LIMITS;
  const environment = new (cel().Environment)({
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: { maxAstNodes: nodes, maxDepth: depth },
  });
  // Numbers of JavaScript are doubles, literals of the language are integers: allow both together.
  const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => divide(a, b, a / b),
    '%': (a, b) => divide(a, b, a % b),
  };
  for (const [operator, apply] of Object.entries(arithmetic)) {
    const mixed = (a: number | bigint, b: number | bigint): number => apply(Number(a), Number(b));
    environment.registerOperator(`int ${operator} double: double`, mixed);
    environment.registerOperator(`double ${operator} int: double`, mixed);
    if (operator === '%') environment.registerOperator('double % double: double', mixed);
  }
  environment.registerOperator(
    'int == double: bool',
    (a: number | bigint, b: number | bigint) => Number(a) === Number(b),
  );
  environment.registerFunction('list<dyn>.join(string): string', (list: readonly unknown[], between: string) =>
    list.map((item) => (typeof item === 'string' ? item : JSON.stringify(toPlain(item)))).join(between),
  );
  // Missing in the package.
  for (const type of ['Timestamp', 'Duration'])
    environment.registerFunction(`string(google.protobuf.${type}): string`, (value: unknown) => String(toPlain(value)));
  environment.registerFunction('json(dyn): string', (value: unknown) => JSON.stringify(toPlain(value)));
  environment.registerFunction('string.hasLine(string): bool', (text: string, line: string) => hasLine(text, line));
  shared = environment;
  return environment;
}

function divide(a: number, b: number, result: number): number {
  if (b === 0) throw new RangeError(`${a} divided by zero`);
  return result;
}

function problemOf(source: string, error: unknown, hintOf: NameHint): Problem {
  const { ParseError, TypeError, EvaluationError } = cel();
  const isTheirs = error instanceof ParseError || error instanceof TypeError || error instanceof EvaluationError;
  if (!isTheirs) return problemAt(source, 0, messageOf(error));
  const start = error.range?.start ?? 0;
  const hint =
    error.code === 'unknown_variable'
      ? hintOf(source.slice(start, error.range?.end))
      : formHint(source.slice(0, start));
  return problemAt(source, start, error.summary, hint);
}

type NameHint = (name: string) => string;

function among(names: readonly string[]): NameHint {
  return (name) => didYouMean(name, names) ?? `known are: ${names.length === 0 ? 'none' : names.join(', ')}`;
}

/** Returns the hint for text that is not an expression after `before`. */
function formHint(before: string): string {
  return before.trimEnd().endsWith('?')
    ? `a reference in an expression takes no ?: ${HINTS['no_such_key'] ?? ''}`
    : 'an expression is written like: size(items) > 2 && mode == "full"';
}

function problemAt(source: string, offset: number, message: string, hint?: string): Problem {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = before.split('\n').length;
  const at = { line, column: offset - lineStart + 1 };
  return { code: 'bad-expression', severity: 'error', message, at, ...(hint === undefined ? {} : { hint }) };
}

const HINTS: Readonly<Record<string, string>> = {
  no_such_key: 'ask with has(a.b) or a.?b.orValue(...) when a key may be missing',
  invalid_list_element_type: 'make texts of the items first: items.map(i, string(i)), or json(i)',
};

function evaluationError(source: string, error: unknown): SkeinError {
  if (SkeinError.isInstance(error)) return error;
  const { TypeError, EvaluationError } = cel();
  const known = error instanceof EvaluationError || error instanceof TypeError;
  const what = known ? error.summary : messageOf(error);
  const hint = known ? HINTS[error.code] : undefined;
  return new SkeinError('SKEIN_TEMPLATE', `the expression ${quoteShort(source)} could not be evaluated: ${what}`, {
    hint,
    cause: error,
  });
}
