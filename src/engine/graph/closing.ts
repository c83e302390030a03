import { isEnding, type ErrorData } from '../../base/errors.js';
import { present } from '../../base/json.js';
import {
  addCensus,
  allowedIn,
  isDegraded,
  type Census,
  type OpenCensus,
  type RunOutcome,
} from '../../events/census.js';
import { RUN_ERROR, RUN_OUTCOME } from '../../plan/endings.js';
import type { Again, FailedInside } from '../ports/executor.js';
import type { ScopeEnd, ScopeHandle, ScopeOwner, Stoppable } from '../services.js';
import { inputCell } from '../state/cell.js';
import type { StepOwner } from '../steps/step.js';
import type { Version } from '../state/version.js';
import type { ChannelTable } from './channel-table.js';
import type { CompiledPlan } from './compile.js';

/** An execution of a plan that has ended, as its `finally` node needs it. */
export interface ClosingScope
  extends
    Pick<ScopeHandle, 'census' | 'control'>,
    Pick<StepOwner, 'run' | 'prefix' | 'parent' | 'outside' | 'labelOf' | 'count'> {
  readonly channels: ChannelTable;
  /** Label of the steps whose success shows in how the plan ended. */
  readonly lasting: number;
}

/** The end of a scope whose plan has a `finally` node, with its final state. */
export interface Closed {
  readonly end: ScopeEnd;
  readonly final: Version;
}

/** Whether the plan has ended: one that waits for an answer, or for budget, has not. */
export function closes({ type }: ScopeEnd): boolean {
  return type !== 'paused' && type !== 'out_of_budget';
}

/**
 * Runs the node `finally` of a plan after the end of all others, with any outcome. It sees the final state and how the plan ended. Its own
 * end changes no other outcome: its failure makes a success degraded. Calls `told` at its end.
 *
 * A plan that is over has the same address in every session, so that its closing work is not repeated. A plan that failed or was cut off
 * may be tried again, and is then closed again: the address differs by session.
 */
export class Closing implements ScopeOwner, Stoppable {
  private readonly inside: ScopeHandle;

  constructor(
    private readonly scope: ClosingScope,
    closing: CompiledPlan,
    private readonly closed: Closed,
    /** Undefined if only the run waits for it, because the plan was cut off. */
    private told: ((end: ScopeEnd) => void) | undefined,
  ) {
    const { run, prefix, parent, channels } = scope;
    const { version, influence } = seenBy(scope, closed);
    const visit = visitOf(scope, closed.end);
    this.inside = run.openScope({
      compiled: closing,
      prefix,
      parent,
      inputs: version,
      influence,
      channels,
      visit,
      owner: this,
    });
  }

  scopeEnded(scope: ScopeHandle, how: ScopeEnd): void {
    const { end } = this.closed;
    const { told } = this;
    // Without its plan, this failure neither fails what continues nor counts as intended.
    if (how.type === 'failed' && (told === undefined || errorOf(end) === undefined)) allow(scope.census);
    if (told === undefined) {
      this.scope.run.paid(this, scope.census, scope.reports);
      return;
    }
    this.scope.count(scope.census, scope.reports);
    told(!closes(how) && !isCancelled(end) ? how : end);
  }

  /** The step that contained the plan has ended: from here on only the run waits for the closing. */
  detach(): void {
    this.told = undefined;
    this.scope.run.owes(this);
  }

  stop(): void {
    this.inside.abort();
    this.scope.count(this.inside.census, this.inside.reports);
  }

  stopClock(): () => void {
    return this.scope.outside.stopClock();
  }

  get correction(): string | undefined {
    return this.scope.outside.correction;
  }

  callsOnce(): void {
    this.scope.outside.callsOnce();
  }

  wrote(path: string): void {
    this.scope.outside.wrote(path);
  }

  influenced(label: number): void {
    this.scope.outside.influenced(label);
  }

  again(failed: FailedInside): Again | undefined {
    return this.scope.outside.again(failed);
  }
}

/** Counts the failures of a closing as allowed. One that is not of a step, such as a conflict at its end, was not counted. */
function allow(census: OpenCensus): void {
  const more = allowedIn(census);
  addCensus(census, { ...more, degraded: Math.max(1, more.degraded) });
}

