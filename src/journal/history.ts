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

/** The contents of a journal: a pure fold of its records. */
export interface RunHistory {
  readonly begin: BeginRecord;
  /** Definition and inputs of the last session. */
  readonly current: Pick<BeginRecord, 'plan' | 'code' | 'inputs' | 'settings'>;
  readonly sessions: readonly Session[];
  /** Outcomes by key, newest last: a key has several after an edit, or after a failure and a retry. */
  readonly entries: ReadonlyMap<string, readonly Entry[]>;
  readonly outcomes: number;
  /** Last start of each effect without an outcome, by key. */
  readonly started: ReadonlyMap<string, StartedEffect>;
  /** Due times of timers without an outcome. */
  readonly timers: ReadonlyMap<string, { readonly id?: string; readonly due: number }>;
  /** Questions and events without an outcome. */
  readonly pauses: ReadonlyMap<string, PauseRecord>;
  /** Keys of those that the end of a step has closed. */
  readonly closed: ReadonlySet<string>;
  /** Reservations and spending under a budget, in the order of the journal. */
  readonly spends: readonly SpendEntry[];
  /** Reserved model calls without an end. */
  readonly calls: Pick<LostCalls, 'lost' | 'underWay'>;
  /** In the order of the journal. */
  readonly logs: readonly LogRecord[];
  /** Steps that were skipped: they have no outcome. */
  readonly skips: readonly Skip[];
  /** Files that its steps, and the runs that they started, wrote after something untrusted. */
  readonly wrote: ReadonlySet<string>;
  /** Milliseconds of all sessions together; a session whose process died lasted until its last record. */
  readonly ms: number;
  /** Number of batches. With `sum`, the digest of the last batch, the position where the journal continues. */
  readonly batches: number;
  readonly sum: string;
  /** Description of a torn tail that was left out. */
  readonly cut?: string;
}

/** A step that was skipped. */
export interface Skip {
  readonly path: string;
  /** Between those of the outcomes before and after it. */
  readonly order: number;
}

/** A record of spending apart from outcomes, with its position. */
export interface SpendEntry {
  readonly record: StartRecord | SpentRecord;
  /** Index into `sessions`. */
  readonly session: number;
  /** Number of outcomes before it. */
  readonly outcomes: number;
}

/** One process that ran the run. */
export interface Session {
  readonly open: OpenRecord;
  readonly end?: EndRecord;
}

/** Whether nothing of a run is left to do after this session: it succeeded, or ended as the workflow defines. */
export function endsForGood({ end }: Session): boolean {
  return end?.outcome === 'succeeded' || (end?.outcome === 'failed' && isEnding(end.error));
}

/** A recorded outcome: its line, and the facts needed about every outcome. */
export class Entry {
  constructor(
    private readonly line: string,
    /** Position in the order of delivery; grows. */
    readonly order: number,
    /** Index into `sessions`. */
    readonly session: number,
    /** A failed clean-up is a `failure`. */
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
  /** True if it ended with an error, which does not show whether it had its effect. */
  readonly failed: boolean;
  /** Keys of open questions that it has asked since its start, and waits for. Absent if there are none. */
  readonly asks?: readonly string[];
}

/** A start whose end is not known, and the run that started it. */
export interface LostStart extends StartedEffect {
  readonly runId: string;
}
