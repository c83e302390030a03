import { returnedType } from '../base/at-once.js';
import { SkeinError } from '../base/errors.js';
import { isPlainObject, type Json } from '../base/json.js';
import { evaluateComputed, type Sources } from './computed.js';
import { readRef, refText, JsonTexts, type ReadChannel } from './json-path.js';
import type { LabelledChannel } from './outputs-block.js';
import { renderTemplate } from './template.js';
import { hasLine } from './lines.js';
import { isTruthy, unresolved } from './truthy.js';
import { quoteShort, valueText } from './value-text.js';
import type { Condition } from './values.js';
import { copyingWork, type WorkMeter } from './work-meter.js';

/** Whether a condition holds; if not, a short printable reason. */
export type Verdict = { readonly holds: true } | { readonly holds: false; readonly reason: string };

const HOLDS: Verdict = { holds: true };

/**
 * Evaluates one condition on the state that a step sees. A missing value counts as the empty text. `callCode` evaluates `code` conditions;
 * a block of outputs in an operand shows the channels `labelled`; `meter` counts the work.
 *
 * @throws SkeinError SKEIN_TEMPLATE if an operand or an expression can't be evaluated; SKEIN_NO_BINDING for a `code` condition without `callCode`.
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
 * Evaluates conditions in order, up to the first that doesn't hold. All must hold.
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
 * Whether a JSON value contains a pattern: an object has every key of it, a list has each of its items (in any order), other
 * values are equal. `meter` counts the work.
 *
 * @throws SkeinError SKEIN_TEMPLATE if both are so large that it takes too many comparisons
 */
export function containsJson(value: unknown, pattern: Json, meter?: WorkMeter): boolean {
  const budget = { left: MAX_COMPARISONS };
  try {
    return contains(value, pattern, budget);
  } finally {
    meter?.spend(MAX_COMPARISONS - budget.left);
  }
}

/** Maximum number of comparisons; they take a fraction of a second. A list may need its length times that of the pattern. */
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
  const result = evaluateComputed(condition, sources);
  if (result === true) return HOLDS;
  if (result === false) return no(`${quoteShort(condition.expression, 120)} is false`);
  throw new SkeinError(
    'SKEIN_TEMPLATE',
    `the condition ${quoteShort(condition.expression)} gave ${quoteShort(valueText(result))}, which is neither true nor false`,
    { hint: 'compare it with something: ==, !=, <, contains, in' },
  );
}

/** @throws SkeinError `SKEIN_TEMPLATE` if a user's condition does not return a boolean, but a promise for instance */
export function asBoolean(answer: unknown, name: string): boolean {
  if (typeof answer === 'boolean') return answer;
  throw new SkeinError('SKEIN_TEMPLATE', `'${name}' must answer true or false at once, not ${returnedType(answer)}`);
}
