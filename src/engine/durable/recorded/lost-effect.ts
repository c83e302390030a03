import { innerKey } from '../../../base/address.js';
import { isoTime } from '../../../base/clock.js';
import type { LostStart } from '../../../journal/history.js';
import type { Outcome, Wait } from '../../ports/durable.js';
import type { RecordedQuestions } from './recorded-questions.js';
import type { RecordedTicket } from './recorded-ticket.js';

const AGAIN = 'run it';
const WAS_DONE = 'it was done';
const GIVE_UP = 'fail';

/** A `once` effect that was started and has no recorded success (J6). Its probe, or else a person, says what happened. */
export class LostEffect {
  readonly asked: string;
  /** It contains the time of the start, so that an answer counts only for that start. */
  readonly question: Wait;

  constructor(
    private readonly ticket: Pick<RecordedTicket, 'key' | 'options'>,
    private readonly start: LostStart,
  ) {
    const { key, options } = ticket;
    const evidence = options?.lost?.evidence;
    const end = start.failed
      ? 'It ended with an error, which may have come after its effect.'
      : 'The run was interrupted before it ended.';
    const text = `'${key}' may be done once only, and was started at ${isoTime(start.at)}. ${end} What happened?`;
    const choices = [AGAIN, WAS_DONE, GIVE_UP];
    const shown = evidence === undefined ? {} : { evidence };
    this.asked = innerKey(key, 'outcome');
    this.question = { name: this.asked, question: { text, choices, schema: { enum: choices }, ...shown } };
  }

  /** Whether its probe is called before a person is asked. */
  isProbed(questions: RecordedQuestions): boolean {
    return this.ticket.options?.lost?.probe !== undefined && !questions.hasAnswer(this.asked, this.question);
  }

  /** What its probe finds out: its outcome, or that it is to be performed. Undefined: not known. */
  async probed(signal: AbortSignal): Promise<Outcome | 'perform' | undefined> {
    const { key, options } = this.ticket;
    const { at: startedAt, runId } = this.start;
    const found = await options?.lost?.probe?.({ idempotencyKey: `${runId}/${key}`, startedAt, signal });
    if (found === undefined) return undefined;
    return found.done ? { ok: true, value: found.result } : 'perform';
  }

  /** What a person's answer means. */
  answered(answer: Outcome): Outcome | 'perform' {
    const { key, options } = this.ticket;
    if (!answer.ok) return answer;
    if (answer.value === AGAIN) return 'perform';
    if (answer.value === WAS_DONE) return { ok: true, value: options?.lost?.value?.() };
    const message = `'${key}' was given up: it may be done only once, and it is not known what happened`;
    return { ok: false, error: { code: 'SKEIN_STEP_FAILED', message } };
  }
}
