import { refusal } from '../base/problem.js';

/** What a text is checked for. */
export type CheckRule =
  /** None of these stands in it as a whole word, in upper or lower case. */
  | { readonly kind: 'bannedWords'; readonly words: readonly string[] }
  | ({ readonly kind: 'maxLength' } & LengthBounds)
  | ({ readonly kind: 'minLength' } & LengthBounds)
  | { readonly kind: 'maxSentences'; readonly sentences: number }
  /** A JSON object has these keys; any other text contains these words. */
  | { readonly kind: 'requiredFields'; readonly fields: readonly string[] }
  /** It contains a match of a regular expression, written as in JSON Schema; with `matches: false` it contains none. */
  | { readonly kind: 'pattern'; readonly pattern: string; readonly ignoreCase?: true; readonly matches?: false }
  /** It is JSON. */
  | { readonly kind: 'json' }
  /** The binding `check:NODE/NAME` says it: see {@link CheckFunction}. */
  | { readonly kind: 'code'; readonly name: string };

/** Bounds of the length of a text. */
export interface LengthBounds {
  /** Code points. */
  readonly characters?: number;
  /** Four characters each. */
  readonly tokens?: number;
}

/** What is checked, and what follows. */
export interface CheckOptions {
  /** What the agent answers (default), what it is asked, or both. */
  readonly direction?: 'output' | 'input' | 'both';
  /**
   * `fail` (default): an answer may be corrected once, then the step fails with `SKEIN_CHECK`; what is asked fails it before any model is called. `warn`
   * warns, and the text stays.
   */
  readonly onViolation?: 'fail' | 'warn';
  /** The message of the failure, or of the warning. */
  readonly message?: string;
}

/**
 * A check of what an agent is asked or answers. All of them hold for the answer; those that forbid something, and functions, also for what the model
 * says beside calls of tools.
 */
export type AnswerCheck = CheckRule & CheckOptions;

/** What a {@link CheckFunction} is told beside the text. */
export interface CheckedText {
  readonly agent: string;
  readonly direction: 'output' | 'input';
}

/** Says what is wrong with a text: in words, or `false`; `true` or nothing: it is fine. It has no effects: a replay asks it again. */
export type CheckFunction = (text: string, about: CheckedText) => string | boolean | undefined;

/** A check where functions stand in place. */
export type CheckInput =
  | Exclude<AnswerCheck, { readonly kind: 'code' }>
  | (CheckOptions & { readonly name: string; readonly check: CheckFunction });

/** Checks as plan data, and their functions by name. @throws SkeinError `SKEIN_DEFINITION` when two have one name */
export function checksOf(inputs: readonly CheckInput[]): {
  readonly checks: readonly AnswerCheck[];
  readonly functions: Readonly<Record<string, CheckFunction>>;
} {
  const functions: Record<string, CheckFunction> = {};
  const checks = inputs.map((input): AnswerCheck => {
    if (!('check' in input)) return input;
    const { check, ...rest } = input;
    if (Object.hasOwn(functions, input.name))
      throw refusal('bad-check', `two checks are named ${JSON.stringify(input.name)}`, 'rename one of the two');
    functions[input.name] = check;
    return { kind: 'code', ...rest };
  });
  return { checks, functions };
}

/** Where the function of a check stands among the bindings of a plan. */
export function checkKey(node: string, name: string): string {
  return `check:${node}/${name}`;
}

/** The names of the checks of an agent that are functions. */
export function codeChecks({ checks = [] }: { readonly checks?: readonly AnswerCheck[] }): readonly string[] {
  return checks.flatMap((check) => (check.kind === 'code' ? [check.name] : []));
}
