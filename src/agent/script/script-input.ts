import type { ErrorCode } from '../../base/errors.js';
import type { Phase } from '../../events/supervision.js';

/**
 * A script in code: what models answer in a run without a model. It has the keys of a script file; `docs/scripts.md` describes them.
 *
 * @example
 * const script: ScriptInput = { rules: [{ step: 'review', answers: ['Line 3 divides by zero.'] }] };
 * const result = await run(workflow, { models: { script } }).result;
 */
export interface ScriptInput {
  /** Whether a call that no rule plans fails its step, and an unused rule fails the run. Default true. */
  readonly strict?: boolean | undefined;
  /** What models answer. The first rule that fits a call answers it. */
  readonly rules?: readonly ScriptRuleInput[] | undefined;
  /** What the person answers to questions. It never allows a tool call. */
  readonly answers?: readonly ScriptReplyInput[] | undefined;
  /** Results of tools that a run with a script does not call. */
  readonly tools?: readonly ScriptResultInput[] | undefined;
}

/** A rule of a script. It fits a call if all of its conditions hold: `step`, `agent`, `prompt`, `phase`. */
export interface ScriptRuleInput {
  /** Path of the step (`loop#2/review`), with or without rounds and items, or id of its node (`review`). */
  readonly step?: string | undefined;
  /** Name of the agent. */
  readonly agent?: string | undefined;
  /** A part of what the agent is asked. */
  readonly prompt?: string | undefined;
  /** Which call of a supervised step it answers. Without it: the work itself. */
  readonly phase?: Phase | undefined;
  /** The only answer. A rule has either this or `answers` or `real`. */
  readonly answer?: ScriptAnswerInput | undefined;
  /** Answers in order: each model call takes the next one. */
  readonly answers?: readonly ScriptAnswerInput[] | undefined;
  /** Calls the tool that the step calls by itself. */
  readonly real?: true | undefined;
  /** Repeats the last answer without end. Default false. */
  readonly repeat?: boolean | undefined;
  /** One sequence for the whole run, not one for each step. Default false. */
  readonly once?: boolean | undefined;
  /** Whether the rule may stay unused. Default false. */
  readonly optional?: boolean | undefined;
}

/** An answer: its text, or a map. */
export type ScriptAnswerInput = string | ScriptAnswerMap;

/** An answer of a model, or the result of a step that calls a tool by itself. */
export interface ScriptAnswerMap {
  readonly text?: string | undefined;
  /** A value that is said as JSON text. */
  readonly json?: unknown;
  /** Tool calls. An `input` that is a text is sent unchanged, even if it is not JSON. */
  readonly tools?: readonly { readonly name: string; readonly input?: unknown }[] | undefined;
  /** Fails the call: by a code, or as for an HTTP status. */
  readonly error?: ScriptErrorInput | undefined;
  /** Asks the person with the tool `ask_user`. */
  readonly question?: string | { readonly text: string; readonly choices?: readonly string[] | undefined } | undefined;
  /** Breaks the connection after the text. */
  readonly cut?: boolean | undefined;
  /** Says nothing. */
  readonly empty?: boolean | undefined;
  /** Time before the answer: seconds, or a text such as `200ms`. */
  readonly delay?: number | string | undefined;
  /** How often it is given before the next one. Default 1. */
  readonly times?: number | undefined;
  /** Tokens that are counted. Default: a quarter of the characters. */
  readonly usage?: { readonly input?: number | undefined; readonly output?: number | undefined } | undefined;
}

/** The error of an answer. It has either a `code` or a `status`. */
export interface ScriptErrorInput {
  readonly code?: ErrorCode | undefined;
  /** HTTP status. */
  readonly status?: number | undefined;
  readonly message?: string | undefined;
  /** Time that the provider asks to wait: seconds, or a text such as `2s`. */
  readonly retry_after?: number | string | undefined;
}

/** The person's answer to questions that contain a text. */
export interface ScriptReplyInput {
  readonly question: string;
  readonly answer: string;
  /** How often it is given in a run. Without it: always. */
  readonly times?: number | undefined;
}

/** The result of a tool that is not called. */
export interface ScriptResultInput {
  readonly tool: string;
  /** A part of the call's input. */
  readonly input?: unknown;
  /** A text, or a value that the model gets as JSON. */
  readonly result: unknown;
}
