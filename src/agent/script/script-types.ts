import type { Json } from '../../base/json.js';
import type { Phase } from '../../events/supervision.js';
import type { Position } from '../../base/problem.js';

/** A script: the answers of scripted models, and of a scripted person. */
export interface Script {
  /** The script in messages: `the script story.yaml`. */
  readonly name: string;
  /** Whether a program gives it: it has no lines then. */
  readonly isInCode?: true;
  /** Whether an unplanned call or an unused rule fails the run. Defaults to true. */
  readonly strict: boolean;
  readonly rules: readonly ScriptRule[];
  readonly answers: readonly ScriptReply[];
  readonly tools: readonly ScriptResult[];
}

/** A rule with its conditions, all of which must hold, and its answers. */
export interface ScriptRule {
  readonly at: Position;
  /** Path of a step, or id of its node. */
  readonly step?: string;
  readonly agent?: string;
  /** A substring of the user messages. */
  readonly prompt?: string;
  /** The phase of supervision that the rule answers; absent: the work of the step. */
  readonly phase?: Phase;
  /** Whether the step's direct tool call is really made; `answers` is then empty. */
  readonly real: boolean;
  /** Given in order: each step that the rule applies to begins with the first. */
  readonly answers: readonly ScriptAnswer[];
  /** Whether the last answer is repeated indefinitely. */
  readonly repeat: boolean;
  /** Whether the answers are one sequence for the whole run, not one for each step. */
  readonly once: boolean;
  /** Whether the rule may stay unused. */
  readonly optional: boolean;
}

/** One answer of a model, or of a tool that a step calls directly. */
export interface ScriptAnswer {
  readonly text?: string;
  /** Sent as JSON text. */
  readonly json?: Json;
  readonly tools?: readonly ScriptCall[];
  readonly error?: ScriptError;
  /** Asks the person, with the tool `ask_user`. */
  readonly question?: { readonly text: string; readonly choices?: readonly string[] };
  /** Whether the connection breaks after the text. */
  readonly cut: boolean;
  readonly empty: boolean;
  /** Delay before the answer in milliseconds. */
  readonly delayMs: number;
  /** How often the answer is given. */
  readonly times: number;
  readonly usage?: { readonly input: number; readonly output: number };
}

/** A tool call of an answer. A text as `input` is sent unchanged, even if it is not JSON. */
export interface ScriptCall {
  readonly name: string;
  readonly input: Json;
}

/** An error of an answer: by code, or as for an HTTP status. */
export interface ScriptError {
  readonly code?: string;
  readonly status?: number;
  readonly message?: string;
  readonly retryAfterMs?: number;
}

/** The result of a tool without a function. The first entry that matches a call applies. */
export interface ScriptResult {
  readonly tool: string;
  /** Part of the call's input. */
  readonly input: Json;
  readonly result: Json;
}

/** The person's answer to a question that contains a text. */
export interface ScriptReply {
  readonly question: string;
  readonly answer: string;
  /** How often the answer is given in a run; absent: without limit. */
  readonly times?: number;
}
