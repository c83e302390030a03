import type { RunOptionsOf, Durable, Taker, Ticket } from './ports/durable.js';
import { settled } from '../base/clock.js';
import { SkeinError, toErrorData, type ErrorData } from '../base/errors.js';
import { systemIds } from '../base/ids.js';
import { isDegraded, type Census, type RunOutcome } from '../events/census.js';
import { RunTallies } from '../events/spending.js';
import type { OpenQuestion } from '../events/question.js';
import { CLEAN, TRUSTED } from '../guard/label.js';
import type { Plan } from '../plan/plan.js';
import { compile, type CompiledPlan } from './graph/compile.js';
import { firstOf } from './state/inputs.js';
import { RunLabels } from './state/run-labels.js';
import { MemoryDurable } from './durable/memory-durable.js';
import type { Executors } from './ports/executor.js';
import { Reporter } from './reporter.js';
import { inOrder, type Reports, type RunHandle, type RunResult } from './run-result.js';
import { CLOSING_CUT_OFF, CLOSING_MS, OpenClosings } from './graph/closing.js';
import { Scope } from './graph/scope.js';
import type { Stoppable, RunServices, ScopeEnd, ScopeHandle, ScopeOptions, ScopeOwner } from './services.js';
import { NO_OPTIONS, cancelBy, checkOf, type StartOptions } from './start-options.js';
import { givesPropertyAway } from './state/whole-view.js';
import { RunWork } from './run-work.js';

export type { RunHandle, RunResult } from './run-result.js';
export type { StartOptions } from './start-options.js';

/**
 * Starts a run of a plan. Starting a plan that {@link compile} prepared costs microseconds.
 *
 * @throws SkeinError `SKEIN_INPUT` if an input is missing or unknown, `SKEIN_NO_BINDING` if a function is missing.
 * @example
 * const { result } = startRun(plan, { inputs: { topic: 'looms' }, bindings });
 * console.log((await result).outcome);
 */
export function startRun(plan: Plan | CompiledPlan, options: StartOptions = NO_OPTIONS): RunHandle {
  const compiled = 'maxSteps' in plan ? plan : compile(plan, options.bindings);
  const run = new Run(compiled, options);
  run.begin();
  return run;
}

const NO_EXECUTORS: Executors = {};

class Run extends RunWork implements RunHandle, RunServices, ScopeOwner, Taker {
  readonly runId: string;
  readonly labels = new RunLabels();
  readonly durable: Durable;
  readonly executors: Executors;
  readonly phases: RunServices['phases'];
  readonly result: Promise<RunResult>;
  readonly reporter: Reporter;
  readonly check: RunServices['check'];
  readonly checksWholes: boolean;
  private readonly top: Scope;
  private reused = 0;
  private ran = 0;
  readonly tallies: RunServices['tallies'];
  resting: Promise<void> | undefined = undefined;
  private inTurn = false;
  private holds: Set<Promise<void>> | undefined = undefined;
  private readonly closings = new OpenClosings();
  /** Label of the steps that succeeded and could have failed the run. */
  lasting = CLEAN;
  /** Expires when a cancelled run has used up its time to close. */
  private cutOff: Ticket | undefined = undefined;
  /** The outputs by the `values` of its plan. */
  private values: RunResult['result'] = undefined;
  private resolve: ((result: RunResult) => void) | undefined = undefined;

