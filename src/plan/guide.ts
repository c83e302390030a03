import type { SkeinError } from '../base/errors.js';
import type { JsonObject } from '../base/json.js';

/** What an agent's step has done so far. */
export interface GuideCounts {
  /** Model rounds that are over; at the end of the step the last one counts, too. */
  readonly rounds: number;
  /** Tool calls that were made, those inside of model calls among them. */
  readonly toolCalls: number;
}

/** What a {@link Guide} is made for. */
export interface GuideStep {
  /** What the step sees of the state, read-only. */
  readonly state: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970; the same on each replay. */
  now(): number;
  /** Milliseconds in which the run worked so far, without those in which it waited for people or no process had it; the same on each replay. */
  worked(): number;
}

/** A tool of one step. It has no effects: a replay runs it again, with the recorded input. */
export interface GuideTool {
  /** What the model sees: letters, digits, `_`, `-`, at most 64. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its input, which is checked before it runs. */
  readonly inputSchema: JsonObject;
  /** What the model is told. A thrown error is an error result for the model. */
  run(input: JsonObject): string;
}

/** How a step ended. */
export interface GuideEnd extends GuideCounts {
  /** What the model said last. */
  readonly text: string;
}

/** What a step does at its end. */
export interface GuideVerdict {
  /** The node that runs next; absent: what the route says otherwise, or none. */
  readonly goto?: string;
  /** What it writes, by key of the state, in addition to its answer and its conversation. */
  readonly writes?: Readonly<Record<string, unknown>>;
}

/**
 * Code that decides, in one step of an agent, how far the agent may go, when it is over, and what runs next. It is made anew whenever the step is gone
 * through: on a replay, and when the step continues after a person has answered. So it is a function of the state, of the time that it is told, and of
 * the calls of its tools.
 */
export interface Guide {
  readonly tools?: readonly GuideTool[];
  /**
   * Asked before each model round, and before each tool call, with what was done until then: an error ends the step, and the run, as `out_of_budget`.
   * What the step wrote is kept.
   */
  before?(done: GuideCounts): SkeinError | undefined;
  /** Asked when all calls of a round are settled: whether the step ends here, without another round. */
  isOver(): boolean;
  /** The step has ended, also out of budget; then `goto` leads nowhere. Not asked when it failed. */
  end(end: GuideEnd): GuideVerdict;
}

/** Makes the guide of a step. */
export type GuideOf = (step: GuideStep) => Guide;

/** Where the function that guides an agent stands among the bindings of a plan. */
export function guideKey(node: string): string {
  return `choice:${node}`;
}
