import { moreOf, stepOf } from '../../../base/address.js';
import { moreIn } from '../../../budget/lack-text.js';
import type { BudgetChange } from '../../../plan/budget.js';
import type { Measure } from '../../../plan/budget-text.js';
import { effectInside } from '../../../base/names-inside.js';
import { isBelow } from '../alive-time.js';
import { amountOfCall, amountOfEffect, NO_AMOUNT, type Amount } from '../../../budget/amount.js';
import type { Entry, RunHistory, SpendEntry } from '../../../journal/history.js';
import { isCutOff, spentOfCutOff } from '../../../journal/overview-trace.js';
import type { Store } from '../../../journal/store.js';
import { readStored } from '../../../journal/stored.js';

export interface SpentAt {
  readonly path: string;
  readonly amount: Amount;
}

/**
 * Returns what a run has spent according to its records, whatever a replay reuses: including calls made obsolete by an edit, and those of
 * sessions without a budget. A reservation without an end counts as spent.
 *
 * @throws SkeinError `SKEIN_JOURNAL` if a value is lost
 */
export function recordedSpending(store: Store, history: RunHistory): readonly SpentAt[] {
  const apart = spentApart(history);
  const all = [...apart.all];
  for (const [key, entries] of history.entries) {
    const path = stepOf(key);
    const name = key.slice(path.length + 1);
    const inside = effectInside(name);
    let counted = apart.toolCalls.get(key) ?? 0;
    for (const entry of entries) {
      const spent = spentBy(store, inside ?? name, entry);
      if (spent === undefined) break;
      if (inside !== undefined && apart.isCounted(entry, spent)) continue;
      all.push({ path, amount: { ...spent, toolCalls: Math.max(0, spent.toolCalls - counted) } });
      counted = Math.max(0, counted - spent.toolCalls);
    }
  }
  for (const { path, amount, session } of cutOffs(history))
    if (!apart.reserved.has(`${session} ${path}`)) all.push({ path, amount });
  return all;
}

interface Apart {
  readonly all: readonly SpentAt[];
  /** Number of their tool calls, by the effect that made them. */
  readonly toolCalls: ReadonlyMap<string, number>;
  /** Sessions and steps with reserved calls. */
  readonly reserved: ReadonlySet<string>;
  /** Whether what a run inside an effect has spent is among these records: that of a session with a budget for it is. */
  readonly isCounted: (entry: Entry, amount: Amount) => boolean;
}

function spentApart(history: RunHistory): Apart {
  const all: SpentAt[] = [];
  const toolCalls = new Map<string, number>();
  const reserved = new Set<string>();
  const parts = new Map<number, SpentAt>();
  /** Sessions in which a budget counted calls of models, and those in which it counted calls of tools. */
  const counting = { calls: new Set<number>(), toolCalls: new Set<number>() };
  for (const entry of begunOf(history.spends)) {
    const { record, session } = entry;
    const path = stepOf(record.key);
    if (record.t === 'start') counting.calls.add(session);
    else if (record.spent.toolCalls > 0) counting.toolCalls.add(session);
    if (record.t === 'spent') {
      if (record.part === undefined)
        toolCalls.set(record.key, (toolCalls.get(record.key) ?? 0) + record.spent.toolCalls);
      else parts.delete(record.part);
      all.push({ path, amount: record.spent });
    } else if (record.part === undefined) {
      reserved.add(`${session} ${path}`);
      if (!hasEnded(history, entry)) all.push({ path, amount: record.reserved ?? NO_AMOUNT });
    } else parts.set(record.part, { path, amount: record.reserved ?? NO_AMOUNT });
  }
  const isCounted = ({ session }: Entry, { calls }: Amount): boolean =>
    (calls > 0 ? counting.calls : counting.toolCalls).has(session);
  return { all: [...all, ...parts.values()], toolCalls, reserved, isCounted };
}

/** Leaves out reservations that were not used. */
function begunOf(spends: readonly SpendEntry[]): readonly SpendEntry[] {
  const begun: SpendEntry[] = [];
  for (const entry of spends) {
    const { record } = entry;
    if (!('unmade' in record)) begun.push(entry);
    else {
      const at = begun.findLastIndex((other) => other.record.key === record.key && other.record.part === undefined);
      if (at >= 0) begun.splice(at, 1);
    }
  }
  return begun;
}

/** Whether the effect has an outcome in the same session, which contains what was spent. */
function hasEnded({ entries }: RunHistory, { record: { key }, session, outcomes }: SpendEntry): boolean {
  return entries.get(key)?.some((entry) => entry.session === session && entry.order >= outcomes) === true;
}

function spentBy(store: Store, name: string, entry: Entry): Amount | undefined {
  return amountOfEffect(name, () => {
    const { record } = entry;
    const { error } = record;
    if (error !== undefined) return { ok: false, error };
    return { ok: true, value: entry.kind === 'success' ? readStored(store, record) : undefined };
  });
}

/** Calls in progress at the end of their steps, in sessions without a budget. */
function cutOffs({ logs, sessions }: RunHistory): readonly (SpentAt & { readonly session: number })[] {
  return logs.flatMap((log) => {
    const spent = isCutOff(log) ? spentOfCutOff(log.body['note']) : undefined;
    if (spent === undefined) return [];
    const session = sessions.findLastIndex(({ open }) => open.at <= log.at);
    return [{ path: log.path, session, amount: amountOfCall(spent) }];
  });
}

/** Milliseconds in which effects of a place ran, according to the records; parallel effects count once. */
export function recordedWork({ entries }: RunHistory, path: string): number {
  const done = [...entries].flatMap(([key, all]) => (isBelow(key, path) ? all.map(({ record }) => record) : []));
  let until = 0;
  let sum = 0;
  for (const { at, ms = 0 } of done.toSorted((one, other) => one.at - other.at)) {
    sum += Math.min(ms, at - until);
    until = at;
  }
  return sum;
}

/** People's answers about raising a limit, in order. */
export function answeredMore(store: Store, { entries }: RunHistory): readonly BudgetRow[] {
  const answers: { readonly limit: string; readonly measure: Measure; readonly entry: Entry }[] = [];
  // Most keys of a long record are others: skip them without an allocation.
  for (const [key, all] of entries) {
    const more = moreOf(key);
    if (more === undefined) continue;
    const [limit, measure] = more;
    for (const entry of all) answers.push({ limit, measure: measure as Measure, entry });
  }
  return answers
    .toSorted((one, other) => one.entry.order - other.entry.order)
    .flatMap(({ limit, measure, entry: { kind, record } }) => {
      const change = kind === 'success' ? moreIn(measure, readStored(store, record)) : undefined;
      return change === undefined ? [] : [{ limit, change }];
    });
}

export interface BudgetRow {
  readonly limit: string;
  readonly change: BudgetChange;
}
