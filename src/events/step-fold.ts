import { present } from '../base/json.js';
import { CallFold } from './call-fold.js';
import type { Asking, EventBody, StepNote } from './event.js';
import type { StepEnding, StepOutcome } from './census.js';
import { endingOf } from './census.js';
import type { Spending } from './spending.js';
import { NO_SPENDING, Tally } from './spending.js';
import { isSupervisionNote } from './supervision.js';
import type { SupervisionNote } from './supervision.js';

const NOT_JUDGED: SupervisionAccount = { by: 'model', corrections: 0, accepted: false };

/** What is reported of a step wherever steps are reported: by `show`, in JSON, in the audit folder. */
export interface StepAccount extends Omit<StepEnding, 'outcome'>, Spending {
  readonly attempts: number;
  /** What became of its supervision so far. Absent: nobody judged anything of it yet. */
  readonly supervision?: SupervisionAccount;
}

/** What became of the supervision of a step. */
export interface SupervisionAccount {
  /** Who judged it last; a model also where promise and work agreed at once. */
  readonly by: 'model' | 'human';
  /** Where the person's answer came from: `terminal`, `command`, `code`, `script`. Absent: nobody was asked, or the record does not say. */
  readonly answeredBy?: string;
  readonly corrections: number;
  /** What it gave counts. */
  readonly accepted: boolean;
}

/**
 * What is known of one step so far. Everything that reports steps folds them here: events come by `take`, what is read of records by the other methods.
 *
 * @example
 * const step = new StepFold(event.at);
 * step.take(event, event.at);
 * step.account().attempts; // 1
 */
export class StepFold {
  /** Absent while it runs. */
  ending: StepEnding | undefined = undefined;
  /** Milliseconds since 1970. */
  endedAt: number | undefined = undefined;
  attempts = 1;
  /** The model that answered last, or is asked. */
  model: string | undefined = undefined;
  /** Made with the first event: who reads records takes none, and has many steps. */
  private calls: CallFold | undefined = undefined;
  private judged: SupervisionAccount | undefined = undefined;

  /** `tally`: counts what it spends, or makes what does; `saved`: where what is reused is counted, if anywhere. */
  constructor(
    public startedAt: number,
    private tally: Tally | (() => Tally) = () => new Tally(),
    private readonly saved?: Tally,
  ) {}

  /** Made when it is first needed: most steps call nothing. */
  get spent(): Tally {
    if (typeof this.tally === 'function') this.tally = this.tally();
    return this.tally;
  }

  /** What it has spent. */
  spending(): Spending {
    return typeof this.tally === 'function' ? NO_SPENDING : this.tally.spending();
  }

  /** The model that is being asked. */
  get asked(): string | undefined {
    return this.calls?.asked;
  }

  get status(): 'running' | StepOutcome {
    return this.ending?.outcome ?? 'running';
  }

  get reason(): string | undefined {
    return this.ending?.reason;
  }

  get error(): StepEnding['error'] {
    return this.ending?.error;
  }

  /** Takes an event of the step. `again`: it was reported before, and what it spent is not counted. */
  take(event: EventBody, at: number, again = false): void {
    const calls = (this.calls ??= new CallFold(this.spent, this.saved));
    if (event.type === 'step.note') {
      calls.take(event.note, again);
      this.note(event.note);
    } else if (event.type === 'step.retrying') {
      calls.over();
      this.retry(event.attempt);
    } else if (event.type === 'step.ended') {
      calls.over();
      this.end(event, at, event.attempts);
    }
  }

  /** It is tried again. */
  retry(attempt: number): void {
    this.attempts = Math.max(this.attempts, attempt);
  }

  /** It ended; of one that was skipped right away there were 0 attempts. */
  end(ending: StepEnding, at: number, attempts = this.attempts): void {
    this.ending = endingOf(ending);
    this.attempts = attempts;
    this.endedAt = at;
  }

  /** It goes on after all. */
  reopen(): void {
    this.ending = undefined;
    this.endedAt = undefined;
  }

  account(ending = this.ending): StepAccount {
    const { attempts } = this;
    const { outcome: _outcome, ...why } = ending ?? { outcome: undefined };
    const { judged } = this;
    return { ...why, attempts, ...this.spending(), ...(judged === undefined ? {} : { supervision: judged }) };
  }

  /** Somebody judged an attempt: it counts, or it is corrected; or it is only known that a person was asked. */
  judge(said: 'accepted' | 'corrected' | 'human', answeredBy?: string): void {
    const { corrections, ...before } = this.judged ?? NOT_JUDGED;
    if (said === 'human')
      this.judged = { by: 'human', ...present({ answeredBy }), corrections, accepted: before.accepted };
    else if (said === 'accepted') this.judged = { ...before, corrections, accepted: true };
    // Who judges the next attempt is not known yet.
    else this.judged = { by: 'model', corrections: corrections + 1, accepted: false };
  }

  private note(note: StepNote): void {
    if (note.kind === 'prompt') this.model = note.model;
    else if (note.kind === 'model.started' || note.kind === 'model.ended') this.answers(note);
    else if (note.kind === 'model.fallback') this.model = note.to;
    else if (isSupervisionNote(note)) this.supervised(note);
  }

  private supervised(note: SupervisionNote): void {
    if (note.kind === 'approval.decided') this.judge('human', note.by);
    else if (note.kind === 'supervision.accepted') this.judge('accepted');
    else if (note.kind === 'supervision.corrected') {
      this.judge('corrected');
      this.retry(note.attempt);
    }
  }

  /** Who supervises a step does not do its work. */
  private answers({ model, phase }: Asking): void {
    if (phase === undefined) this.model = model;
  }
}