  constructor(
    private readonly compiled: CompiledPlan,
    readonly options: StartOptions,
  ) {
    super(options.concurrency ?? compiled.plan.limits?.concurrency ?? Number.POSITIVE_INFINITY);
    this.runId = options.runId ?? options.durable?.runId ?? systemIds.next();
    this.tallies = new RunTallies(options.counts, options.saves);
    this.durable = options.durable ?? new MemoryDurable(this.runId);
    this.executors = options.executors ?? NO_EXECUTORS;
    this.phases = options.phases;
    this.reporter = new Reporter(this.runId, compiled.plan, this.durable, options);
    this.check = checkOf(options, this.durable);
    this.checksWholes = givesPropertyAway(options.check, 'state');
    const { version, channels } = firstOf(compiled, options, this.labels);
    const influence = this.labels.of(options.influence ?? TRUSTED);
    this.top = new Scope(this, { compiled, prefix: '', parent: '', inputs: version, influence, owner: this, channels });
    this.result = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  runOptions(...how: Parameters<RunOptionsOf>): ReturnType<RunOptionsOf> {
    return this.options.runOptions?.(...how) ?? NO_OPTIONS;
  }

  override wrote(path: string): void {
    this.options.wrote?.(path);
  }

  begin(): void {
    if (this.reporter.followed) {
      const { name, nodes } = this.compiled.plan;
      const working = nodes.filter((node) => node.kind !== 'pass').length;
      this.reporter.emit('', '', { type: 'run.started', plan: name, nodes: working });
    }
    // Warnings concern the present, even while the record is replayed.
    for (const warning of this.options.warnings ?? [])
      if (this.reporter.observed) this.reporter.emitAs(false, '', '', { type: 'run.warning', ...warning });
    const { signal } = this.options;
    if (signal !== undefined) cancelBy(signal, this);
    if (this.ended) return;
    this.durable.deliverTo(this);
    this.top.start();
    this.turn();
    if (this.unsettled) void this.comeToRest();
  }

  cancel(reason = 'the run was cancelled'): void {
    if (this.ended) return;
    const error: ErrorData = { code: 'SKEIN_CANCELLED', message: reason };
    if (this.cutOff !== undefined) {
      this.closeNow();
      return;
    }
    // Each session has its own time to close: that an earlier one exceeded it is recorded, too.
    const { sessions = 0 } = this.durable.closings ?? {};
    this.cutOff = this.durable.timer(`finally@limit#${sessions + 1}`, CLOSING_MS, true);
    this.cutOff.waiter = { settled: () => this.closeNow() };
    this.top.cancel(error);
    this.turn();
    if (this.unsettled) void this.comeToRest();
  }

  owes(closing: Stoppable): void {
    this.closings.add(closing);
  }

  paid(closing: Stoppable, census: Census, reports: Reports): void {
    this.top.count(census, reports);
    const end = this.closings.remove(closing);
    if (end !== undefined) this.closeAs(end);
  }

  /** The closing plans have used up their time, or nobody waits for them. */
  private closeNow(): void {
    this.halt();
    this.close('cancelled', CLOSING_CUT_OFF);
  }

  private halt(): void {
    this.top.halt();
    this.closings.stop();
  }

  passed(label: number): void {
    if (label !== this.lasting) this.lasting = this.labels.join(this.lasting, label);
  }

  get cancelled(): boolean {
    return this.cutOff !== undefined;
  }

  get stepsEnded(): number {
    return this.ran + this.reused;
  }

  leafEnded(succeeded: boolean): void {
    if (!this.durable.replaying) this.ran += 1;
    else if (succeeded) this.reused += 1;
  }

  openScope(options: ScopeOptions): ScopeHandle {
    const scope = new Scope(this, options);
    scope.start();
    return scope;
  }

  woken(): void {
    this.unsettled = true;
    if (!this.inTurn && this.resting === undefined) void this.comeToRest();
  }

  hold(cleanup: Promise<void>): void {
    const holds = (this.holds ??= new Set());
    const held: Promise<void> = cleanup.catch((error: unknown) => this.defect(error)).finally(() => holds.delete(held));
    holds.add(held);
  }

  scopeEnded(_scope: ScopeHandle, end: ScopeEnd): void {
    if (this.closings.isOver(end)) this.closeAs(end);
  }

  private closeAs(end: ScopeEnd): void {
    if (end.type === 'out_of_budget') this.close('out_of_budget', end.error);
    else if (end.type === 'failed' && end.error.code === 'SKEIN_ENDED') this.ends('failed', end.error);
    else if (end.type === 'failed')
      this.close(end.error.code === 'SKEIN_CANCELLED' ? 'cancelled' : 'failed', end.error);
    else if (end.type === 'paused') this.close('paused', undefined);
    else this.ends(isDegraded(this.top.census) ? 'degraded' : 'succeeded', undefined);
  }

  /** The run reached its end, or an intended one: its outputs are evaluated. */
  private ends(outcome: RunOutcome, error: ErrorData | undefined): void {
    try {
      this.values = this.top.values();
      this.close(outcome, error);
    } catch (thrown) {
      this.close('failed', error ?? toErrorData(thrown));
    }
  }

  /** Takes an outcome of the port, and runs everything that follows from it. */
  take(ticket: Ticket): Promise<void> | undefined {
    if (this.ended) return undefined;
    if (this.resting !== undefined) return this.resting.then(() => this.take(ticket));
    const { waiter, outcome } = ticket;
    ticket.waiter = undefined;
    if (waiter === undefined || outcome === undefined) return undefined;
    this.inTurn = true;
    try {
      waiter.settled(ticket, outcome);
    } catch (error) {
      this.defect(error);
    }
    this.turn();
    return this.unsettled && !this.ended ? this.comeToRest() : undefined;
  }

  outdated(step: string, isJudged: boolean): void {
    if (!this.ended && this.options.announced?.(step) !== true) this.reporter.outdated(step, isJudged);
  }

  waitsFor(open: OpenQuestion, again: boolean): void {
    if (!this.ended) this.reporter.waitsFor(open, again);
  }

  unanswered(question: OpenQuestion): void {
    this.reporter.unanswered(question);
  }

  caughtUp(): void {
    if (this.reporter.followed && !this.ended) this.reporter.emit('', '', { type: 'run.resumed' });
  }

  /** The back end can't continue: nothing of this run can be recorded any more. */
  broken(error: ErrorData): void {
    if (this.ended) return;
    this.halt();
    this.close('failed', error);
  }

  private comeToRest(): Promise<void> {
    this.resting ??= this.restLoop();
    return this.resting;
  }

  private async restLoop(): Promise<void> {
    while (this.unsettled && !this.ended) {
      this.unsettled = false;
      await settled();
      this.turn();
    }
    this.resting = undefined;
  }

  /** Starts ready work, and checks scopes in which nothing runs, until nothing is left or the run must yield to the event loop. */
  private turn(): void {
    this.inTurn = true;
    try {
      for (let work = this.nextWork(); work !== undefined; work = this.nextWork()) work.start();
    } catch (error) {
      this.defect(error);
    }
    this.inTurn = false;
  }

  /** An error that reaches this point is a defect of Skein: the run fails instead of hanging. */
  private defect(error: unknown): void {
    const data = toErrorData(error);
    this.halt();
    this.close('failed', { ...data, code: SkeinError.isInstance(error) ? data.code : 'SKEIN_INTERNAL' });
  }

  private close(outcome: RunOutcome, error: ErrorData | undefined): void {
    if (this.ended) return;
    this.ended = true;
    if (this.cutOff !== undefined) this.durable.drop(this.cutOff);
    const holding = this.holds !== undefined && this.holds.size > 0;
    const ending = holding ? undefined : this.options.atEnd?.();
    if (holding || ending !== undefined) void this.closeLater(outcome, error, ending);
    else this.finish(outcome, error);
  }

  /** `ending`: the work at the end, if it is already in progress. */
  private async closeLater(outcome: RunOutcome, error: ErrorData | undefined, ending?: Promise<void>): Promise<void> {
    while (this.holds !== undefined && this.holds.size > 0) await Promise.allSettled(this.holds);
    try {
      await (ending ?? this.options.atEnd?.());
    } catch (thrown) {
      const ok = outcome === 'succeeded' || outcome === 'degraded';
      this.finish(ok ? 'failed' : outcome, ok ? toErrorData(thrown) : error);
      return;
    }
    this.finish(outcome, error);
  }

  private finish(outcome: RunOutcome, error: ErrorData | undefined): void {
    const { census } = this.top;
    census.notRun += this.top.untouched();
    const why = error === undefined ? {} : { error };
    const { spent, saved } = this.tallies.spending();
    if (this.reporter.followed) this.reporter.emit('', '', { type: 'run.ended', outcome, census, spent, ...why });
    const { runId, reused, ran } = this;
    const steps = inOrder(this.top.reports);
    this.options.last?.(this.top.last());
    const { heard } = this.options;
    const label = heard === undefined ? CLEAN : this.labels.join(this.top.label, this.lasting);
    if (label !== CLEAN) heard?.(this.labels.get(label));
    const waits = outcome === 'paused' || outcome === 'out_of_budget';
    const questions = waits ? this.reporter.openAt(steps) : [];
    const result: RunResult = {
      runId,
      outcome,
      state: this.top.state(),
      ...(this.values === undefined ? {} : { result: this.values }),
      ...why,
      census,
      steps,
      questions,
      reused,
      ran,
      spent,
      saved,
    };
    this.top.tellLabels(result);
    this.resolve?.(result);
  }
}
