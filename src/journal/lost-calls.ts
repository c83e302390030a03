import { pathOf, stepOf } from '../base/address.js';
import { isPlainObject } from '../base/json.js';
import type { Spent } from '../events/cost.js';
import { NO_USAGE, Tally, type Spending } from '../events/spending.js';
import type { JournalRecord, SpentRecord, StartRecord } from './record.js';

/** A model call that was recorded under a budget before it was made, and has no recorded end: it counts as spending its reservation. */
export interface LostCall {
  readonly path: string;
  readonly at: number;
  readonly spent: Spent;
}

export function spentOn(calls: readonly LostCall[]): Spending {
  const tally = new Tally();
  for (const { spent } of calls) tally.cutOff(spent);
  return tally.spending();
}

/** Finds the calls in progress when the process of a session died. Takes the records of a journal in order. */
export class LostCalls {
  /** Calls of sessions that are over. */
  readonly lost: LostCall[] = [];
  private readonly open = new Map<string, LostCall>();

  /** Calls of the last session: lost, unless the session still runs. */
  get underWay(): readonly LostCall[] {
    return [...this.open.values()];
  }

  add(record: JournalRecord): void {
    if (record.t === 'start') this.begin(record);
    else if (record.t === 'done') this.open.delete(record.key);
    else if (record.t === 'spent') this.spent(record);
    else if (record.t === 'log') this.cutOff(record.path, record.body['note']);
    else if (record.t === 'open') {
      this.lost.push(...this.open.values());
      this.open.clear();
    }
  }

  private begin(record: StartRecord): void {
    const { key, at, reserved } = record;
    if (reserved === undefined || reserved.calls === 0) return;
    // No dollars are reserved for a call without a price.
    const cost = reserved.usd === 0 ? {} : { cost: { usd: reserved.usd, estimated: true as const } };
    this.open.set(nameOf(record), { path: pathOf(stepOf(key)), at, spent: { usage: NO_USAGE, ...cost } });
  }

  /** A record that has no number and is not `unmade`, such as that of a tool inside a call, ends nothing: the call continues. */
  private spent(record: SpentRecord): void {
    if (record.part !== undefined || record.unmade === true) this.open.delete(nameOf(record));
  }

  /** A log line contains what the call counts as. */
  private cutOff(path: string, note: unknown): void {
    if (!isPlainObject(note) || note['kind'] !== 'model.failed') return;
    for (const [name, call] of this.open) if (call.path === pathOf(path)) this.open.delete(name);
  }
}

function nameOf({ key, part }: { readonly key: string; readonly part?: number }): string {
  return part === undefined ? key : `${part} ${key}`;
}
