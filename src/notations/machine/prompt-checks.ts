import { present } from '../../base/json.js';
import {
  checkKey,
  type AnswerCheck,
  type CheckedText,
  type CheckOptions,
  type CheckRule,
} from '../../plan/answer-check.js';
import { madeOf } from '../../plan/made-of.js';
import type { Bindings } from '../../plan/plan.js';
import type { Prompt, Validator } from './pack.js';

/**
 * A program's validator, by its type in packs. It returns what is wrong with a text, in words or as `false`. `params` are those of the
 * pack. It must have no side effects: a replay calls it again.
 */
export type PackValidator = (
  text: string,
  params: Readonly<Record<string, unknown>>,
  about: CheckedText,
) => string | boolean | undefined;

/** Validators of a program by their types. */
export type PackValidators = Readonly<Record<string, PackValidator>>;

export function promptChecks({ validators = [] }: Prompt, own: PackValidators = {}): readonly AnswerCheck[] {
  return validators.flatMap((validator, index) => {
    if (validator.enabled === false) return [];
    const rule: CheckRule = Object.hasOwn(own, validator.type)
      ? { kind: 'code', name: nameOf(validator, index) }
      : ruleOf(validator);
    return [{ ...rule, ...optionsOf(validator) }];
  });
}

/** Returns the functions of these checks, for the node with this id. */
export function checkBindings({ validators = [] }: Prompt, own: PackValidators, node: string): Bindings {
  return Object.fromEntries(
    validators.flatMap((validator, index) => {
      const fn = Object.hasOwn(own, validator.type) ? own[validator.type] : undefined;
      if (fn === undefined || validator.enabled === false) return [];
      const { params = {} } = validator;
      const check = (text: string, about: CheckedText): ReturnType<PackValidator> => fn(text, params, about);
      return [[checkKey(node, nameOf(validator, index)), madeOf(check, [fn, JSON.stringify(params)])]];
    }),
  );
}

/** Names a validator. A prompt may have several of one type, with different parameters. */
function nameOf({ type }: Validator, index: number): string {
  return `${type}-${index}`;
}

function optionsOf({ fail_on_violation, message, params = {} }: Validator): CheckOptions {
  const { direction, message: said } = params;
  const text = message ?? (typeof said === 'string' ? said : undefined);
  const where: CheckOptions['direction'] = direction === 'input' || direction === 'both' ? direction : undefined;
  return present({
    direction: where,
    onViolation: fail_on_violation === false ? ('warn' as const) : undefined,
    message: text,
  });
}

function ruleOf({ type, params = {} }: Validator): CheckRule {
  const counts = params as Readonly<Record<string, number | undefined>>;
  const { words, required_fields: fields, fields: alike } = params as Readonly<Record<string, readonly string[]>>;
  switch (type) {
    case 'banned_words':
      return { kind: 'bannedWords', words: words ?? [] };
    case 'min_length':
      return present({
        kind: 'minLength' as const,
        characters: counts['min_characters'],
        tokens: counts['min_tokens'],
      });
    case 'max_sentences':
      return { kind: 'maxSentences', sentences: counts['max_sentences'] ?? 1 };
    case 'required_fields':
      return { kind: 'requiredFields', fields: fields ?? alike ?? [] };
    case 'regex':
    case 'regex_match':
      return {
        kind: 'pattern',
        ...patternOf(String(params['pattern'])),
        ...(params['expect_match'] === false ? { matches: false } : {}),
      };
    case 'json_valid':
      return { kind: 'json' };
    default:
      return present({
        kind: 'maxLength' as const,
        characters: counts['max_characters'],
        tokens: counts['max_tokens'],
      });
  }
}

/** Splits off the `(?i)` that makes an expression in a pack ignore letter case. */
export function patternOf(text: string): { readonly pattern: string; readonly ignoreCase?: true } {
  return text.startsWith('(?i)') ? { pattern: text.slice('(?i)'.length), ignoreCase: true } : { pattern: text };
}
