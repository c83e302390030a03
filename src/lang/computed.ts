import { SkeinError } from '../base/errors.js';
import { compileExpression, type Expression } from './expression.js';
import { readPath, type ReadChannel, type TextReader } from './json-path.js';
import { quoteShort } from './value-text.js';
import type { CelVar, Computed } from './values.js';
import type { WorkMeter } from './work-meter.js';

/** The sources of an evaluation, and the meter of its work. */
export interface Sources {
  readonly read: ReadChannel;
  readonly texts: TextReader;
  readonly meter: WorkMeter | undefined;
}

// Compiling costs ten times an evaluation, and an expression in a loop is evaluated every round.
const compiled = new WeakMap<Computed, Expression>();

/**
 * The value of an expression, as plain JSON data. Unwritten channels are the empty text.
 *
 * @throws SkeinError SKEIN_TEMPLATE when it can't be evaluated
 */
export function evaluateComputed(computed: Computed, sources: Sources): unknown {
  const expression = compiled.get(computed) ?? compile(computed);
  const vars: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, source] of Object.entries(computed.vars)) vars[name] = readVar(source, [name], expression, sources);
  return expression.evaluate(vars, sources.meter);
}

function compile(computed: Computed): Expression {
  const { expression, problems } = compileExpression(computed.expression, Object.keys(computed.vars));
  if (expression === undefined) {
    const why = problems[0]?.message ?? 'it does not compile';
    throw new SkeinError('SKEIN_TEMPLATE', `the expression ${quoteShort(computed.expression)} is not valid: ${why}`);
  }
  compiled.set(computed, expression);
  return expression;
}

/** The value of a variable. Text is read as JSON only where the expression looks into it, so that text stays text elsewhere. */
function readVar(source: CelVar, path: readonly string[], expression: Expression, sources: Sources): unknown {
  if ('fields' in source) {
    const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const [name, field] of Object.entries(source.fields))
      fields[name] = readVar(field, [...path, name], expression, sources);
    return fields;
  }
  const { read, texts } = sources;
  const raw = read(source.channel);
  const value = source.path === undefined ? raw : readPath(raw, source.path, texts);
  if (value === undefined) return source.absent ?? '';
  if (typeof value !== 'string' || !looksInto(expression.reads, path)) return value;
  return texts.parse(value) ?? value;
}

function looksInto(reads: readonly (readonly string[])[], path: readonly string[]): boolean {
  return reads.some((used) => used.length > path.length && path.every((part, at) => part === used[at]));
}
