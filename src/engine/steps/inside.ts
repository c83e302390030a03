import { fromErrorData, SkeinError, stepCancelled, toErrorData, type ErrorData } from '../../base/errors.js';
import { CallFold } from '../../events/call-fold.js';
import type { EventBody, StepNote } from '../../events/event.js';
import { joinedIf, hearsAnswer, type Label } from '../../guard/label.js';
import { readRef, JsonTexts, type ReadChannel } from '../../lang/json-path.js';
import type { JsonTemplate, Template, ValueRef } from '../../lang/values.js';
import type { GuideOf } from '../../plan/guide.js';
import type { Bindings, PlanNode } from '../../plan/plan.js';
import { definitionOf } from '../durable/identity.js';
import { timeLimit } from './policies/timeout.js';
import type { CompiledNode } from '../graph/compile.js';
import type { Influence, Outcome, Question, StepIo, Ticket } from '../ports/durable.js';
import type { Identity } from '../ports/recording.js';
import type {
  Again,
  AskOptions,
  CallUnderWay,
  EffectOptions,
  FailedCall,
  StateWatch,
  StepContext,
} from '../ports/executor.js';
import type { RunServices, ScopeOwner } from '../services.js';
import { ReadLog, watchOf } from '../state/reads.js';
import type { Version } from '../state/version.js';
import { isReduced, readEnd } from '../state/viewed.js';
import { channelLabel, type LabelSource } from '../state/run-labels.js';
import { cutOffNote } from './telling.js';
import { AskingIo, onceIn, type Activity, type Asker } from './asking.js';

/** A step as seen by code that runs inside it and reaches the outside through a {@link StepContext}. */
export interface StepAround
  extends Asker, Pick<ScopeOwner, 'correction' | 'influenced' | 'callsOnce' | 'wrote' | 'again'> {
  readonly run: RunServices;
  readonly owner: LabelSource;
  readonly compiled: CompiledNode;
  readonly path: string;
  readonly attempt: number;
  readonly key: string;
  readonly input: Version;
  readonly influence: number;
  reader(): ReadChannel;
  render(template: Template): string;
  renderJson(source: JsonTemplate): unknown;
  emit(body: EventBody, again?: boolean): void;
  /** Stops the clocks of this attempt only. Returns a function that starts them again. */
  stopOwnClock(): () => void;
}

/** Runs code inside an attempt that is deterministic between its effects. Calls `ended` unless the attempt is over by then. */
export function runInside<T>(
  step: StepAround,
  work: (context: StepContext) => Promise<T>,
  ended: (outcome: Ended<T>) => void,
): void {
  const inside = new Inside(step);
  step.hold(inside);
  step.run.woken();
  const finished = work(inside).then(
    (value) => inside.finish(() => ended(inside.short ?? { ok: true, value })),
    (error: unknown) => inside.finish(() => ended(inside.short ?? { ok: false, error: toErrorData(error) })),
  );
  step.run.hold(finished);
}

/** Provides code of an effect with a {@link StepContext} while the attempt continues. */
export async function besideEffect<T>(step: StepAround, work: (context: StepContext) => Promise<T>): Promise<T> {
  const inside = new Inside(step);
  step.hold(inside);
  try {
    return await work(inside);
  } finally {
    step.release(inside);
  }
}

type Failed = Extract<Outcome, { readonly ok: false }>;
type Ended<T> = { readonly ok: true; readonly value: T } | Failed;

const NO_TOOLS: Bindings = Object.freeze({});

/** Returns promises that outcomes of the durability port settle. */
class Inside implements StepContext, Activity {
  readonly attempt: number;
  private readonly open = new Map<Ticket, (error: ErrorData) => void>();
  /** The outcome of an effect that a budget does not cover: the attempt ends with it, even if the code handles the error. */
  short: Failed | undefined = undefined;
  private readonly calls: CallFold;
  private made: CallUnderWay | undefined = undefined;
  /** Heard by effects of it. */
  private fromEffects: Label | undefined = undefined;
  private over = false;
  private draws = 0;

