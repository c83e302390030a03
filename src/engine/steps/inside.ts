import type { ErrorData } from '../../base/errors.js';
import { SkeinError, fromErrorData, toErrorData } from '../../base/errors.js';
import type { EventBody, StepNote } from '../../events/event.js';
import { readRef, JsonTexts } from '../../lang/json-path.js';
import type { ReadChannel } from '../../lang/json-path.js';
import type { Template, ValueRef } from '../../lang/values.js';
import type { GuideOf } from '../../plan/guide.js';
import type { Bindings, PlanNode } from '../../plan/plan.js';
import { definitionOf } from '../durable/identity.js';
import type { CompiledNode } from '../graph/compile.js';
import type { Outcome, Question, StepIo, StepOptions, Ticket } from '../ports/durable.js';
import type { StateWatch, StepContext } from '../ports/executor.js';
import type { RunServices } from '../services.js';
import { ReadLog } from '../state/reads.js';
import type { Version } from '../state/version.js';
import { readEnd } from '../state/viewed.js';
import type { ChannelSource } from '../state/viewed.js';
import { AskingIo } from './asking.js';
import type { Activity, Asker } from './asking.js';

/** A step, as code sees it that runs inside of it and reaches the outside by a {@link StepContext}. */
export interface StepAround extends Asker {
  readonly run: RunServices;
  readonly owner: ChannelSource;
  readonly compiled: CompiledNode;
  readonly path: string;
  readonly attempt: number;
  readonly key: string;
  readonly input: Version;
  readonly correction: string | undefined;
  reader(): ReadChannel;
  render(template: Template): string;
  emit(body: EventBody): void;
  /** It calls something that has `effect: once`. */
  callsOnce(): void;
}

/** Runs code that is deterministic between its effects inside of an attempt. `ended` is told how it ended, unless the attempt is over by then. */
export function runInside<T>(
  step: StepAround,
  work: (context: StepContext) => Promise<T>,
  ended: (outcome: Ended<T>) => void,
): void {
  const inside = new Inside(step);
  step.hold(inside);
  step.run.woken();
  const finished = work(inside).then(
    (value) => inside.finish(() => ended({ ok: true, value })),
    (error: unknown) => inside.finish(() => ended({ ok: false, error: toErrorData(error) })),
  );
  step.run.hold(finished);
}

type Ended<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ErrorData };

const NO_TOOLS: Bindings = Object.freeze({});

/** Hands out promises that are settled by outcomes of the durability port. */
class Inside implements StepContext, Activity {
  readonly attempt: number;
  private readonly open = new Map<Ticket, (error: ErrorData) => void>();
  private over = false;
  private draws = 0;

  constructor(private readonly step: StepAround) {
    this.attempt = step.attempt;
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

  read(ref: ValueRef): unknown {
    return readRef(ref, this.step.reader(), new JsonTexts(this.step.run));
  }

  readEnd(channel: string, count: number): unknown {
    return readEnd(this.step.input, this.step.owner, channel, count);
  }

  watch(): StateWatch {
    const log = new ReadLog(this.step.input, this.step.owner);
    return { state: log.viewFor(undefined), reads: () => log.reads(), current: (name) => log.current(name) };
  }

  render(template: Template): string {
    return this.step.render(template);
  }

  async effect<T>(name: string, effect: (io: StepIo) => T | Promise<T>, options?: StepOptions): Promise<T> {
    this.check();
    if (options?.effect === 'once') this.step.callsOnce();
    const perform = (io: StepIo): T | Promise<T> => effect(new AskingIo(this.step, io));
    return (await this.wait(this.step.run.durable.step(this.keyOf(name), { perform }, options))) as T;
  }

  callsOnce(): void {
    this.step.callsOnce();
  }

  async sleep(name: string, ms: number): Promise<void> {
    this.check();
    await this.wait(this.step.run.durable.timer(this.keyOf(name), ms));
  }

  async ask(name: string, question: Question): Promise<unknown> {
    this.check();
    const startClock = this.step.stopClock();
    try {
      return await this.wait(this.step.run.durable.signal(this.keyOf(name), { name, question }));
    } finally {
      startClock();
    }
  }

  note(note: StepNote): void {
    if (this.step.run.reporter.observed && !this.over) this.step.emit({ type: 'step.note', note });
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

  /** Too late when the attempt is over. */
  finish(ended: () => void): void {
    if (this.over) return;
    this.step.release(this);
    ended();
    this.over = true;
    this.step.run.woken();
  }

  stop(): void {
    this.over = true;
    const { durable } = this.step.run;
    for (const [ticket, reject] of this.open) {
      ticket.waiter = undefined;
      durable.drop(ticket);
      reject({ code: 'SKEIN_CANCELLED', message: 'the step was cancelled' });
    }
    this.open.clear();
  }

  private check(): void {
    if (this.over) throw new SkeinError('SKEIN_CANCELLED', 'the step was cancelled');
  }

  private keyOf(name: string): string {
    return `${this.step.key}@${name}`;
  }

  private wait(ticket: Ticket): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const fail = (error: ErrorData): void => reject(fromErrorData(error));
      const take = (outcome: Outcome): void => {
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
