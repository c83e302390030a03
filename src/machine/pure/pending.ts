import { DataPlace } from '../../base/problem.js';
import { SkeinError } from '../../base/errors.js';
import { isPlainObject, type JsonObject } from '../../base/json.js';
import { InvalidEventError, quoted } from './errors.js';
import type { StateMachine, TransitionResult } from './machine.js';
import { Problems, json, text } from './shapes.js';
import { ARTIFACT_TOOL, TRANSITION_TOOL } from './tools.js';

/**
 * A transition that a model requested and that is not carried out yet.
 *
 * @example
 * const waiting = pending.pending;
 */
export interface PendingTransition {
  readonly event: string;
  /** The model's message to the next state. */
  readonly context: string;
  /** Arguments of the call that the tool does not declare. */
  readonly host_extras?: JsonObject;
}

/**
 * The result of a call of the transition tool.
 *
 * @example
 * const answer = pending.execute({ event: 'Submit', context: '' });
 */
export interface ScheduledTransition {
  readonly status: 'transition_scheduled';
  readonly event: string;
  /** The state that it will lead to, after redirects. */
  readonly target_state: string;
}

/**
 * Callbacks for the outcome of a pending transition.
 *
 * @example
 * const listeners = { onCommit: ({ to }) => console.log(`now in ${to}`) } satisfies CommitListeners;
 */
export interface CommitListeners {
  readonly onCommit?: (result: TransitionResult) => void;
  readonly onCommitError?: (error: unknown, pending: PendingTransition) => void;
}

/**
 * Handles calls of the transition tool: a call only notes its transition; `commit()` ends the round of calls. An impossible transition is
 * refused at the call, so that the model can correct itself.
 *
 * @example
 * const pending = new PendingTransitions(machine);
 * pending.execute({ event: 'Submit', context: 'two open questions' }); // { status: 'transition_scheduled', ... }
 * pending.commit()?.to; // 'review'
 */
export class PendingTransitions {
  private noted: { readonly transition: PendingTransition; readonly from: string; readonly at: number } | undefined =
    undefined;

  constructor(
    readonly machine: StateMachine,
    private readonly listeners: CommitListeners = {},
  ) {}

  /** The pending transition; null if there is none. */
  get pending(): PendingTransition | null {
    return this.noted?.transition ?? null;
  }

  /**
   * Notes the transition that a call requests.
   *
   * @param args the arguments of the call; keys that the tool does not declare are kept as `host_extras`
   * @throws SkeinError `SKEIN_TOOL_REFUSED` for wrong arguments and a second transition in a round, else what `processEvent` throws
   */
  execute(args: unknown): ScheduledTransition {
    const { event, context = '', ...extras } = argumentsOf(args, TRANSITION_TOOL);
    const problems = new Problems();
    const transition = {
      event: text(event, new DataPlace('event'), problems) ?? '',
      context: text(context, new DataPlace('context'), problems) ?? '',
      ...(Object.keys(extras).length === 0
        ? {}
        : { host_extras: json(extras, new DataPlace('arguments'), problems) as JsonObject }),
    };
    if (problems.found.length > 0) throw refused(TRANSITION_TOOL, problems.messages.join('; '));
    if (this.noted !== undefined) {
      const first = quoted(this.noted.transition.event);
      throw refused(TRANSITION_TOOL, `a transition is scheduled in this round already, by event ${first}`);
    }
    const { from, to } = this.machine.preview(transition.event);
    this.noted = { transition, from, at: this.machine.transitionCount };
    return { status: 'transition_scheduled', event: transition.event, target_state: to };
  }

  /**
   * Carries out the pending transition; returns null if there is none. Nothing is pending afterwards, even on failure.
   *
   * @throws what `processEvent` throws; InvalidEventError if the machine has left the state in which the call was made
   */
  commit(): TransitionResult | null {
    const { noted } = this;
    if (noted === undefined) return null;
    this.noted = undefined;
    const { transition, from, at } = noted;
    let result: TransitionResult;
    try {
      if (at !== this.machine.transitionCount) throw outdated(transition.event, from, this.machine);
      result = this.machine.processEvent(transition.event);
    } catch (error) {
      this.listeners.onCommitError?.(error, transition);
      throw error;
    }
    const { host_extras } = transition;
    if (host_extras !== undefined) result = { ...result, host_extras };
    this.listeners.onCommit?.(result);
    return result;
  }

  /** Drops the pending transition. */
  clear(): void {
    this.noted = undefined;
  }
}

/**
 * Carries out a call of the artifact tool at once.
 *
 * @throws SkeinError `SKEIN_ARTIFACT`, `SKEIN_TOOL_REFUSED` if the arguments are not an object
 * @example
 * setArtifactCall(machine, { name: 'summary', value: 'all is well' }); // { status: 'artifact_set', artifact: 'summary' }
 */
export function setArtifactCall(
  machine: StateMachine,
  args: unknown,
): { readonly status: 'artifact_set'; readonly artifact: string } {
  const { name, value } = argumentsOf(args, ARTIFACT_TOOL);
  // `setArtifact` refuses names and values that are not texts.
  machine.setArtifact(name as string, value as string);
  return { status: 'artifact_set', artifact: name as string };
}

function argumentsOf(args: unknown, tool: string): Record<string, unknown> {
  if (isPlainObject(args)) return args;
  throw refused(tool, 'the arguments must be an object');
}

function refused(tool: string, reason: string): SkeinError {
  return new SkeinError('SKEIN_TOOL_REFUSED', `${tool}: ${reason}`);
}

function outdated(event: string, from: string, { currentState }: StateMachine): InvalidEventError {
  const reason = `event ${quoted(event)} was scheduled in state ${quoted(from)}, which was left since`;
  return new InvalidEventError(reason, event, currentState);
}
