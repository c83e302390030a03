import { toErrorData } from '../../../base/errors.js';
import { asRecorded, isPlainObject, present, type JsonObject } from '../../../base/json.js';
import { kindText } from '../../../lang/value-text.js';
import type { StepNote } from '../../../events/event.js';
import { answerNote } from '../../../events/question.js';
import type {
  AskOptions,
  StepArrival,
  StepPart,
  TaskQuestion,
  TaskStep as TaskStepInput,
} from '../../../plan/builder-input.js';
import { asQuestion, questionName } from '../../../plan/task-question.js';
import { CLEAR, PLACE, type ClearedCall, type ClearsCalls, type NodeCall } from '../../../plan/tool-use.js';
import { isAllowed } from '../../graph/explain.js';
import { GUARD_EXPIRES_MS } from '../../ports/executor.js';
import { limitOf } from '../../../base/duration.js';
import { isGoto, type Jump } from '../../../plan/goto.js';
import type { TaskFunction } from '../../graph/compile.js';
import { countInner } from '../../../events/call-fold.js';
import { askInside, partsInside, reserveInside, standStill } from '../asking.js';
import { callerOf, definitionOf } from '../../durable/identity.js';
import { questionIn } from '../../durable/open-question.js';
import { nextInPart } from '../../durable/part-under-way.js';
import { hearsAnswer, withoutSource } from '../../../guard/label.js';
import type { Effect, Influence, Outcome, Question, StepIo } from '../../ports/durable.js';
import type { Identity, Lost, Past, StepOptions } from '../../ports/recording.js';
import { ReadLog } from '../../state/reads.js';
import { besideEffect } from '../inside.js';
import type { Body, Step } from '../step.js';
import { lostTask, recordedResult, resultOf, strayJump, updateOf } from './recorded-result.js';
import { InnerRuns } from './inner-run.js';
import { isMutation } from '../../state/viewed.js';

/** The second argument of a code node's function. */
export class TaskStep implements TaskStepInput, ClearsCalls {
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Number of questions so far. */
  private asked = 0;
  private inner: InnerRuns | undefined = undefined;
  private lent: object | undefined = undefined;
  /** True if the function has read its correction. */
  private heard = false;

  constructor(
    private readonly step: Step,
    private readonly io: StepIo,
    private readonly log?: ReadLog,
  ) {
    this.attempt = step.attempt;
  }

  get path(): string {
    return this.step.path;
  }

  get runId(): string {
    return this.step.run.runId;
  }

  /** Aborted if the run is cancelled or the attempt takes too long. */
  get signal(): AbortSignal {
    return this.io.signal;
  }

  /** The same for every execution of this step: pass it to services that support idempotency keys. */
  get idempotencyKey(): string {
    return this.step.keyOfCall(this.io.idempotencyKey);
  }

  get [PLACE](): string {
    return this.io.idempotencyKey;
  }

  get correction(): string | undefined {
    this.log?.corrected();
    this.heard = true;
    return this.step.correction;
  }

  /** Options for a run that the function starts: it ends with the attempt that started it. */
  get runOptions(): object {
    const { run } = this.step;
    this.lent ??= run.runOptions({
      reserve: reserveInside(this.step, this.io),
      parts: partsInside(this.step, this.io),
      tell: (note, again) => {
        countInner(again ? run.tallies.saved : run.tallies.spent, note);
        if (run.reporter.observed) this.step.emit({ type: 'step.note', note }, again);
      },
      influence: this.influence,
      path: this.path,
      ask: (name, question, from) => this.askNow(name, question, undefined, from),
    });
    return { ...this.lent, signal: this.io.signal };
  }

  private get influence(): Influence {
    const { step, log } = this;
    const { labels } = step.run;
    return {
      label: () => labels.get(step.influence),
      add: (label) => (log === undefined ? step.influenced(labels.of(label)) : log.hear(label)),
      wrote: (path) => log?.wroteInside(path),
    };
  }

  /** The arrivals on each in-edge, or the failure that the step handles. */
  get arrivals(): readonly StepArrival[] {
    this.log?.arrived();
    return arrivalsOf(this.step);
  }

