import { present } from '../base/json.js';
import { CallFold } from './call-fold.js';
import type { Asking, EventBody, StepNote } from './event.js';
import { endingOf, type StepEnding, type StepOutcome } from './census.js';
import { NO_SPENDING, Tally, type Spending } from './spending.js';
import { isSupervisionNote, type SupervisionNote } from './supervision.js';

const NOT_JUDGED: SupervisionAccount = { by: 'model', corrections: 0, accepted: false };

/** Shared by all steps that called none. */
const NO_MODELS: readonly string[] = [];

/** The facts about a step that all reports share: `show`, JSON and the audit folder. */
export interface StepAccount extends Omit<StepEnding, 'outcome'>, Spending {
  readonly attempts: number;
  /** The supervision of the step so far. Absent if nothing has been judged yet. */
  readonly supervision?: SupervisionAccount;
}

/** The state of a step's supervision. */
export interface SupervisionAccount {
  /** Who judged the step last. A model also if promise and work agreed at once. */
  readonly by: 'model' | 'human';
  /** Where the person's answer came from: `terminal`, `command`, `code`, `script`. Absent if nobody was asked or it is not recorded. */
  readonly answeredBy?: string;
  readonly corrections: number;
  /** True if the result of the step counts. */
  readonly accepted: boolean;
}

/** The facts known about one step, for all that reports steps. Events enter by `take`, recorded facts by the other methods. */
export class StepFold {
  /** Undefined while the step runs. */
  ending: StepEnding | undefined = undefined;
  /** Milliseconds since 1970. */
  endedAt: number | undefined = undefined;
  attempts = 1;
  /** The model that answered last, or whose call is in progress. */
  model: string | undefined = undefined;
  /** Created with the first event: readers of records have many steps and take no events. */
  private calls: CallFold | undefined = undefined;
  private judged: SupervisionAccount | undefined = undefined;

  /** `tally` counts the step's spending, or creates the counter. `saved` counts reused spending, if present. */
  constructor(
    public startedAt: number,
    private tally: Tally | (() => Tally) = () => new Tally(),
    private readonly saved?: Tally,
  ) {}

  /** Created on first use: most steps call nothing. */
  get spent(): Tally {
    if (typeof this.tally === 'function') this.tally = this.tally();
    return this.tally;
  }

  spending(): Spending {
    return typeof this.tally === 'function' ? NO_SPENDING : this.tally.spending();
  }

  get models(): readonly string[] {
    return typeof this.tally === 'function' ? NO_MODELS : [...this.tally.byModel.keys()];
  }

  /** The model of the call in progress. */
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

  /** Takes an event of the step. `again`: the event was already reported, and its spending is not counted. */
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

  retry(attempt: number): void {
    this.attempts = Math.max(this.attempts, attempt);
  }

  /** Notes the end of the step. A step that was skipped at once had 0 attempts. */
  end(ending: StepEnding, at: number, attempts = this.attempts): void {
    this.ending = endingOf(ending);
    this.attempts = attempts;
    this.endedAt = at;
  }

  /** Notes that an ended step continues. */
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

  /** Notes a judgement: the attempt is accepted or corrected, or it is only known that a person was asked. */
  judge(said: 'accepted' | 'corrected' | 'human', answeredBy?: string): void {
    const { corrections, ...before } = this.judged ?? NOT_JUDGED;
    if (said === 'human')
      this.judged = { by: 'human', ...present({ answeredBy }), corrections, accepted: before.accepted };
    else if (said === 'accepted') this.judged = { ...before, corrections, accepted: true };
    // The judge of the next attempt is not known yet.
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

  /** The model that supervises a step does not do its work. */
  private answers({ model, phase }: Asking): void {
    if (phase === undefined) this.model = model;
  }
}