  constructor(private readonly step: StepAround) {
    const { attempt, run } = step;
    this.attempt = attempt;
    this.calls = new CallFold(run.tallies.spent, run.tallies.saved);
  }

  get runId(): string {
    return this.step.run.runId;
  }

  get path(): string {
    return this.step.path;
  }

  get node(): PlanNode {
    return this.step.compiled.node;
  }

  get correction(): string | undefined {
    return this.step.correction;
  }

  get notation(): string | undefined {
    return this.step.compiled.notation;
  }

  get tools(): Bindings {
    return this.step.compiled.tools ?? NO_TOOLS;
  }

  get checks(): Bindings | undefined {
    return this.step.compiled.checks;
  }

  get guide(): GuideOf | undefined {
    return this.step.compiled.guide;
  }

  get influence(): Influence {
    const { step } = this;
    const { labels } = step.run;
    return {
      label: () => labels.get(step.influence),
      add: (label) => step.influenced(labels.of(label)),
      wrote: (path) => step.wrote(path),
    };
  }

  read(ref: ValueRef): unknown {
    return readRef(ref, this.step.reader(), new JsonTexts(this.step.run));
  }

  readEnd(channel: string, count: number): unknown {
    this.step.influenced(channelLabel(this.step.input, this.step.owner, channel));
    return readEnd(this.step.input, this.step.owner, channel, count);
  }

  isReduced(channel: string): boolean {
    return isReduced(this.step.owner, channel);
  }

  watch(): StateWatch {
    return watchOf(new ReadLog(this.step.input, this.step.owner, this.step));
  }

  render(template: Template): string {
    return this.step.render(template);
  }

  renderJson(source: JsonTemplate): unknown {
    return this.step.renderJson(source);
  }

  async effect<T>(name: string, effect: (io: StepIo) => T | Promise<T>, options?: EffectOptions): Promise<T> {
    this.check(options?.cleanup);
    const { step } = this;
    if (options?.effect === 'once') step.callsOnce();
    const perform = (io: StepIo): T | Promise<T> => effect(new AskingIo(step, io));
    const how = options?.effect === 'once' ? { ...options, ...onceIn(step, options) } : options;
    const ticket = step.run.durable.step(this.keyOf(name), { perform }, how);
    if (options?.timeoutMs === undefined) return (await this.wait(ticket)) as T;
    return (await this.within(ticket, this.keyOf(`${name}.timeout`), options.timeoutMs, options.identity)) as T;
  }

  callsOnce(): void {
    this.step.callsOnce();
  }

  underWay(call: CallUnderWay): void {
    if (!this.over) this.made = call;
  }

  hears(label: Label): void {
    this.fromEffects = joinedIf(this.fromEffects, label);
  }

  heard(): Label | undefined {
    return this.fromEffects;
  }

  async sleep(name: string, ms: number): Promise<void> {
    this.check();
    await this.wait(this.step.run.durable.timer(this.keyOf(name), ms));
  }

  again({ pause, ...failed }: FailedCall): Again | undefined {
    return this.step.again({ ...failed, key: this.keyOf(pause) });
  }

  async backoff(name: string, ms: number): Promise<void> {
    this.check();
    const startClock = this.step.stopOwnClock();
    try {
      await this.sleep(name, ms);
    } finally {
      startClock();
    }
  }

  isTaken(name: string, identity: Identity): boolean {
    return this.step.run.durable.isTaken?.(this.keyOf(name), identity) === true;
  }

  isRecorded(name: string, identity?: Identity): boolean {
    return this.step.run.durable.isRecorded?.(this.keyOf(name), identity) === true;
  }

