import type { Clock } from '../../../base/clock.js';
import type { AnswerQuestion } from '../memory-durable.js';
import type { Question } from '../../ports/durable.js';

/** What a recording back end can be told. */
export interface RecordedOptions {
  readonly clock?: Clock;
  /** Answers questions here. Absent, or rejected with `SKEIN_QUESTION`: they stay open. */
  readonly answer?: AnswerQuestion | undefined;
  /** A question has an answer in the record. All of these are reported before anything is asked (R3). */
  readonly onReplayedAnswer?: (question: Question, address: string) => void;
  /** Somebody asked for the run to be cancelled. */
  readonly onCancel?: () => void;
}
