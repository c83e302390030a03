import type { ErrorData } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import type { Standing } from '../notations/machine/plan/standing.js';
import { transitionsOf } from './turn-log.js';
import type { WorkflowEvent } from './turn-types.js';

/** What the machine tells when a bound has ended a turn; undefined for other ends. */
export function endingEvent({ code, details }: ErrorData, position: Standing | undefined): WorkflowEvent | undefined {
  if (!isPlainObject(details)) return undefined;
  const text = (key: string): string => {
    const value = details[key];
    return typeof value === 'string' ? value : '';
  };
  if (code === 'SKEIN_BUDGET')
    return {
      type: 'workflow.budget_exhausted',
      limit: text('limit'),
      current: Number(details['current']),
      max: Number(details['max']),
      current_state: text('state'),
      transition_count: transitionsOf(position),
    };
  if (code !== 'SKEIN_STATE_VISITS') return undefined;
  return {
    type: 'workflow.max_visits_exceeded',
    from_state: position?.machine.current_state ?? '',
    original_target: text('original_target'),
    event: text('event'),
    visit_count: Number(details['visit_count']),
    max_visits: Number(details['max_visits']),
    redirected_to: '',
    terminated: true,
  };
}
