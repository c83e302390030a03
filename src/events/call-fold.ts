import { pathOf } from '../base/address.js';
import { present } from '../base/json.js';
import type { InnerCall, SkeinEvent, StepNote } from './event.js';
import { NO_SPENDING, NO_USAGE, Tally, type CountsCalls, type Spending } from './spending.js';

/** Counts a model call made by a run that a function of the step started. */
export function countInner(tally: CountsCalls, { model = '?', usage, cost, failed }: Omit<InnerCall, 'kind'>): void {
  if (failed === true) tally.cutOff({ model, usage, ...present({ cost }) });
  else tally.answered(model, usage, cost);
}

/** Returns a counter for the calls of a run that a function started. It reports each call to the step. */
export function innerCalls(tell: (note: InnerCall) => void): CountsCalls {
  const kind = 'inner.call';
  return {
    answered: (model, usage, cost) => tell({ kind, model, usage, ...present({ cost }) }),
    cutOff: (spent) => tell({ kind, failed: true, ...(spent ?? { usage: NO_USAGE }) }),
    refused: () => tell({ kind, failed: true, usage: NO_USAGE, cost: { usd: 0 } }),
    called: () => undefined,
  };
}

/** Counts a step's model and tool calls from its notes: new ones, and separately the reused ones that were paid before. */
export class CallFold {
  asked: string | undefined = undefined;
  /** Ids of tool calls that are in progress and had been started before. */
  private known: Set<string> | undefined = undefined;

  constructor(
    readonly paid: Tally,
    private readonly saved?: Tally,
  ) {}

  /** `again`: the note was already reported when it first happened. */
  take(note: StepNote, again: boolean): void {
    if (note.kind === 'model.started' || note.kind === 'model.admitted') this.asked = note.model;
    else if (note.kind === 'model.queued') this.asked = undefined;
    else if (note.kind === 'model.failed' || note.kind === 'model.ended') {
      this.asked = undefined;
      const tally = again ? this.saved : this.paid;
      if (note.kind === 'model.failed') tally?.failed(note.error);
      else tally?.answered(note.model, note.usage, note.cost);
    } else if (note.kind === 'tool.started') this.toolStarted(note.id, again);
    else if (note.kind === 'tool.ended') this.toolEnded(note.id, again);
    else if (note.kind === 'inner.call') {
      const tally = again ? this.saved : this.paid;
      if (tally !== undefined) countInner(tally, note);
    }
  }

  private toolStarted(id: string, again: boolean): void {
    if (again) (this.known ??= new Set()).add(id);
    else this.paid.called(1);
  }

  /** A call that had been started before, and whose result is not in the record, is made again. */
  private toolEnded(id: string, again: boolean): void {
    if (this.known?.delete(id) !== true) return;
    if (again) this.saved?.called(1);
    else this.paid.called(1);
  }

  over(): void {
    this.asked = undefined;
  }
}

/** Counts what steps spend while they run, with all inside them and all attempts. Needs every event of a run, in order. */
export class StepTallies {
  private readonly open = new Map<string, CallFold>();

  /** Returns what the step of an event has spent so far in this session. */
  take(event: SkeinEvent): Spending {
    if (event.path === '') return NO_SPENDING;
    const path = pathOf(event.path);
    const known = this.open.get(path);
    const again = event.replayed === true;
    if (event.type === 'step.started' && known === undefined) {
      this.open.set(path, new CallFold(new Tally(this.open.get(pathOf(event.parent))?.paid)));
    } else if (event.type === 'step.note') known?.take(event.note, again);
    else if (event.type === 'step.ended') this.open.delete(path);
    return known?.paid.spending() ?? NO_SPENDING;
  }
}