  /**
   * Asks a person and returns the answer: text, or what the schema asks for. Each question of a step has a name of its own; the default is
   * its number. If nobody can answer in this session, the function ends here and the step pauses. Once there is an answer, the function
   * starts from its beginning: answered questions return the same answer at once.
   *
   * @example
   * const run = async (state, step) => ({ answer: await step.ask({ text: 'Publish?', choices: ['yes', 'no'] }) });
   */
  async ask(question: TaskQuestion, how: string | AskOptions = {}): Promise<never> {
    const options: AskOptions = isPlainObject(how) ? how : { name: how };
    const { expires } = options;
    const name = questionName(options.name, nextInPart(this.io) ?? String((this.asked += 1)));
    const limit = expires === undefined ? undefined : limitOf(expires, 'expires of a question');
    const hasDefault = options.default !== undefined || isAllowed(this.step.compiled.node.onError) || undefined;
    const until = limit && { ...limit, ...present({ hasDefault }) };
    const answer = await this.askNow(name, asQuestion(question), until).catch((error: unknown) => {
      // Nothing else in a question can time out.
      if (options.default !== undefined && toErrorData(error).code === 'SKEIN_TIMEOUT') return options.default;
      throw error;
    });
    this.tell(() => answerNote(answer));
    // The interface says what type the answer to a question has.
    return answer as never;
  }

  private async askNow(...[name, question, until, tell]: Parameters<StepIo['ask']>): Promise<unknown> {
    const from = hearsAnswer(this.path, (label) => this.influence.add(label), tell);
    return await askInside(this.step, this.io.signal, () => this.io.ask(name, question, until, from));
  }

  /**
   * Runs a part of the step and returns its result, which must be JSON. With a store, the result is recorded when the part ends: a step
   * that is retried, or that continues after its process died, does not repeat the part. Failures are not recorded.
   *
   * @example
   * const run = async ({ order }, step) => ({ receipt: await step.run('charge', () => charge(order)) });
   */
  async run<T>(name: string, part: (io: StepPart) => T): Promise<Awaited<T>> {
    this.inner ??= new InnerRuns(this.step, this.io, this.log);
    return (await this.inner.run(name, part, this.heard)) as Awaited<T>;
  }

  /**
   * Sends an event to listeners: a `step.note` with `{ kind: 'event', event }`. It is not recorded.
   *
   * @example
   * const run = (state, step) => step.emit({ progress: 0.5 });
   */
  emit(event: JsonObject): void {
    this.tell(() => eventNote(event));
  }

  async [CLEAR](call: NodeCall): Promise<ClearedCall> {
    const { step, io, influence, path } = this;
    const { id } = step.compiled;
    // What the tool gave in earlier attempts is not a reason to ask about the same call again.
    const label = withoutSource(influence.label(), toolSource(path));
    const clear = step.run.options.guard?.().clear(call, label, { id, path, caller: () => callerOf(step.compiled) });
    if (clear === undefined) return { input: call.input, isAllowed: false };
    const ask = (question: Question): Promise<unknown> =>
      askInside(step, io.signal, () => io.ask('guard#1.1', question, { ms: GUARD_EXPIRES_MS }));
    const cleared = await besideEffect(step, (context) => clear({ context, io, ask }));
    if (cleared.freed !== undefined) this.log?.free(cleared.freed);
    return cleared;
  }

  private tell(note: () => StepNote): void {
    const { step } = this;
    if (step.run.reporter.followed && step.performs(this.attempt)) step.emit({ type: 'step.note', note: note() });
  }
}

/** Listeners own their events, which never change later. An event that is not JSON does not fail the step. */
function eventNote(event: JsonObject): StepNote {
  try {
    if (!isPlainObject(event)) throw new TypeError(`it is ${kindText(event)}, not an object`);
    return { kind: 'event', event: asRecorded(event) as JsonObject };
  } catch (error) {
    return { kind: 'warning', code: 'bad-event', message: `an event was dropped: ${toErrorData(error).message}` };
  }
}

function arrivalsOf({ arrivals, compiled, failure, owner }: Step): readonly StepArrival[] {
  if (failure !== undefined) return [{ kind: 'failed', ...failure }];
  return arrivals.flatMap((token, slot) => {
    if (token === undefined) return [];
    const from = owner.nameOf(compiled.sources[slot] ?? -1);
    return [{ from, kind: token.kind, ...token.failure }];
  });
}

/** A function: one effect. */
export const taskBody: Body = {
  start: startTask,
  take: takeOutcome,
  perform,
  identity: (step) => new RecordedTask(step),
};