  async ask(name: string, question: Question, { answered, ...limit }: AskOptions = {}): Promise<unknown> {
    this.check();
    const startClock = this.step.stopClock();
    try {
      const ticket = this.step.run.durable.signal(this.keyOf(name), { name, question, ...limit });
      const value = await this.wait(ticket);
      hearsAnswer(this.step.path, (label) => this.influence.add(label))(ticket.answeredBy);
      answered?.(ticket.answeredBy);
      return value;
    } finally {
      startClock();
    }
  }

  note(note: StepNote, again = false): void {
    // Spending of a run inside counts even after the end of the step.
    if (this.over && note.kind !== 'inner.call') return;
    const { durable, reporter } = this.step.run;
    const isReplayed = again || (durable.replaying && note.kind !== 'inner.call');
    if (note.kind === 'model.ended' || note.kind === 'model.failed') this.made = undefined;
    this.calls.take(note, isReplayed);
    if (reporter.observed) this.step.emit({ type: 'step.note', note }, isReplayed);
  }

  now(): number {
    return this.step.run.durable.now();
  }

  worked(): number {
    return this.step.run.durable.worked();
  }

  definition(): string {
    return definitionOf(this.step.compiled);
  }

  random(): number {
    this.draws += 1;
    return this.step.run.durable.random(this.keyOf(`random#${this.draws}`));
  }

  /** Does nothing if the attempt is over. */
  finish(ended: () => void): void {
    if (this.over) return;
    this.step.release(this);
    ended();
    this.over = true;
    this.step.run.woken();
  }

  stop(): void {
    this.tellCutOff();
    this.over = true;
    const { durable, labels } = this.step.run;
    if (this.fromEffects !== undefined) this.step.influenced(labels.of(this.fromEffects));
    for (const [ticket, reject] of this.open) {
      ticket.waiter = undefined;
      durable.drop(ticket);
      reject(toErrorData(stepCancelled()));
    }
    this.open.clear();
  }

  /** A model call in progress at the end of its step, such as at a timeout, counts as made. One that waits for its turn does not. */
  private tellCutOff(): void {
    const { made, calls } = this;
    if (made === undefined || calls.asked === undefined) return;
    this.note(cutOffNote(made));
  }

  /** @throws SkeinError `SKEIN_TIMEOUT` */
  private async within(ticket: Ticket, key: string, ms: number, identity?: Identity): Promise<unknown> {
    const settled = this.wait(ticket);
    if (ticket.outcome !== undefined) return await settled;
    const timer = this.step.run.durable.timer(key, ms, true, identity && timeLimit(ms, identity));
    const late = this.wait(timer).then(() => {
      this.forget(ticket);
      throw new SkeinError('SKEIN_TIMEOUT', `it took longer than ${ms} ms`);
    });
    try {
      return await Promise.race([settled, late]);
    } finally {
      this.forget(timer);
    }
  }

  private forget(ticket: Ticket): void {
    if (!this.open.delete(ticket)) return;
    ticket.waiter = undefined;
    this.step.run.durable.drop(ticket);
  }

  private check(freesWhatItHolds = false): void {
    if (this.over) throw stepCancelled();
    if (this.short !== undefined && !freesWhatItHolds) throw fromErrorData(this.short.error);
  }

  private keyOf(name: string): string {
    return `${this.step.key}@${name}`;
  }

  private wait(ticket: Ticket): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const fail = (error: ErrorData): void => reject(fromErrorData(error));
      const take = (outcome: Outcome): void => {
        if (!outcome.ok && outcome.short !== undefined) this.short ??= outcome;
        if (outcome.ok) resolve(outcome.value);
        else fail(outcome.error);
      };
      if (ticket.outcome !== undefined) {
        take(ticket.outcome);
        return;
      }
      this.open.set(ticket, fail);
      const settled = (_ticket: Ticket, outcome: Outcome): void => {
        this.open.delete(ticket);
        this.step.run.woken();
        take(outcome);
      };
      ticket.waiter = { settled };
    });
  }
}
