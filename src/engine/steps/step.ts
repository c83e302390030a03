import { isFinal, toErrorData, type ErrorData } from '../../base/errors.js';
import type { Census } from '../../events/census.js';
import type { ReadChannel } from '../../lang/json-path.js';
import type { LabelledChannel } from '../../lang/outputs-block.js';
import { renderJson, templatesIn } from '../../lang/json-template.js';
import { renderTemplate } from '../../lang/template.js';
import type { JsonTemplate, Template } from '../../lang/values.js';
import type { CompiledNode } from '../graph/compile.js';
import type { Effect, Outcome, Question, Short, StepIo } from '../ports/durable.js';
import type { Identity, Past } from '../ports/recording.js';
import type { ChannelWrite, StepContext } from '../ports/executor.js';
import type { Phases } from '../ports/supervision.js';
import type { Given, PolicedStep } from './policies/policy.js';
import { askPerson } from './asking.js';
import { consult } from './consult.js';
import type { Reports } from '../run-result.js';
import type { Leaving, PlanEnd, RunServices, ScopeOwner, Work } from '../services.js';
import type { Firing, Token } from '../graph/token.js';
import { tellLabel, tellReused, tellVisit, warnOfMissing } from './telling.js';
import { Waiting } from './waiting.js';
import { readsInCode, type Influenced } from '../state/run-labels.js';
import type { Version } from '../state/version.js';
import type { ChannelSource, State } from '../state/viewed.js';

/** The scope of a step, as the step calls it. Each step calls exactly one of the methods for its end, once, unless it is aborted. */
export interface StepOwner extends ChannelSource {
  readonly run: RunServices;
  readonly prefix: string;
  readonly parent: string;
  readonly over: boolean;
  /** Label of what decided where its plan continues, and how it ended. */
  readonly control: number;
  /** `goto`: the chosen next nodes. `writes`: the writes beside the output. */
  succeeded(step: Step, output: unknown, goto?: unknown, writes?: readonly ChannelWrite[]): void;
  failed(step: Step, error: ErrorData): void;
  /** The step failed, and its plan continues (`onError: ignore`). The step is not over yet, as after `succeeded`. */
  ignored(step: Step, error: ErrorData): void;
  skipped(step: Step, reason: string): void;
  /** The step is skipped, and the steps after it still run (`onSkip: continue`). It is not over yet, as after `succeeded`. */
  leftOut(step: Step, reason: string): void;
  paused(step: Step, question: Question, reason: string): void;
  /** The step waited for budget until nothing else in the run continued. */
  ranShort(step: Step, error: ErrorData): void;
  /** The plan ends here, on purpose. */
  ended(step: Step, end: PlanEnd, how: Leaving): void;
  /** The run reached a bound. */
  ranOut(step: Step, error: ErrorData, writes: readonly ChannelWrite[]): void;
  /** Read-only view of a version, for a user's function. */
  view(version: Version, fn?: unknown, told?: Influenced): State;
  reader(version: Version, told?: Influenced): ReadChannel;
  labelOf(version: Version): number;
  readonly labelled: readonly LabelledChannel[];
  /** Counts steps that ran inside this one, and keeps their reports. */
  count(census: Census, reports: Reports): void;
  readonly outside: ScopeOwner;
  /** Why all its steps are stopped. */
  readonly cutOff: string | undefined;
  bodyOf(kind: CompiledNode['node']['kind']): Body;
  nameOf(node: number): string;
}

export interface Body {
  /** Starts the body. The step ends by `succeed`, `fail`, `skip` or `pause`, at once or later. */
  start(step: Step): void;
  /** Handles the outcome of a ticket that the step follows; `by` is the source of an answer. */
  take(step: Step, outcome: Outcome, by?: string): void;
  /** The side effect, for bodies that pass their step to the port as one. */
  perform?(step: Step, io: StepIo): unknown;
  /** The dependencies of an attempt, for bodies that know their reads. */
  identity?(step: Step): Identity;
}

/**
 * One execution of a node: its attempts, inside its policies (`policies/index.ts`), which decide whether it starts and whether it is
 * retried. Backoff uses no slot. An attempt that is over takes no more outcomes: its tickets are dropped, its activities stopped.
 */