function startTask(step: Step): void {
  const { effect } = step.compiled.node;
  const { durable } = step.run;
  if (isWatched(step)) {
    const { identity } = step;
    const recorded = identity instanceof RecordedTask ? identity : new RecordedTask(step);
    // Of a run inside a step, only what must not happen twice is recorded: its values need not be JSON, and the function around it runs again, too.
    step.follow(durable.step(step.key, recorded, durable.recorded || effect === 'once' ? recorded : undefined));
  } else step.follow(durable.step(step.key, step, effect === undefined ? undefined : { effect }));
}

/** Whether outcomes of the step, or of its parts, depend on what its function reads. */
function isWatched({ run: { durable } }: Step): boolean {
  return durable.recorded || durable.isInside === true;
}

function perform(step: Step, io: StepIo): unknown {
  const body = bodyOf(step);
  return resultOf(step, body(step.view(body), new TaskStep(step, io)));
}

function bodyOf({ compiled }: Step): TaskFunction {
  if (compiled.body === undefined) throw new TypeError(`'${compiled.id}' has no function`);
  return compiled.body;
}

/** A function whose result is recorded, identified by its source and its reads. One object, because it is held until the commit. */
class RecordedTask extends ReadLog implements Effect, Identity, StepOptions {
  constructor(private readonly step: Step) {
    super(step.input, step.owner, step);
  }

  get identity(): Identity {
    return this;
  }

  get effect(): StepOptions['effect'] {
    return this.step.compiled.node.effect;
  }

  perform(io: StepIo): unknown {
    const body = bodyOf(this.step);
    return recordedResult(this.step, body(this.viewFor(body), new TaskStep(this.step, io, this)));
  }

  stopsClock(): () => void {
    return standStill(this.step);
  }

  get lost(): Lost {
    return lostTask(this.step, this);
  }

  digest(): string {
    return definitionOf(this.step.compiled);
  }

  override reused(then: Past): void {
    super.reused(then);
    const { freed } = then;
    if (freed !== undefined) this.step.run.options.guard?.().free(callerOf(this.step.compiled), freed);
  }

  protected override correction(): string | undefined {
    return this.step.correction;
  }

  /** The path of a first visit adds nothing to the name. */
  protected override arrivals(): readonly unknown[] {
    const { owner } = this.step;
    return arrivalsOf(this.step).map(({ path, ...arrival }) =>
      path === undefined || path === owner.prefix + arrival.from ? arrival : { ...arrival, path },
    );
  }
}

function takeResult(step: Step, result: unknown): void {
  const isUpdate = isWatched(step) && step.compiled.output < 0;
  const given = (update: unknown): unknown => (isUpdate ? updateOf(update) : update);
  if (step.compiled.jumps) {
    // The result is missing if a person decided the outcome of the step.
    const { update, goto } = (result ?? {}) as Jump;
    step.succeed(given(update), goto);
  } else if (isGoto(result)) step.fail(toErrorData(strayJump(step, result)));
  else step.succeed(given(result));
}

function takeOutcome(step: Step, outcome: Outcome): void {
  if (outcome.ok || outcome.error.code !== 'SKEIN_QUESTION') hearTool(step);
  if (outcome.ok) {
    takeResult(step, outcome.value);
    return;
  }
  const { error, short } = outcome;
  if (short !== undefined) step.runOut(error, short);
  else if (error.code === 'SKEIN_QUESTION') step.pause(questionIn(error), error.message);
  else if (isMutation(error.name, error.message)) {
    step.fail({
      ...error,
      code: 'SKEIN_STATE_MUTATED',
      hint: `'${step.compiled.id}' tried to change the state; return an update instead: it is merged for you`,
    });
  } else step.fail(error);
}

/**
 * Adds the label of what a tool gave to the function of a step, errors included, unless the program trusts the tool. It depends only on
 * the definition, so a replay adds the same, and so does a step recorded by an older version.
 */
function hearTool(step: Step): void {
  const { node } = step.compiled;
  if (node.kind !== 'task' || node.callsTool === undefined || node.trustsTool === true) return;
  step.influenced(step.run.labels.of({ level: 'untrusted', isPrivate: true, sources: [toolSource(step.path)] }));
}

function toolSource(path: string): string {
  return `${path}@tool#1.1`;
}
