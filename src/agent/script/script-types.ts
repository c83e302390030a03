import type { Json } from '../../base/json.js';
import type { Phase } from '../../events/supervision.js';
import type { Position } from '../../base/problem.js';

/** A script: what scripted models answer, and what a scripted person does. */
export interface Script {
  readonly file: string;
  /** An unplanned call and an unused rule fail the run. Default true. */
  readonly strict: boolean;
  readonly rules: readonly ScriptRule[];
  readonly answers: readonly ScriptReply[];
  readonly tools: readonly ScriptResult[];
}

/** When a rule applies, and what it answers. All that is given must hold. */
export interface ScriptRule {
  readonly at: Position;
  /** Path of a step, or id of its node. */
  readonly step?: string;
  readonly agent?: string;
  /** A piece of what the user messages say. */
  readonly prompt?: string;
  /** It answers the supervision of the step; absent: the work of the step. */
  readonly phase?: Phase;
  /** The step calls its tool itself, and the call is made; `answers` is empty then. */
  readonly real: boolean;
  /** One after the other: each step that the rule applies to begins with the first. */
  readonly answers: readonly ScriptAnswer[];
  /** The last answer is given for ever. */
  readonly repeat: boolean;
  /** The answers are one sequence for the whole run, not one for each step. */
  readonly once: boolean;
  /** It is not an error when the rule is not used. */
  readonly optional: boolean;
}

/** One answer of a model, or of a tool that a step calls by itself. */
export interface ScriptAnswer {
  readonly text?: string;
  /** Given as JSON text. */
  readonly json?: Json;
  readonly tools?: readonly ScriptCall[];
  readonly error?: ScriptError;
  /** Asks the person, with the tool `ask_user`. */
  readonly question?: { readonly text: string; readonly choices?: readonly string[] };
  /** The connection breaks after the text. */
  readonly cut: boolean;
  /** An answer with nothing in it. */
  readonly empty: boolean;
  /** Milliseconds before the answer. */
  readonly delayMs: number;
  /** How often it is given. */
  readonly times: number;
  readonly usage?: { readonly input: number; readonly output: number };
}

/** A tool call of an answer. Text as `input` is sent as it is, JSON or not. */
export interface ScriptCall {
  readonly name: string;
  readonly input: Json;
}

/** An error of an answer: by code, or as an HTTP status would be reported. */
export interface ScriptError {
  readonly code?: string;
  readonly status?: number;
  readonly message?: string;
  readonly retryAfterMs?: number;
}

/** What a tool gives that has no function: of those that fit a call, the first. */
export interface ScriptResult {
  readonly tool: string;
  /** A piece of the input of the call. */
  readonly input: Json;
  readonly result: Json;
}

/** What the person answers to a question that contains a text. */
export interface ScriptReply {
  readonly question: string;
  readonly answer: string;
  /** How often it is given in a run; absent: for ever. */
  readonly times?: number;
}
