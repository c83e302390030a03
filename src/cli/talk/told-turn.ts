import { isPlainObject } from '../../base/json.js';
import type { ThreadTurn } from '../../index.js';
import type { LogEntry } from '../../talking.js';

/** What a conversation with a pack keeps for its machine: its context tells it. */
const OWN: ReadonlySet<string> = new Set(['conversation', 'aside', 'position', 'workflow_context']);

/**
 * A turn as people see it: of a conversation with a pack what was said, what happened and what was set, of any other one all values.
 *
 * @example
 * toldTurn(turn).results; // { said: 'It is on its way.', went: 'intake -> orders (Ask)' }
 */
export function toldTurn({
  inputs,
  results,
}: Pick<ThreadTurn, 'inputs' | 'results'>): Pick<ThreadTurn, 'inputs' | 'results'> {
  if (!isPlainObject(results['position']) || !Array.isArray(results['log'] ?? [])) return { inputs, results };
  const given = Object.entries(inputs).filter(([, value]) => value !== null && !isEmpty(value));
  const { log = [], ...others } = results;
  const went = (log as readonly LogEntry[]).flatMap((entry) =>
    'to' in entry ? [`${entry.from} -> ${entry.to} (${entry.event})`] : [],
  );
  const kept = Object.entries(others).filter(([name, value]) => !OWN.has(name) && value !== '');
  return {
    inputs: Object.fromEntries(given),
    results: { ...(went.length === 0 ? {} : { went: went.join(', ') }), ...Object.fromEntries(kept) },
  };
}

function isEmpty(value: unknown): boolean {
  return isPlainObject(value) && Object.keys(value).length === 0;
}