export class Step extends Waiting implements Work, Effect, PolicedStep {
  previous: Step | undefined = undefined;
  following: Step | undefined = undefined;
  next: Work | undefined = undefined;
  /** Results of `step.run` in its function, by name, and what it had read until then: later attempts reuse them. */
  results: Map<string, { readonly value: unknown; readonly past: Past | undefined }> | undefined = undefined;
  /** True once its routes were evaluated. */
  routed = false;
  private phase: 'ready' | 'running' | 'judging' | 'routing' | 'backoff' | 'over' = 'ready';
  private readonly body: Body;

  constructor(
    readonly owner: StepOwner,
    compiled: CompiledNode,
    firing: Firing | Token,
    visit: number,
    refusal?: ErrorData,
  ) {
    super(owner.prefix, compiled, firing, visit, refusal);
    this.body = owner.bodyOf(compiled.node.kind);
  }

  get over(): boolean {
    return this.phase === 'over';
  }

  /** True if the step was running, or waiting for its next attempt. */
  get started(): boolean {
    return this.phase !== 'ready' || this.attempt > 1;
  }

  /** True while the body of this attempt runs. */
  performs(attempt: number): boolean {
    return this.phase === 'running' && this.attempt === attempt;
  }

  protected readsOfBody(): Identity | undefined {
    return this.body.identity?.(this);
  }

  isWanted(): boolean {
    return !this.over && !this.owner.over;
  }

  get run(): RunServices {
    return this.owner.run;
  }

  protected get around(): ScopeOwner {
    return this.owner.outside;
  }

  start(): void {
    this.phase = 'running';
    if (this.leaf) this.takeSlot();
    const { policies } = this.compiled;
    try {
      if (this.refusal !== undefined) this.failForGood(this.refusal);
      else if (this.attempt > 1) this.beginAttempt();
      else if (policies === undefined) this.entered();
      else policies.enter(this);
    } catch (error) {
      if (this.over) throw error;
      this.failForGood(toErrorData(error));
    }
  }

  entered(): void {
    if (this.influence !== this.control) this.decides(this.influence);
    if (this.run.reporter.followed) this.run.reporter.started(this);
    this.beginAttempt();
  }

  private beginAttempt(): void {
    if (this.compiled.policies === undefined) this.begun();
    else this.compiled.policies.begin(this);
  }

  begun(): void {
    try {
      this.body.start(this);
    } catch (error) {
      if (this.over) throw error;
      this.fail(toErrorData(error));
    }
  }

  perform(io: StepIo): unknown {
    return this.body.perform?.(this, io);
  }

  protected take(outcome: Outcome, by?: string): void {
    this.body.take(this, outcome, by);
  }

  get labelled(): readonly LabelledChannel[] {
    return this.owner.labelled;
  }

  view(fn?: unknown): State {
    return this.owner.view(this.input, fn, this);
  }

  reader(): ReadChannel {
    return this.owner.reader(this.input, this);
  }

  render(template: Template): string {
    warnOfMissing(this, [template]);
    return renderTemplate(template, this.reader(), this.owner.labelled, this.run);
  }

  /** Renders a JSON template with the state that the step sees; undefined if the value is missing. */
  renderJson(source: JsonTemplate): unknown {
    warnOfMissing(this, templatesIn(source));
    return renderJson(source, { read: this.reader(), labelled: this.owner.labelled }, this.run);
  }

  /** The body is done. The step is over once its scope has taken the output and evaluated the routes. */
  succeed(output: unknown, goto?: unknown, writes?: readonly ChannelWrite[]): void {
    if (this.over) return;
    const { policies } = this.compiled;
    if (policies?.gave === undefined) this.count(output, goto, writes);
    else {
      this.stopBody();
      this.phase = 'judging';
      policies.gave(this, { output, goto, writes });
    }
  }

  accepted({ output, goto, writes }: Given): void {
    this.count(output, goto, writes);
  }

  private count(output: unknown, goto: unknown, writes: readonly ChannelWrite[] | undefined): void {
    if (this.run.reporter.observed) tellVisit(this, output);
    tellReused(this);
    tellLabel(this);
    this.stopAttempt();
    this.phase = 'routing';
    this.owner.succeeded(this, output, goto, writes);
  }

