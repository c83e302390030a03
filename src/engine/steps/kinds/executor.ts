import type { ErrorData } from '../../../base/errors.js';
import { SkeinError, fromErrorData, toErrorData } from '../../../base/errors.js';
import type { StepNote } from '../../../events/event.js';
import { readRef, JsonTexts } from '../../../lang/json-path.js';
import type { Template, ValueRef } from '../../../lang/values.js';
import type { GuideOf } from '../../../plan/guide.js';
import type { Bindings, PlanNode } from '../../../plan/plan.js';
import type { Outcome, Question, StepIo, StepOptions, Ticket } from '../../ports/durable.js';
import type { Executor, Result, StateWatch, StepContext } from '../../ports/executor.js';
import { AskingIo } from '../asking.js';
import { readEnd } from '../../state/viewed.js';
import { ReadLog } from '../../state/reads.js';
import type { Activity, Body, Step } from '../step.js';
import { definitionOf } from '../../durable/identity.js';
import { questionIn } from '../../durable/open-question.js';
import { noTicket } from './call.js';

/** Node kinds whose executor is registered from outside. */
export const executorBody: Body = { start: startExecutor, take: noTicket };

function startExecutor(step: Step): void {
  const { node } = step.compiled;
  const executor = step.run.executors[node.kind] as Executor | undefined;
  if (executor === undefined) {
    throw new SkeinError('SKEIN_NO_EXECUTOR', `nothing here can run '${node.id}', a node of kind '${node.kind}'`, {
      hint: 'run it through the functions of skein, which know agents, or pass executors',
    });
  }
  const attempt = new ExecutorAttempt(step);
  step.hold(attempt);
  step.run.woken();
  const finished = executor(node, attempt).then(
    (result) => attempt.finish(result),
    (error: unknown) => attempt.finish({ type: 'failed', error: toErrorData(error) }),
  );
  step.run.hold(finished);
}

const NO_TOOLS: Bindings = Object.freeze({});

/** One attempt of an executor: hands out promises that are settled by outcomes of the durability port. */
class ExecutorAttempt implements StepContext, Activity {
  readonly attempt: number;
  private readonly open = new Map<Ticket, (error: ErrorData) => void>();
  private over = false;
  private draws = 0;

  constructor(private readonly step: Step) {
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
    const { run, owner, input } = this.step;
    return readRef(ref, owner.reader(input), new JsonTexts(run));
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
    const perform = (io: StepIo): T | Promise<T> => effect(new AskingIo(this.step, io));
    return (await this.wait(this.step.run.durable.step(this.keyOf(name), { perform }, options))) as T;
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

  /** Takes the executor's result; too late when the attempt is over. */
  finish(result: Result): void {
    if (this.over) return;
    if (result.type === 'done') this.step.succeed(result.output, result.goto, result.writes);
    else if (result.type === 'failed' && result.error.code === 'SKEIN_QUESTION')
      this.step.pause(questionIn(result.error), result.error.message);
    else if (result.type === 'failed') this.step.fail(result.error);
    else if (result.type === 'out_of_budget') this.step.runOut(result.error, result.writes);
    else if (result.type === 'paused') this.step.pause(result.question, result.reason);
    else this.step.skip(result.reason);
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
