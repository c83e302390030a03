import { SkeinError } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import type { Json } from '../base/json.js';
import { compileExpression } from './expression.js';
import type { Expression } from './expression.js';
import { readPath, readRef, refText, JsonTexts } from './json-path.js';
import type { ReadChannel } from './json-path.js';
import type { LabelledChannel } from './outputs-block.js';
import { renderTemplate } from './template.js';
import { hasLine } from './lines.js';
import { isTruthy, unresolved } from './truthy.js';
import { quoteShort, valueText } from './value-text.js';
import type { CelVar, Condition } from './values.js';
import { copyingWork } from './work-meter.js';
import type { WorkMeter } from './work-meter.js';

/** Whether a condition holds; if not, a short text for people that says why, safe to print. */
export type Verdict = { readonly holds: true } | { readonly holds: false; readonly reason: string };

const HOLDS: Verdict = { holds: true };

/**
 * Evaluates one condition on the state that a step sees. A missing value counts as the empty text. `callCode` answers for `code` conditions;
 * `labelled` are the channels that a block of outputs in an operand shows; `meter` counts the work.
 *
 * @throws SkeinError SKEIN_TEMPLATE when an operand or an expression can't be evaluated; SKEIN_NO_BINDING for a `code` condition without `callCode`.
 */
export function evaluateCondition(
  condition: Condition,
  read: ReadChannel,
  callCode?: () => boolean,
  labelled?: readonly LabelledChannel[],
  meter?: WorkMeter,
): Verdict {
  switch (condition.op) {
    case 'contains':
    case 'not_contains':
    case 'equals': {
      const value = valueText(readRef(condition.value, read, new JsonTexts(meter)));
      const operand = renderTemplate(condition.operand, read, labelled, meter);
      meter?.spend(copyingWork(value.length + operand.length));
      return compareText(condition.op, refText(condition.value), value, operand);
    }
    case 'matches_json':
      return matchJson(condition, { read, texts: new JsonTexts(meter), meter });
    case 'truthy':
      return isTruthy(condition, read, new JsonTexts(meter)) ? HOLDS : no(`${refText(condition.value)} is not true`);
    case 'line': {
      const text = valueText(readRef(condition.value, read, new JsonTexts(meter)));
      meter?.spend(copyingWork(text.length));
      const name = refText(condition.value);
      return hasLine(text, condition.line) ? HOLDS : no(`${name} has no line ${quoteShort(condition.line)}`);
    }
    case 'cel':
      return evaluateCel(condition, { read, texts: new JsonTexts(meter), meter });
    case 'code': {
      if (callCode === undefined) throw new SkeinError('SKEIN_NO_BINDING', 'a code condition has no function');
      return callCode() ? HOLDS : { holds: false, reason: 'its condition returned false' };
    }
  }
}

/**
 * Evaluates conditions that must all hold, in order, up to the first that doesn't.
 *
 * @throws SkeinError as {@link evaluateCondition}.
 */
export function evaluateConditions(
  conditions: readonly Condition[],
  read: ReadChannel,
  callCode?: () => boolean,
  labelled?: readonly LabelledChannel[],
  meter?: WorkMeter,
): Verdict {
  for (const condition of conditions) {
    const verdict = evaluateCondition(condition, read, callCode, labelled, meter);
    if (!verdict.holds) return verdict;
  }
  return HOLDS;
}

/**
 * Whether a JSON value contains another: objects hold every key of the pattern, lists hold each of its items (in any order),
 * anything else is equal. `meter` counts the work.
 *
 * @throws SkeinError SKEIN_TEMPLATE when both are so large that it takes too many comparisons
 */
export function containsJson(value: unknown, pattern: Json, meter?: WorkMeter): boolean {
  const budget = { left: MAX_COMPARISONS };
  try {
    return contains(value, pattern, budget);
  } finally {
    meter?.spend(MAX_COMPARISONS - budget.left);
  }
}

/** Each item of a pattern may be compared with each of a list: so many comparisons are a fraction of a second. */
const MAX_COMPARISONS = 5_000_000;

