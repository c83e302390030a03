import { settled } from '../base/clock.js';
import type { ErrorData } from '../base/errors.js';
import { SkeinError, toErrorData } from '../base/errors.js';
import { systemIds } from '../base/ids.js';
import type { Census } from '../events/census.js';
import type { EventBody, Listener } from '../events/event.js';
import { Emitter } from '../events/emitter.js';
import type { RunOutcome } from '../events/outcome.js';
import type { Bindings, Plan } from '../plan/plan.js';
import { compile } from './compile.js';
import type { CompiledPlan } from './compile.js';
import { inputVersion } from './inputs.js';
import { MemoryDurable } from './memory-durable.js';
import type { Durable } from './ports/durable.js';
import type { Executors } from './ports/executor.js';
import { Scope } from './scope.js';
import type { Restable, Runnable, RunServices, ScopeEnd, ScopeHandle, ScopeOptions, StepReport } from './services.js';

/** How a run is carried out. */
export interface StartOptions {
  /** Input values by name. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** Functions of code nodes; not for a plan that is compiled already. */
  readonly bindings?: Bindings;
  /** Who runs agents and other kinds that the engine does not know. */
  readonly executors?: Executors;
  /** The back end. Default: in memory, without a record. */
  readonly durable?: Durable;
  readonly runId?: string;
  readonly listeners?: readonly Listener[];
  /** Cancels the run when aborted. */
  readonly signal?: AbortSignal;
  /** Leaf steps at once; replaces the plan's own bound. */
  readonly concurrency?: number;
  /** Called when no step runs any more, before the run ends. What it throws fails a run that had not failed yet. */
  readonly atEnd?: () => Promise<void>;
}

/** What a run gives back. It never throws for what happens inside of steps. */
export interface RunResult {
  readonly runId: string;
  readonly outcome: RunOutcome;
  /** The final state by channel; also when the run failed (S4). */
  readonly state: Record<string, unknown>;
  /** Why it failed. */
  readonly error?: ErrorData;
  readonly census: Census;
  /** Every step that did not simply succeed, with its reason, in the order in which they ended. */
  readonly steps: readonly StepReport[];
}

/** A run that was started. */
export interface RunHandle {
  readonly runId: string;
  readonly result: Promise<RunResult>;
  /** Closes the run as cancelled; running steps are aborted. */
  cancel(reason?: string): void;
}

/**
 * Starts a run. Give a plan, or one that {@link compile} prepared: then starting costs microseconds.
 *
 * @throws SkeinError `SKEIN_INPUT` when an input is missing or unknown, `SKEIN_NO_BINDING` when a function is missing.
 * @example
 * const { result } = startRun(plan, { inputs: { topic: 'looms' }, bindings });
 * console.log((await result).outcome);
 */
export function startRun(plan: Plan | CompiledPlan, options: StartOptions = {}): RunHandle {
  const compiled = 'channels' in plan && 'maxSteps' in plan ? plan : compile(plan as Plan, options.bindings);
  const run = new Run(compiled, options);
  run.begin();
  return run;
}

class Run implements RunHandle, RunServices {
  readonly runId: string;
  readonly durable: Durable;
  readonly executors: Executors;
  readonly observed: boolean;
  readonly result: Promise<RunResult>;
  private readonly emitter: Emitter;
  private readonly top: Scope;
  private readonly limit: number;
  private readonly reports: StepReport[] = [];
  private queue: Runnable[] = [];
  private head = 0;
  /** Leaf steps that wait for a slot, in the order in which they became ready. */
  private blocked: Runnable[] = [];
  private blockedHead = 0;
  private running = 0;
  private resting: Restable[] = [];
  private unsettled = false;
  private draining = false;
  private holds: Set<Promise<void>> | undefined = undefined;
  private ended: { readonly outcome: RunOutcome; readonly error: ErrorData | undefined } | undefined = undefined;
  private resolve: (result: RunResult) => void = () => undefined;

