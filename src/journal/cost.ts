import { wasAsked } from '../base/errors.js';
import type { Usage } from '../events/event.js';
import { stepOf } from '../base/address.js';
import type { RunHistory } from './history.js';
import { readTurn, sumUsage } from './overview-trace.js';
import { readStored } from './stored.js';
import type { Store } from './store.js';

/** Calls and tokens. */
export interface RecordedCost {
  /** Those that failed, too: a provider may bill them. */
  readonly modelCalls: number;
  readonly failedModelCalls: number;
  readonly toolCalls: number;
  readonly usage: Usage;
}

/**
 * What a run has cost so far: its model calls, not those of the run that it was forked from.
 *
 * @throws SkeinError `SKEIN_JOURNAL` for a value that is lost
 */
export function costOf(store: Store, { entries }: RunHistory): RecordedCost {
  let [answered, failedModelCalls, toolCalls] = [0, 0, 0];
  const usages: Usage[] = [];
  for (const [key, list] of entries) {
    if (!key.startsWith('@model#', stepOf(key).length)) continue;
    for (const { kind, record } of list) {
      const { error } = record;
      if (error !== undefined && wasAsked(error)) failedModelCalls += 1;
      const turn = kind === 'success' ? readTurn(readStored(store, record)) : undefined;
      if (turn === undefined) continue;
      answered += 1;
      toolCalls += turn.calls;
      usages.push(turn.usage);
    }
  }
  return { modelCalls: answered + failedModelCalls, failedModelCalls, toolCalls, usage: sumUsage(usages) };
}