  consult<T>(phase: (phases: Phases, context: StepContext) => Promise<T>, done: (given: T) => void): void {
    consult(this, phase, done);
  }

  ask(name: string, question: Question, done: (answer: unknown) => void): void {
    askPerson(this, `${this.key}@${name}`, { name, question }, done);
  }

  skip(reason: string): void {
    if (this.compiled.node.onSkip === 'continue') {
      this.stopAttempt();
      this.phase = 'routing';
      this.owner.leftOut(this, reason);
    } else this.closeAnd(() => this.owner.skipped(this, reason));
  }

  pause(question: Question, reason: string): void {
    this.closeAnd(() => this.owner.paused(this, question, reason));
  }

  /** The run reached a bound, or a budget is short: ends the step without policies and handlers. */
  runOut(error: ErrorData, how: Short, writes: readonly ChannelWrite[] = []): void {
    this.closeAnd(() => (how === 'waited' ? this.owner.ranShort(this, error) : this.owner.ranOut(this, error, writes)));
  }

  /** Ends the plan together with the step, without policies and handlers. */
  endPlan(end: PlanEnd, how: Leaving): void {
    this.closeAnd(() => this.owner.ended(this, end, how));
  }

  private closeAnd(tell: () => void): void {
    if (this.over) return;
    tellLabel(this);
    this.close();
    tell();
  }

  fail(error: ErrorData): void {
    if (this.over) return;
    this.stopped();
    if (this.compiled.policies === undefined) this.givenUp(error);
    else this.compiled.policies.failed(this, error);
  }

  /** A recorded next attempt is decisive, whatever the current policies are. */
  givenUp(error: ErrorData): void {
    const { durable } = this.run;
    if (durable.replaying && durable.timed?.(`${this.key}@backoff`) === true) this.retryAfter(0, error);
    else this.failForGood(error);
  }

  /** Fails regardless of its policies. */
  failForGood(error: ErrorData): void {
    if (this.over) return;
    // Failed routes would fail again.
    if (this.compiled.node.onError === 'ignore' && !this.refused && !this.routed && !isFinal(error)) {
      this.stopAttempt();
      this.phase = 'routing';
      this.owner.ignored(this, error);
      return;
    }
    tellLabel(this);
    this.close();
    this.owner.failed(this, error);
  }

  /** Ends the step; the scope decides what that means. */
  close(): void {
    this.stopAttempt();
    this.phase = 'over';
    if (this.inner !== undefined) this.owner.count(this.inner, this.reports);
  }

  /** Stops the step from outside, without a call to the scope. */
  abort(): void {
    if (this.over) return;
    this.stopped();
    this.close();
  }

  private stopAttempt(): void {
    this.stopBody();
    this.releaseSlot();
  }

  private stopBody(): void {
    this.dropTickets();
    this.stopActivities();
  }

  /** The body was interrupted, so the reads of a function, or of an agent's, are unknown: counts the whole input as read. */
  private stopped(): void {
    if (readsInCode(this.compiled)) this.influenced(this.owner.labelOf(this.input));
  }

  /** A question is open: a person who judges uses no slot. */
  override stopClock(): () => void {
    if (this.phase === 'judging') this.releaseSlot();
    return super.stopClock();
  }

  retryAfter(delayMs: number, error: ErrorData): void {
    this.giveUpAttempt();
    const { run } = this;
    if (run.reporter.observed) this.emit({ type: 'step.retrying', attempt: this.attempt + 1, delayMs, error });
    this.phase = 'backoff';
    this.awaitNext(run.durable.timer(`${this.key}@backoff`, delayMs));
  }

  tryAgain(): void {
    this.giveUpAttempt();
    this.goOn(true);
  }

  /** Discards what ran inside the attempt. */
  private giveUpAttempt(): void {
    this.stopAttempt();
    this.forgetInside();
  }

  protected goOn(isCorrected = false): void {
    this.phase = 'ready';
    this.nextAttempt(isCorrected);
    this.run.enqueue(this);
  }
}
