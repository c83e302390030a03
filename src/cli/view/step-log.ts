import type { EventBody, StepNote } from '../../events/event.js';
import { StepFold } from '../../events/step-fold.js';
import type { Tally } from '../../events/spending.js';
import type { Phase } from '../../events/supervision.js';
import type { RedactedStream } from '../../secrets/redact.js';
import { secretsHidden } from './printable.js';

/** Maximum length of the kept end of a text in progress, in UTF-16 units: more than the widest line shows. */
const KEPT_TEXT = 500;

/** The activity of a step while a model judges it. */
const PHASES: Readonly<Record<Phase, string>> = {
  commit: 'says what it will do',
  post: 'checks what it did',
  supervise: 'is judged',
  screen: 'has a call screened',
  review: 'has a call reviewed',
};

/** A step as the live view shows it: its facts, and its current activity. */
export class StepLog extends StepFold {
  readonly openTools = new Map<string, string>();
  /** The activity besides running: `waits 2.0s`, for example. */
  activity: string | undefined = undefined;
  /** The activity before it waited for budget. */
  private beforeWait: string | undefined = undefined;
  /** The end of the text that its model is writing, without secrets, whose beginnings may be cut off. Empty if no text is in progress. */
  said = '';
  private saying: RedactedStream | undefined = undefined;
  /** For a loop: the share of lines in the last round that the round before did not have. */
  change: number | undefined = undefined;
  output: unknown = undefined;

  declare readonly path: string;
  /** The displayed name: the path, or the target of a jump. */
  declare readonly name: string;
  declare readonly node: string;
  declare readonly kind: string;
  /** Path of the step that contains it. Empty at the top. */
  declare readonly parent: string;
  declare readonly agent: string | undefined;

  constructor(
    is: Pick<StepLog, 'path' | 'name' | 'node' | 'kind' | 'parent' | 'agent'>,
    startedAt: number,
    spent: Tally,
    /** True if the step comes from the record and has not run here so far. */
    public reused: boolean,
  ) {
    super(startedAt, spent);
    Object.assign(this, is);
  }

  override take(event: EventBody, at: number, again: boolean): void {
    super.take(event, at, again);
    if (event.type === 'step.note') {
      if (!again) this.show(event.note);
      return;
    }
    this.openTools.clear();
    this.say(undefined);
    this.activity = event.type === 'step.retrying' ? `failed (${event.error.code}), tries again` : undefined;
  }

  private show(note: StepNote): void {
    const now = activityAfter(note);
    if (note.kind === 'budget.waiting' && this.activity !== now) this.beforeWait = this.activity;
    if (now !== undefined) this.activity = now || undefined;
    else if (note.kind === 'budget.admitted') this.activity = this.beforeWait;
    else if (note.kind === 'tool.started') this.openTools.set(note.id, note.tool);
    else if (note.kind === 'tool.ended') this.openTools.delete(note.id);
    else if (note.kind === 'loop.round') this.change = note.change;
    else if (note.kind === 'model.delta') this.say(note.text);
    if (note.kind === 'model.started' || note.kind === 'model.ended') this.say(undefined);
  }

  private say(text: string | undefined): void {
    if (text === undefined) {
      this.said = '';
      this.saying = undefined;
      return;
    }
    this.saying ??= secretsHidden().stream();
    this.said = (this.said + this.saying.push(text)).slice(-KEPT_TEXT);
  }
}

/** The activity of a step after a note. Empty for plain running; undefined if the note does not change the activity. */
function activityAfter(note: StepNote): string | undefined {
  if (note.kind === 'model.started' || note.kind === 'model.admitted')
    return note.phase === undefined ? '' : PHASES[note.phase];
  if (note.kind === 'model.retrying') return `${note.error.code}, asks again`;
  if (note.kind === 'model.queued') return `waits for its turn, ${note.ahead} ahead`;
  if (note.kind === 'model.ended') return note.phase && '';
  return ACTIVITIES[note.kind];
}

const ACTIVITIES: { readonly [K in StepNote['kind']]?: string } = {
  answer: '',
  'approval.decided': '',
  'budget.waiting': 'waits for budget',
  question: 'waits for an answer',
};