/** Why a step was cancelled by this end of its plan. */
export function cutOffBy(end: ScopeEnd): string {
  if (end.type === 'ended' || (end.type === 'failed' && isEnding(end.error)))
    return `cut off by the end at ${end.path}`;
  return end.type === 'failed' && end.path !== '' ? `cut off when ${end.path} failed` : 'the run ended first';
}

/** Undefined if the plan ended well. */
function errorOf(end: ScopeEnd): ErrorData | undefined {
  return 'error' in end ? end.error : undefined;
}

function isCancelled(end: ScopeEnd): boolean {
  return errorOf(end)?.code === 'SKEIN_CANCELLED';
}

/** The final state, with how the plan ended. */
function seenBy(scope: ClosingScope, { end, final }: Closed): { version: Version; influence: number } {
  const { run, channels } = scope;
  const influence = scope.control;
  // A failure may quote what was read. That a plan did not fail is what all its steps said.
  const label = run.labels.join(run.labels.join(influence, scope.labelOf(final)), scope.lasting);
  let version = final;
  const put = (name: string, value: unknown): void => {
    const at = channels.index.get(name);
    if (at !== undefined && value !== undefined)
      version = version.with(at, inputCell(value, channels.reducers[at], label));
  };
  const error = errorOf(end);
  put(RUN_OUTCOME, outcomeOf(end, scope.census));
  put(RUN_ERROR, error === undefined ? undefined : toldError(error));
  return { version, influence };
}

function toldError({ code, message, hint }: ErrorData): object {
  return present({ code, message, hint });
}

function outcomeOf(end: ScopeEnd, census: Census): RunOutcome {
  if (isCancelled(end)) return 'cancelled';
  if (errorOf(end) !== undefined) return 'failed';
  return isDegraded(census) ? 'degraded' : 'succeeded';
}

/**
 * The visit number of a closing. The run's own plan is closed, and numbered, once for each session after which it is tried again. A called
 * plan that is done keeps 1; otherwise, failed or degraded ones get even numbers, and cut-off ones odd numbers of two kinds. The record
 * repeats what cut a plan off, so its closing is found again; a cancelled run records nothing of that, so each session closes anew.
 */
function visitOf({ run, census, prefix }: ClosingScope, end: ScopeEnd): number {
  const { ended = 0, continued = 0, sessions = 0 } = run.durable.closings ?? {};
  if (prefix === '') return ended + 1;
  if (isCancelled(end)) return run.cancelled ? 4 * sessions + 5 : 4 * continued + 3;
  const error = errorOf(end);
  // An intended failure is not tried again.
  const isDone = (error === undefined || isEnding(error)) && !isDegraded(census);
  return isDone ? 1 : 2 * ended + 2;
}

/** Maximum milliseconds for closing work at the end of a cancelled run. */
export const CLOSING_MS = 60_000;

/** The error of a cancelled run whose closing was cut off. */
export const CLOSING_CUT_OFF: ErrorData = {
  code: 'SKEIN_CANCELLED',
  message: 'the run was cancelled, and what ran at its end was cut off',
};

/** Cut-off plans that are being closed, and the end of the run's own plan in the meantime: the run waits for them. */
export class OpenClosings {
  /** Created with the first entry: most runs have none. */
  private open: Set<Stoppable> | undefined = undefined;
  private end: ScopeEnd | undefined = undefined;

  add(closing: Stoppable): void {
    (this.open ??= new Set()).add(closing);
  }

  /** Returns how the run ends, if nothing keeps it open any more. */
  remove(closing: Stoppable): ScopeEnd | undefined {
    this.open?.delete(closing);
    return this.isClosed ? this.end : undefined;
  }

  /** Notes the end of the run's own plan. Returns false if the run has to wait. */
  isOver(end: ScopeEnd): boolean {
    this.end = end;
    return this.isClosed;
  }

  stop(): void {
    for (const closing of this.open ?? []) closing.stop();
    this.open?.clear();
  }

  private get isClosed(): boolean {
    return this.open === undefined || this.open.size === 0;
  }
}