  constructor(
    private readonly compiled: CompiledPlan,
    private readonly options: StartOptions,
  ) {
    this.runId = options.runId ?? options.durable?.runId ?? systemIds.next();
    this.durable = options.durable ?? new MemoryDurable(this.runId);
    this.executors = options.executors ?? {};
    this.limit = options.concurrency ?? compiled.plan.limits?.concurrency ?? Number.POSITIVE_INFINITY;
    this.observed = (options.listeners?.length ?? 0) > 0;
    this.emitter = new Emitter(this.runId, options.listeners ?? []);
    const inputs = inputVersion(compiled, options.inputs ?? {});
    const owner = { scopeEnded: (_scope: ScopeHandle, end: ScopeEnd): void => this.scopeEnded(end) };
    this.top = new Scope(this, { compiled, prefix: '', parent: '', inputs, owner });
    this.result = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  begin(): void {
    if (this.observed) {
      const { name, nodes } = this.compiled.plan;
      this.emit('', '', { type: 'run.started', plan: name, nodes: nodes.length });
    }
    const { signal } = this.options;
    if (signal !== undefined) this.watch(signal);
    if (this.ended !== undefined) return;
    this.top.start();
    this.turn();
    if (!this.isEnded()) void this.pump();
  }

  cancel(reason = 'the run was cancelled'): void {
    if (this.isEnded()) return;
    this.top.cancel();
    this.close('cancelled', { code: 'SKEIN_CANCELLED', message: reason });
  }

  emit(path: string, parent: string, body: EventBody): void {
    this.emitter.emit(this.durable.now(), path, parent, body);
  }

  report(report: StepReport): void {
    this.reports.push(report);
  }

  enqueue(work: Runnable): void {
    this.queue.push(work);
  }

  releaseSlot(): void {
    this.running -= 1;
  }

  rest(scope: Restable): void {
    this.resting.push(scope);
  }

  openScope(options: ScopeOptions): ScopeHandle {
    const scope = new Scope(this, options);
    scope.start();
    return scope;
  }

  woken(): void {
    this.unsettled = true;
    if (this.waiting) this.nudge();
  }

  hold(cleanup: Promise<void>): void {
    const holds = (this.holds ??= new Set());
    const held = cleanup.finally(() => holds.delete(held));
    holds.add(held);
  }

  private waiting = false;
  private nudged = false;

  /** An executor moved on without an outcome of the port: take a turn once it has come to rest. */
  private nudge(): void {
    if (this.nudged) return;
    this.nudged = true;
    void settled().then(() => {
      this.nudged = false;
      if (this.waiting) this.turn();
    });
  }

  /** The only place that awaits outcomes. */
  private async pump(): Promise<void> {
    for (;;) {
      while (this.unsettled) {
        this.unsettled = false;
        await settled();
        this.turn();
      }
      if (this.isEnded()) return;
      this.waiting = true;
      const ticket = await this.durable.next();
      this.waiting = false;
      if (this.isEnded()) return;
      const { settle, outcome } = ticket;
      ticket.settle = undefined;
      if (outcome !== undefined) this.guarded(() => settle?.(outcome));
      this.turn();
    }
  }

  /** Starts all that is ready, and looks at scopes in which nothing runs. */
  private turn(): void {
    if (this.draining) return;
    this.draining = true;
    this.guarded(() => {
      for (let work = this.nextWork(); work !== undefined; work = this.nextWork()) work.start();
    });
    this.draining = false;
  }

  /** A throw that gets here is a defect of Skein: the run fails, it does not hang. */
  private guarded(body: () => void): void {
    try {
      body();
    } catch (error) {
      const data = toErrorData(error);
      this.top.cancel();
      this.close('failed', { ...data, code: SkeinError.isInstance(error) ? data.code : 'SKEIN_INTERNAL' });
    }
  }

  private nextWork(): Runnable | undefined {
    while (!this.isEnded()) {
      if (this.running < this.limit && this.blockedHead < this.blocked.length) {
        const work = this.takeBlocked();
        if (work?.isWanted() !== true) continue;
        this.running += 1;
        return work;
      }
      const work = this.takeQueued();
      if (work === undefined) {
        const scope = this.resting.pop();
        if (scope === undefined) return undefined;
        scope.rested();
        continue;
      }
      if (!work.isWanted()) continue;
      if (!work.leaf) return work;
      if (this.running < this.limit) {
        this.running += 1;
        return work;
      }
      this.blocked.push(work);
    }
    return undefined;
  }

  private takeQueued(): Runnable | undefined {
    if (this.head >= this.queue.length) return undefined;
    const work = this.queue[this.head++];
    if (this.head >= this.queue.length) {
      this.queue = [];
      this.head = 0;
    } else if (this.head >= 4_096 && this.head * 2 > this.queue.length) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
    return work;
  }

  private takeBlocked(): Runnable | undefined {
    const work = this.blocked[this.blockedHead++];
    if (this.blockedHead >= 4_096 && this.blockedHead * 2 > this.blocked.length) {
      this.blocked = this.blocked.slice(this.blockedHead);
      this.blockedHead = 0;
    }
    return work;
  }

  private isEnded(): boolean {
    return this.ended !== undefined;
  }

  private watch(signal: AbortSignal): void {
    const reason = (): string => (signal.reason instanceof Error ? signal.reason.message : 'the run was cancelled');
    const onAbort = (): void => this.cancel(reason());
    if (signal.aborted) onAbort();
    else {
      signal.addEventListener('abort', onAbort, { once: true });
      void this.result.then(() => signal.removeEventListener('abort', onAbort));
    }
  }

  private scopeEnded(end: ScopeEnd): void {
    if (end.type === 'failed') this.close(end.error.code === 'SKEIN_CANCELLED' ? 'cancelled' : 'failed', end.error);
    else if (end.type === 'paused') this.close('paused', undefined);
    else this.close(this.top.census.degraded > 0 ? 'degraded' : 'succeeded', undefined);
  }

  private close(outcome: RunOutcome, error: ErrorData | undefined): void {
    if (this.ended !== undefined) return;
    this.ended = { outcome, error };
    const { atEnd } = this.options;
    if (atEnd === undefined && (this.holds === undefined || this.holds.size === 0)) this.finish(outcome, error);
    else void this.closeLater(outcome, error, atEnd);
  }

  private async closeLater(
    outcome: RunOutcome,
    error: ErrorData | undefined,
    atEnd?: () => Promise<void>,
  ): Promise<void> {
    while (this.holds !== undefined && this.holds.size > 0) await Promise.allSettled(this.holds);
    try {
      await atEnd?.();
    } catch (thrown) {
      const ok = outcome === 'succeeded' || outcome === 'degraded';
      this.finish(ok ? 'failed' : outcome, ok ? toErrorData(thrown) : error);
      return;
    }
    this.finish(outcome, error);
  }

  private finish(outcome: RunOutcome, error: ErrorData | undefined): void {
    const census = { ...this.top.census, notRun: this.top.untouched() };
    const why = error === undefined ? {} : { error };
    if (this.observed) this.emit('', '', { type: 'run.ended', outcome, census, ...why });
    this.resolve({ runId: this.runId, outcome, state: this.top.state(), ...why, census, steps: this.reports });
  }
}
