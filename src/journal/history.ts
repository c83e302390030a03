import { isEnding } from '../base/errors.js';
import type { LostCalls } from './lost-calls.js';
import type {
  BeginRecord,
  DoneRecord,
  EndRecord,
  LogRecord,
  OpenRecord,
  PauseRecord,
  SpentRecord,
  StartRecord,
} from './record.js';
import { readChecked } from './schema.js';

/** What a journal says: a pure fold of its records. */
export interface RunHistory {
  readonly begin: BeginRecord;
  /** The definition and inputs that the last session ran with. */
  readonly current: Pick<BeginRecord, 'plan' | 'code' | 'inputs' | 'settings'>;
  readonly sessions: readonly Session[];
  /** Outcomes by key, newest last: a key has several when it was edited, or failed and was tried again. */
  readonly entries: ReadonlyMap<string, readonly Entry[]>;
  /** How many outcomes there are. */
  readonly outcomes: number;
  /** Keys of effects that were started and have no outcome: their last start. */
  readonly started: ReadonlyMap<string, StartedEffect>;
  /** When timers without an outcome are due. */
  readonly timers: ReadonlyMap<string, { readonly id?: string; readonly due: number }>;
  /** Questions and events without an outcome. */
  readonly pauses: ReadonlyMap<string, PauseRecord>;
  /** What was reserved and spent under a budget, in the order of the journal. */
  readonly spends: readonly SpendEntry[];
  /** Calls of models that were reserved and have no end. */
  readonly calls: Pick<LostCalls, 'lost' | 'underWay'>;
  /** In the order of the journal. */
  readonly logs: readonly LogRecord[];
  /** All sessions together, in milliseconds; one whose process died lasted until its last record. */
  readonly ms: number;
  /** Number of batches, and digest of the last: where a journal is continued. */
  readonly batches: number;
  readonly sum: string;
  /** A torn tail that was left out, in words. */
  readonly cut?: string;
}

/** What is recorded of spending apart from outcomes, and where it stands. */
export interface SpendEntry {
  readonly record: StartRecord | SpentRecord;
  /** Index into `sessions`. */
  readonly session: number;
  /** How many outcomes stand before it. */
  readonly outcomes: number;
}

/** One process that ran the run. */
export interface Session {
  readonly open: OpenRecord;
  readonly end?: EndRecord;
}

/** Nothing of a run is left to do after such a session: it succeeded, or the workflow said itself that it ends. */
export function endsForGood({ end }: Session): boolean {
  return end?.outcome === 'succeeded' || (end?.outcome === 'failed' && isEnding(end.error));
}

/** A recorded outcome: its line, and what is asked of all of them. */
export class Entry {
  constructor(
    private readonly line: string,
    /** Place in the order of delivery; grows. */
    readonly order: number,
    /** Index into `sessions`. */
    readonly session: number,
    /** A clean-up that failed is a failure. */
    readonly kind: 'success' | 'failure' | 'cleanup',
  ) {}

  get record(): DoneRecord {
    return readChecked(this.line) as DoneRecord;
  }
}

/** An effect that was about to start. */
export interface StartedEffect {
  readonly at: number;
  readonly id?: string;
  /** It ended with an error, which does not say whether it had its effect. */
  readonly failed: boolean;
  /** Keys of questions that it has asked since it started, and that have no answer: it stands there. Absent: none. */
  readonly asks?: readonly string[];
}
