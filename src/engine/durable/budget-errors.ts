import { SkeinError, toErrorData } from '../../base/errors.js';
import { isPlainObject, type Json } from '../../base/json.js';
import { lackText } from '../../budget/lack-text.js';
import type { Lack } from '../../budget/ledger.js';
import { amountWord } from '../../plan/budget-text.js';
import type { Outcome } from '../ports/durable.js';

/** The error for a limit that is too low for an effect: `details` contain the limit and its current use. */
export function budgetError(lack: Lack | undefined): SkeinError {
  const message = lack === undefined ? 'the budget is used up' : lackText(lack);
  const shared = lack === undefined ? undefined : SHARED.exec(lack.name)?.[1];
  const details = lack === undefined ? {} : { details: { ...lack, raise: raiseOf(lack) } as unknown as Json };
  return new SkeinError('SKEIN_BUDGET', message, {
    hint: shared === undefined ? 'raise it, and resume the run' : raiseShared(shared),
    retryable: false,
    ...details,
  });
}

const SHARED = /^(day|thread)\b/;

function raiseShared(by: string): string {
  const raised = `raise ${by} in the budget of the workflow`;
  return by === 'day' ? `resume the run tomorrow, or ${raised} and resume it now` : `${raised}, and resume the run`;
}

/** An amount that a person may add: the same again, or the next reservation if that is larger. */
function raiseOf({ measure, limit, wanted }: Lack): string {
  return `+${amountWord(measure, Math.max(limit, wanted))}`;
}

/** The error for a limit that is too low and names another model to call. */
export function cheaperModel(lack: Lack, model: string): SkeinError {
  const details = { model, lack: { ...lack } as unknown as Json };
  return new SkeinError('SKEIN_BUDGET_MODEL', `${lackText(lack)}: ${model} is asked`, { retryable: false, details });
}

/** The outcome of an effect without enough budget: its step waited, unless the limit ends the run at once. */
export function shortOutcome(error: SkeinError): Outcome {
  const { details } = error;
  const isAtOnce = isPlainObject(details) && details['onLimit'] === 'stop';
  return { ok: false, error: toErrorData(error), short: isAtOnce ? 'at once' : 'waited' };
}
