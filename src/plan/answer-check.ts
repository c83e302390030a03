import { refusal } from '../base/problem.js';
import { kindText } from '../lang/value-text.js';

/** The rule of a check on a text. */
export type CheckRule =
  /** The text contains none of these whole words, in any case. */
  | { readonly kind: 'bannedWords'; readonly words: readonly string[] }
  | ({ readonly kind: 'maxLength' } & LengthBounds)
  | ({ readonly kind: 'minLength' } & LengthBounds)
  | { readonly kind: 'maxSentences'; readonly sentences: number }
  /** A JSON object has these keys; any other text contains these words. */
  | { readonly kind: 'requiredFields'; readonly fields: readonly string[] }
  /** The text contains a match of a regular expression in the syntax of JSON Schema; with `matches: false` it contains none. */
  | { readonly kind: 'pattern'; readonly pattern: string; readonly ignoreCase?: true; readonly matches?: false }
  /** The text is JSON. */
  | { readonly kind: 'json' }
  /** The binding `check:NODE/NAME` decides: see {@link CheckFunction}. */
  | { readonly kind: 'code'; readonly name: string };

/** Bounds on the length of a text. */
export interface LengthBounds {
  /** In code points. */
  readonly characters?: number;
  /** In tokens of four characters each. */
  readonly tokens?: number;
}

/** The target of a check, and the consequence of a violation. */
export interface CheckOptions {
  /** Checks the agent's answer (default), its input, or both. */
  readonly direction?: 'output' | 'input' | 'both';
  /**
   * `fail` (default): an answer may be corrected once, then the step fails with `SKEIN_CHECK`; an invalid input fails the step before any
   * model is called. `warn` emits a warning, and the text stays.
   */
  readonly onViolation?: 'fail' | 'warn';
  /** The message of the failure, or of the warning. */
  readonly message?: string;
}

/**
 * A check of an agent's input or answer. All checks apply to the answer; those that forbid something, and functions, also apply to what the
 * model writes next to tool calls.
 */
export type AnswerCheck = CheckRule & CheckOptions;

/** What a {@link CheckFunction} receives with the text. */
export interface CheckedText {
  readonly agent: string;
  readonly direction: 'output' | 'input';
}

/** Returns what is wrong with a text, or `false`; `true` or undefined if it is fine. Must have no effects: a replay calls it again. */
export type CheckFunction = (text: string, about: CheckedText) => string | boolean | undefined;

/** A check that may contain its function directly. */
export type CheckInput =
  | Exclude<AnswerCheck, { readonly kind: 'code' }>
  | (CheckOptions & { readonly name: string; readonly check: CheckFunction });

/** Returns checks as plan data, and their functions by name. @throws SkeinError `SKEIN_DEFINITION` if two have the same name */
export function checksOf(inputs: readonly CheckInput[]): {
  readonly checks: readonly AnswerCheck[];
  readonly functions: Readonly<Record<string, CheckFunction>>;
} {
  const functions: Record<string, CheckFunction> = {};
  const checks = inputs.map((input): AnswerCheck => {
    if (typeof input !== 'object')
      throw refusal(
        'bad-check',
        `a check is an object, not ${kindText(input)}`,
        "{ kind: 'length', max: 500 }, or { name, check }",
      );
    if (!('check' in input)) return input;
    const { check, ...rest } = input;
    if (Object.hasOwn(functions, input.name))
      throw refusal('bad-check', `two checks are named ${JSON.stringify(input.name)}`, 'rename one of the two');
    functions[input.name] = check;
    return { kind: 'code', ...rest };
  });
  return { checks, functions };
}

export function checkKey(node: string, name: string): string {
  return `check:${node}/${name}`;
}

export function codeChecks({ checks = [] }: { readonly checks?: readonly AnswerCheck[] }): readonly string[] {
  return checks.flatMap((check) => (check.kind === 'code' ? [check.name] : []));
}
