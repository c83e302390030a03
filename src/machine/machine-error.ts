import type { ErrorData, SkeinError } from '../base/errors.js';
import { fromErrorData } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import type { VisitsExceeded } from './pure/errors.js';
import { BudgetExhaustedError, InvalidEventError, MaxVisitsExceededError, TerminalStateError } from './pure/errors.js';

/** An error of a machine that went through the record of a run, as the class that it was. */
export function machineError(data: ErrorData): SkeinError {
  const { code, message, details } = data;
  if (!isPlainObject(details)) return fromErrorData(data);
  const { available, limit, current, max } = details;
  const state = textOf(details['state']);
  const reason = message.replace(/^invalid event for current state: /, '');
  if (code === 'SKEIN_INVALID_EVENT')
    return new InvalidEventError(reason, textOf(details['event']), state, available as string[]);
  if (code === 'SKEIN_TERMINAL_STATE' && message.startsWith('current state')) return new TerminalStateError(state);
  if (code === 'SKEIN_STATE_VISITS') return new MaxVisitsExceededError(details as unknown as VisitsExceeded);
  if (code === 'SKEIN_BUDGET' && limit !== 'maxHandOvers')
    return new BudgetExhaustedError(limit as BudgetExhaustedError['limit'], Number(current), Number(max), state);
  return fromErrorData(data);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