function contains(value: unknown, pattern: Json, budget: { left: number }): boolean {
  budget.left -= 1;
  if (budget.left < 0) {
    throw new SkeinError('SKEIN_TEMPLATE', 'matching a JSON pattern takes too many comparisons for this value', {
      hint: 'use a shorter list in the pattern, or a code condition',
    });
  }
  if (Array.isArray(pattern)) {
    return (
      Array.isArray(value) && pattern.every((wanted: Json) => value.some((item) => contains(item, wanted, budget)))
    );
  }
  if (isPlainObject(pattern)) {
    if (!isPlainObject(value)) return false;
    return Object.keys(pattern).every(
      (key) => Object.hasOwn(value, key) && contains(value[key], pattern[key] as Json, budget),
    );
  }
  return value === pattern;
}

function compareText(
  op: 'contains' | 'not_contains' | 'equals',
  name: string,
  value: string,
  operand: string,
): Verdict {
  switch (op) {
    case 'contains':
      return value.includes(operand) ? HOLDS : no(`${name} does not contain ${quoteShort(operand)}`);
    case 'not_contains':
      return value.includes(operand) ? no(`${name} contains ${quoteShort(operand)}`) : HOLDS;
    case 'equals':
      return value.trim() === operand.trim()
        ? HOLDS
        : no(`${name} is ${quoteShort(value.trim())}, not ${quoteShort(operand.trim())}`);
  }
}

function no(reason: string): Verdict {
  return { holds: false, reason };
}

/** What an evaluation reads from, and who is told of its work. */
interface Sources {
  readonly read: ReadChannel;
  readonly texts: JsonTexts;
  readonly meter: WorkMeter | undefined;
}

function matchJson(condition: Extract<Condition, { op: 'matches_json' }>, { read, texts, meter }: Sources): Verdict {
  const { value: ref, operand: pattern } = condition;
  const found = readRef(ref, read, texts);
  const name = refText(ref);
  if (found === undefined) return no(`${name} is missing`);
  const value = typeof found === 'string' ? (texts.parse(found) ?? found) : found;
  if (containsJson(value, pattern, meter)) return HOLDS;
  return no(`${name} is ${quoteShort(valueText(value))}, which does not match ${quoteShort(valueText(pattern))}`);
}

type CelCondition = Extract<Condition, { op: 'cel' }>;

// Compiling costs ten times an evaluation, and a condition in a loop is evaluated every round.
const compiled = new WeakMap<CelCondition, Expression>();

function evaluateCel(condition: CelCondition, sources: Sources): Verdict {
  if (condition.text === undefined) return evaluateExpression(condition, sources);
  try {
    return evaluateExpression(condition, sources);
  } catch (cause) {
    const hint = cause instanceof Error ? cause.message : undefined;
    throw new SkeinError('SKEIN_TEMPLATE', unresolved(condition.text), { hint, cause });
  }
}

function evaluateExpression(condition: CelCondition, sources: Sources): Verdict {
  const expression = compiled.get(condition) ?? compileCondition(condition);
  const vars: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, source] of Object.entries(condition.vars))
    vars[name] = readVar(source, [name], expression, sources);
  const result = expression.evaluate(vars, sources.meter);
  if (result === true) return HOLDS;
  if (result === false) return no(`${quoteShort(condition.expression, 120)} is false`);
  throw new SkeinError(
    'SKEIN_TEMPLATE',
    `the condition ${quoteShort(condition.expression)} gave ${quoteShort(valueText(result))}, which is neither true nor false`,
    { hint: 'compare it with something: ==, !=, <, contains, in' },
  );
}

function compileCondition(condition: CelCondition): Expression {
  const { expression, problems } = compileExpression(condition.expression, Object.keys(condition.vars));
  if (expression === undefined) {
    const why = problems[0]?.message ?? 'it does not compile';
    throw new SkeinError('SKEIN_TEMPLATE', `the condition ${quoteShort(condition.expression)} is not valid: ${why}`);
  }
  compiled.set(condition, expression);
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

/**
 * The answer of a user's condition.
 *
 * @throws SkeinError `SKEIN_TEMPLATE` when it is not a boolean, such as a promise.
 */
export function asBoolean(answer: unknown, name: string): boolean {
  if (typeof answer === 'boolean') return answer;
  throw new SkeinError('SKEIN_TEMPLATE', `'${name}' must answer true or false at once, not ${typeof answer}`);
}
