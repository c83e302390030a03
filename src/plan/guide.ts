import type { SkeinError } from '../base/errors.js';
import type { JsonObject } from '../base/json.js';

/** Counts of an agent's step so far. */
export interface GuideCounts {
  /** Completed model rounds; at the end of the step the last one counts too. */
  readonly rounds: number;
  /** Tool calls made, including those inside model calls. */
  readonly toolCalls: number;
}

/** The step that a {@link Guide} is made for. */
export interface GuideStep {
  /** The state as the step sees it, read-only. */
  readonly state: Readonly<Record<string, unknown>>;
  /** Returns milliseconds since 1970; the same on each replay. */
  now(): number;
  /** Returns the run's working time in milliseconds, without waits for people and time without a process; the same on each replay. */
  worked(): number;
}

/** A tool of one step. It must have no effects: a replay runs it again, with the recorded input. */
export interface GuideTool {
  /** The name that the model sees: letters, digits, `_`, `-`, at most 64. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its input, which is checked before the tool runs. */
  readonly inputSchema: JsonObject;
  /** Returns the text for the model. A thrown error becomes an error result for the model. */
  run(input: JsonObject): string;
}

/** How a step ended. */
export interface GuideEnd extends GuideCounts {
  /** The model's last text. */
  readonly text: string;
}

/** The decision of a guide at the end of a step. */
export interface GuideVerdict {
  /** The next node; absent: `otherwise` of the route, or none. */
  readonly goto?: string;
  /** Writes by key of the state, in addition to the answer and the conversation. */
  readonly writes?: Readonly<Record<string, unknown>>;
}

/**
 * Code that decides, in one step of an agent, how far the agent may go, when it ends, and what runs next. It is created anew for each pass
 * through the step: on a replay, and when the step continues after a person's answer. It must therefore depend only on the state, the given
 * time and its tools' calls.
 */
export interface Guide {
  readonly tools?: readonly GuideTool[];
  /**
   * Called before each model round and each tool call, with the counts so far. An error ends the step, and the run, as `out_of_budget`; the
   * step's writes are kept.
   */
  before?(done: GuideCounts): SkeinError | undefined;
  /** Called after all calls of a round are settled. Returns whether the step ends here, without another round. */
  isOver(): boolean;
  /** Called when the step has ended, even out of budget, in which case `goto` has no effect. Not called if it failed. */
  end(end: GuideEnd): GuideVerdict;
}

/** Makes the guide of a step. */
export type GuideOf = (step: GuideStep) => Guide;

/** Returns the key of an agent's guide in the bindings of a plan. */
export function guideKey(node: string): string {
  return `choice:${node}`;
}
