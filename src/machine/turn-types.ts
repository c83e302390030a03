import type { ErrorData } from '../base/errors.js';
import type { JsonObject } from '../base/json.js';
import type { RunResult } from '../engine/run-result.js';
import type { RunOutcome } from '../events/census.js';
import type { OpenQuestion } from '../events/question.js';
import type { TransitionResult } from './pure/machine.js';

/**
 * A message of a conversation: from the user, from a state (`by` is its prompt), or the results of tools.
 *
 * @example
 * for (const { role, text, current_workflow_state } of turn.messages) console.log(current_workflow_state.current_state, role, text);
 */
export interface PackMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  /** Only for messages of the user and of states. */
  readonly text?: string;
  readonly by?: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  readonly results?: readonly {
    readonly id: string;
    readonly name: string;
    readonly output: string;
    readonly isError: boolean;
  }[];
  /** The state in which the message was sent. */
  readonly current_workflow_state: {
    readonly current_state: string;
    readonly description?: string;
    readonly terminal: boolean;
  };
}

/**
 * An event of a machine, with the names and fields of PromptKit.
 *
 * @example
 * const show = (event: WorkflowEvent) => {
 *   if (event.type === 'workflow.transitioned') console.log(`${event.from_state} -> ${event.to_state}`);
 * };
 */
export type WorkflowEvent =
  | {
      readonly type: 'workflow.transitioned';
      readonly from_state: string;
      readonly to_state: string;
      readonly event: string;
      readonly prompt_task: string;
      readonly host_extras?: JsonObject;
    }
  /** A terminal state was entered; it speaks after that. */
  | { readonly type: 'workflow.completed'; readonly final_state: string; readonly transition_count: number }
  /** An event led to a full state: it was redirected, or no event works any more (`terminated`). */
  | {
      readonly type: 'workflow.max_visits_exceeded';
      readonly from_state: string;
      readonly original_target: string;
      readonly event: string;
      readonly visit_count: number;
      readonly max_visits: number;
      readonly redirected_to: string;
      readonly terminated: boolean;
    }
  | {
      readonly type: 'workflow.budget_exhausted';
      /** A limit of `engine.budget`, or `maxHandOvers`. */
      readonly limit: string;
      readonly current: number;
      readonly max: number;
      readonly current_state: string;
      readonly transition_count: number;
    };

/**
 * An event during a turn: of the machine, a complete message, or a piece of text as it arrives.
 *
 * @example
 * for await (const event of conversation.send('My order is late.')) if (event.type === 'text') process.stdout.write(event.text);
 */
export type TurnEvent =
  | WorkflowEvent
  | { readonly type: 'message'; readonly message: PackMessage }
  | { readonly type: 'text'; readonly state: string; readonly text: string };

/**
 * The result of a turn.
 *
 * @example
 * const { text, state, complete } = await conversation.send('My order is late.');
 */
export interface TurnResult extends Pick<RunResult, 'spent' | 'saved'> {
  /** The message of the state that spoke last; empty if it ended with the call of a transition. */
  readonly text: string;
  /** The state in which the machine stands. */
  readonly state: string;
  /** Whether a terminal state has spoken: the conversation is over. */
  readonly complete: boolean;
  /** The machine's events, in order. */
  readonly events: readonly WorkflowEvent[];
  readonly transitions: readonly TransitionResult[];
  /** All messages of this turn, including those of earlier states in it. */
  readonly messages: readonly PackMessage[];
  /** `failed`, `cancelled`: the turn does not count, and the machine stays where it stood. */
  readonly outcome: RunOutcome;
  /** The reason if the turn did not succeed. */
  readonly error?: ErrorData;
  /** The open questions if the outcome is `paused`: `answer` continues the turn. */
  readonly pauses: readonly OpenQuestion[];
  /** The run behind the turn. */
  readonly runId: string;
}
