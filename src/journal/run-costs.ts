import { dayOf, systemClock } from '../base/clock.js';
import { madeOnce } from '../base/collections.js';
import { SkeinError } from '../base/errors.js';
import { Tally, type ModelSpending, type Spending } from '../events/spending.js';
import { callOf, type CountCall } from './overview-trace.js';
import { Replay } from './replay.js';
import { rowOf } from './reader.js';
import { isHeld, type Store } from './store.js';

export interface RunCosts {
  /** By the day on which a call ended, in this machine's calendar, such as `2026-11-23`; newest first. */
  readonly days: readonly (Spending & { readonly day: string })[];
  /** By name, highest cost first. */
  readonly workflows: readonly (Spending & { readonly workflow: string; readonly runs: number })[];
  /** By model, highest cost first; includes failed calls whose spending is known. */
  readonly models: readonly ModelSpending[];
  readonly whole: Spending;
  readonly runs: number;
  /** Runs with an unreadable record, which the sums leave out. */
  readonly unread: readonly { readonly id: string; readonly problem: string }[];
}

/**
 * Returns what all recorded runs have spent, counting each call once, in the run that paid for it. Reads the record of each run.
 *
 * @throws SkeinError `SKEIN_STORE`
 * @example
 * for (const { day, usd, unpricedCalls } of readCosts(store).days) console.log(day, usd, unpricedCalls);
 */
export function readCosts(store: Store): RunCosts {
  const whole = new Tally();
  const days = new Map<string, Tally>();
  const workflows = new Map<string, { readonly spent: Tally; runs: number }>();
  const unread: { id: string; problem: string }[] = [];
  let runs = 0;
  for (const { id, name } of store.list()) {
    try {
      const calls = [...callsOf(store, id)];
      runs += 1;
      const workflow = madeOnce(workflows, name, () => ({ spent: new Tally(), runs: 0 }));
      workflow.runs += 1;
      for (const { at, count } of calls) {
        count(madeOnce(days, dayOf(at), () => new Tally(whole)));
        count(workflow.spent);
      }
    } catch (error) {
      if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_JOURNAL') throw error;
      unread.push({ id, problem: error.message });
    }
  }
  const byDay = [...days].toSorted(([a], [b]) => (a < b ? 1 : -1));
  const byName = [...workflows].map(([workflow, { spent, runs: count }]) => ({
    workflow,
    runs: count,
    ...spent.spending(),
  }));
  return {
    days: byDay.map(([day, spent]) => ({ day, ...spent.spending() })),
    workflows: byName.toSorted(dearest),
    models: [...whole.byModel.values()].toSorted(dearest),
    whole: whole.spending(),
    runs,
    unread,
  };
}

/** @throws SkeinError `SKEIN_JOURNAL`, `SKEIN_STORE` */
export function spentBy(store: Store, runId: string): Spending {
  const spent = new Tally();
  for (const { count } of callsOf(store, runId)) count(spent);
  return spent.spending();
}

function dearest(one: { readonly usd: number }, other: { readonly usd: number }): number {
  return other.usd - one.usd;
}

/** A model call, the time of its end, and how it is counted. */
interface PaidCall {
  readonly at: number;
  readonly count: CountCall;
}

/** All calls that a run has made, including calls that failed, were cut off, or whose answer is no longer used. */
function callsOf(store: Store, runId: string): readonly PaidCall[] {
  const calls: PaidCall[] = [];
  const replay = new Replay(
    runId,
    (record) => {
      const count = callOf(store, record);
      if (count !== undefined) calls.push({ at: record.at, count });
    },
    { keeps: false },
  );
  for (const batch of store.read(runId)) replay.add(batch);
  const { lost, underWay } = replay.history().calls;
  const isOver = !isHeld(rowOf(store, runId), systemClock.now());
  for (const { at, spent } of [...lost, ...(isOver ? underWay : [])])
    calls.push({ at, count: (tally) => tally.cutOff(spent) });
  return calls;
}
