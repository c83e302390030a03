import { isPlainObject, type JsonObject } from '../../base/json.js';
import { SkeinError, fromErrorData, type ErrorData } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';

export function quoted(name: string): string {
  return JSON.stringify(name);
}

/**
 * An event that the current state does not have, or a state that the spec does not have.
 *
 * @example
 * try {
 *   machine.processEvent('Sumbit');
 * } catch (error) {
 *   if (error instanceof InvalidEventError) console.error(error.available);
 * }
 */
export class InvalidEventError extends SkeinError {
  constructor(
    reason: string,
    readonly event: string,
    readonly state: string,
    /** Events of the state, sorted. */
    readonly available: readonly string[] = [],
  ) {
    const hint = didYouMean(event, available);
    super('SKEIN_INVALID_EVENT', `invalid event for current state: ${reason}`, {
      details: { event, state, available },
      ...(hint === undefined ? {} : { hint }),
    });
    this.name = 'InvalidEventError';
  }
}

const OVER = 'workflow is in terminal state';

/**
 * An event for a terminal state, or a turn of a conversation that is over.
 *
 * @example
 * if (error instanceof TerminalStateError) console.log(`finished in ${error.state}`);
 */
export class TerminalStateError extends SkeinError {
  constructor(
    readonly state: string,
    isOver = false,
  ) {
    const message = `current state is terminal (no outgoing transitions): state ${quoted(state)} is terminal`;
    const details = { state };
    super(
      'SKEIN_TERMINAL_STATE',
      isOver ? OVER : message,
      isOver ? { details, hint: 'begin another conversation' } : { details },
    );
    this.name = 'TerminalStateError';
  }
}

/** The fields of a {@link MaxVisitsExceededError}. */
export interface VisitsExceeded {
  /** The full state that has no redirect, or whose redirects lead back to it. */
  readonly state: string;
  readonly visit_count: number;
  readonly max_visits: number;
  /** The target of the event, before redirects. */
  readonly original_target: string;
  /** States along the redirects. If they form a loop, the first one is repeated at the end; otherwise empty. */
  readonly redirects: readonly string[];
  /** Events of the current state that still work, sorted. */
  readonly working_events: readonly string[];
}

/**
 * An event whose target state may not be entered again. The machine stays where it is; `working_events` lists the alternatives.
 *
 * @example
 * if (error instanceof MaxVisitsExceededError) console.log(error.state, error.max_visits, error.working_events);
 */
export class MaxVisitsExceededError extends SkeinError implements VisitsExceeded {
  readonly state: string;
  readonly visit_count: number;
  readonly max_visits: number;
  readonly original_target: string;
  readonly redirects: readonly string[];
  readonly working_events: readonly string[];

  constructor(facts: VisitsExceeded) {
    const { state, visit_count, max_visits, original_target, redirects, working_events } = facts;
    const loop = redirects.length === 0 ? '' : `, and its redirects form a loop: ${redirects.join(' -> ')}`;
    const message = `max visits exceeded: state ${quoted(state)} visited ${visit_count} times (max ${max_visits})${loop}`;
    const hint =
      working_events.length === 0 ? 'no event of the state works' : `these events work: ${working_events.join(', ')}`;
    const details = { state, visit_count, max_visits, original_target, redirects, working_events };
    super('SKEIN_STATE_VISITS', message, { details, hint });
    this.name = 'MaxVisitsExceededError';
    this.state = state;
    this.visit_count = visit_count;
    this.max_visits = max_visits;
    this.original_target = original_target;
    this.redirects = redirects;
    this.working_events = working_events;
  }
}

/**
 * A limit of `engine.budget` that has been reached.
 *
 * @example
 * if (error instanceof BudgetExhaustedError) console.log(`${error.limit}: ${error.current} of ${error.max}`);
 */
export class BudgetExhaustedError extends SkeinError {
  constructor(
    readonly limit: 'max_total_visits' | 'max_tool_calls' | 'max_wall_time_sec',
    readonly current: number,
    readonly max: number,
    readonly state: string,
  ) {
    const details: JsonObject = { limit, current, max, state };
    super('SKEIN_BUDGET', `workflow budget exhausted: ${limit} ${current} reached limit ${max}`, {
      details,
      hint: `raise engine.budget.${limit} to continue`,
    });
    this.name = 'BudgetExhaustedError';
  }
}

/** Rebuilds a machine's error, which passed through a run's record, in its original class. */
export function machineError(data: ErrorData): SkeinError {
  const { code, message, details } = data;
  if (!isPlainObject(details)) return fromErrorData(data);
  const { available, limit, current, max } = details;
  const state = textOf(details['state']);
  const reason = message.replace(/^invalid event for current state: /, '');
  if (code === 'SKEIN_INVALID_EVENT')
    return new InvalidEventError(reason, textOf(details['event']), state, available as string[]);
  if (code === 'SKEIN_TERMINAL_STATE') return new TerminalStateError(state, message === OVER);
  if (code === 'SKEIN_STATE_VISITS') return new MaxVisitsExceededError(details as unknown as VisitsExceeded);
  if (code === 'SKEIN_BUDGET' && limit !== 'maxHandOvers')
    return new BudgetExhaustedError(limit as BudgetExhaustedError['limit'], Number(current), Number(max), state);
  return fromErrorData(data);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
