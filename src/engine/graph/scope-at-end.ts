import { CLEAN } from '../../guard/label.js';
import type { ErrorData } from '../../base/errors.js';
import { countAllowed } from '../../events/census.js';
import type { ScopeEnd, ScopeHandle } from '../services.js';
import { foldError, outputError } from '../state/state-writer.js';
import type { Version } from '../state/version.js';
import type { Step } from '../steps/step.js';
import { Closing, closes, cutOffBy } from './closing.js';
import { failureOf, inPlanOrder, settledError, type SettledFailure } from './explain.js';
import type { Flow } from './flow.js';
import { isEnough, tooFew } from './required.js';
import { ScopeSteps } from './scope-steps.js';

/** The error of a plan that ends because the step around it does. */
const CUT_OFF: ErrorData = { code: 'SKEIN_CANCELLED', message: 'the step around it ended first' };

/** The end of one execution of a plan: how it is reached, its final state, and what then runs, if the plan has a node for it. */
export abstract class ScopeAtEnd extends ScopeSteps implements ScopeHandle {
  around: readonly string[] | undefined = undefined;
  protected abstract readonly flow: Flow;
  protected pausedSteps = 0;
  /** The end instead of a pause: a step waited for budget. */
  protected short: ScopeEnd | undefined = undefined;
  protected settled: SettledFailure[] | undefined = undefined;
  /** Number of branches that ended with a successful step. */
  protected reached = 0;
  private closing: Closing | undefined = undefined;
  /** Label of the steps that succeeded and could have failed the plan, if something around it continues after its failure. */
  private survived = CLEAN;

  /** Label of everything that decided its routes. */
  get control(): number {
    return this.flow.control;
  }

  /** Label of the steps whose success shows in how the plan ended. */
  get lasting(): number {
    return this.compiled.survived ? this.survived : this.run.lasting;
  }

  /** `decides`: label of what influenced the abort. */
  abort(reason = CUT_OFF.message, decides = CLEAN): void {
    if (this.over) {
      this.closing?.detach();
      return;
    }
    this.over = true;
    this.flow.decided(decides);
    const started: Step[] = [];
    for (let step = this.first; step !== undefined; step = step.following) if (step.started) started.push(step);
    const seen = this.stopSteps(reason);
    // Where the plan stood influences that it took too long. What was heard inside a step is known after the step has stopped.
    for (const { influence } of started) this.flow.decided(influence);
    this.outside.influenced(this.run.labels.join(this.control, this.survived));
    if (this.compiled.closing !== undefined) this.closeApart(this.flow.mergeEnds(seen).version);
  }

  /** Stops everything and keeps the current state. Calls the owner after the end of the closing work. */
  cancel(error: ErrorData): void {
    if (this.over) return;
    this.over = true;
    this.final = this.flow.mergeEnds(this.stopSteps()).version;
    this.close({ type: 'failed', error, path: '' }, (end) => this.outside.scopeEnded(this, end));
  }

  /** Stops everything, including the closing work. */
  halt(): void {
    this.stopClosing();
    if (this.over) return;
    this.over = true;
    this.final = this.flow.mergeEnds(this.stopSteps()).version;
  }

  /** A step succeeded that could have failed the plan: its label counts for the end of the plan, or of the run that would fail with it. */
  protected passed(label: number): void {
    if (!this.compiled.survived) this.run.passed(label);
    else if (label !== this.survived) this.survived = this.run.labels.join(this.survived, label);
  }

  /** Ends the scope; cancels what still runs (E8). */
  protected end(end: ScopeEnd, onTheWay: readonly Version[] = []): void {
    if (this.over) return;
    this.over = true;
    const running = this.stopSteps(cutOffBy(end));
    this.final ??= this.flow.mergeEnds([...onTheWay, ...running]).version;
    this.outside.influenced(this.run.labels.join(this.control, this.survived));
    this.close(end, (ended) => this.outside.scopeEnded(this, ended));
  }

  /** The combined error of settled failures; undefined if enough branches succeeded. */
  private settledError(): ErrorData | undefined {
    const settled = inPlanOrder(this.settled ?? []);
    const { reached } = this;
    const { require } = this.compiled;
    if (require === undefined) return settledError(settled);
    if (!isEnough(require, reached, settled.length)) return tooFew('branches', require, reached, settled);
    for (const { error, inside } of settled) countAllowed(this.census, failureOf(error), inside);
    return undefined;
  }

  /** Ends the scope after everything has run. An unreadable state is not a success. */
  protected finishWith({ version, conflict }: ReturnType<Flow['mergeEnds']>): void {
    this.final = version;
    const first = this.settledError() ?? conflict;
    const error =
      first ?? foldError(this, version, this.outside) ?? outputError(this.compiled, this.reader(version, this.outside));
    this.end(error === undefined ? { type: 'done' } : { type: 'failed', error, path: this.parent });
  }

  /** Runs the `finally` node, if the plan has one; then calls `over`. */
  private close(end: ScopeEnd, over: (end: ScopeEnd) => void): void {
    const { closing } = this.compiled;
    if (closing === undefined || this.final === undefined || !closes(end)) {
      over(end);
      return;
    }
    for (const at of closing.starts) this.visits.next(at);
    this.closing = new Closing(this, closing, { end, final: this.final }, (ended) => {
      this.closing = undefined;
      over(ended);
    });
  }

  /** The scope was cut off in this state: only the run waits for the closing work. */
  private closeApart(final: Version): void {
    this.final = final;
    this.close({ type: 'failed', error: CUT_OFF, path: this.parent }, () => undefined);
    this.closing?.detach();
  }

  private stopClosing(): void {
    this.closing?.stop();
    this.closing = undefined;
  }
}
