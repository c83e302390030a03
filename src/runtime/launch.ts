import { agentExecutor } from '../agent/executor.js';
import { isApproval } from '../agent/loop/approval.js';
import { createSharedMemory } from '../agent/memory.js';
import type { ModelRegistry } from '../agent/models/registry.js';
import { createModelRegistry } from '../agent/models/registry.js';
import type { OwnPlaces } from '../agent/tools/own-places.js';
import { createToolProvider } from '../agent/tools/provider.js';
import { SkeinError, toErrorData } from '../base/errors.js';
import { systemClock } from '../base/clock.js';
import { systemIds } from '../base/ids.js';
import type { CompiledPlan } from '../engine/compile.js';
import { codeOf } from '../engine/identity.js';
import { firstState } from '../engine/inputs.js';
import type { AnswerQuestion } from '../engine/memory-durable.js';
import { MemoryDurable } from '../engine/memory-durable.js';
import { RecordedDurable } from '../engine/recorded/recorded-durable.js';
import type { RunHandle, RunResult } from '../engine/run.js';
import { startRun } from '../engine/run.js';
import type { Starting } from '../engine/services.js';
import type { OpenSession } from '../journal/session.js';
import { beginSession, readHistory, readStored, resumeSession } from '../journal/session.js';
import type { Store } from '../journal/store.js';
import { typedAnswer } from '../lang/typed-answer.js';
import { thisProcess } from '../stores/holder.js';
import type { RunOptions } from './options.js';
import type { Origins } from './own-places.js';
import { ownPlaces } from './own-places.js';

/** What is started: checked, with the models it may use. */
export interface Launch {
  readonly compiled: CompiledPlan;
  readonly models: ModelRegistry;
  readonly options: RunOptions;
  /** Told what each step sees, right before listeners are told that it starts. */
  readonly starting?: Starting;
  /** What tools of the run leave alone, besides what the options tell. */
  readonly origins?: Origins;
}

/** What runs share with those that are started from inside of them, by the options that stand for it there. */
const shared = new WeakMap<object, { readonly models: ModelRegistry; readonly own: OwnPlaces }>();

/** Options for a run that a tool of this run starts: its models are the same, and this run ends them; its tools leave the same alone. */
function inheritedOptions(models: ModelRegistry, own: OwnPlaces, options: RunOptions): RunOptions {
  const same = { ...options.models };
  shared.set(same, { models: { ...models, finish: () => Promise.resolve() }, own });
  const { cwd, allowPrivateAddresses, answer } = options;
  return {
    models: same,
    ...(cwd === undefined ? {} : { cwd }),
    ...(allowPrivateAddresses === undefined ? {} : { allowPrivateAddresses }),
    ...(answer === undefined ? {} : { answer }),
  };
}

/** The models of a run. */
export function openModels(options: RunOptions): ModelRegistry {
  const known = options.models === undefined ? undefined : shared.get(options.models);
  if (known !== undefined) return known.models;
  const cwd = options.cwd ?? process.cwd();
  return createModelRegistry({ cwd, ...options.models, env: options.models?.env ?? process.env });
}

/**
 * Starts a run with agents, tools and, where there is a store, a journal.
 *
 * @throws SkeinError `SKEIN_INPUT`, `SKEIN_USAGE`; with a store also `SKEIN_STORE`, `SKEIN_NO_RUN`, `SKEIN_LEASE`, `SKEIN_JOURNAL`, `SKEIN_NOT_JSON`
 */
export function launch({ compiled, models, options, starting, origins = {} }: Launch): RunHandle {
  const around = options.models === undefined ? undefined : shared.get(options.models)?.own;
  const own = ownPlaces(compiled.plan, options, origins, around);
  const runOptions = inheritedOptions(models, own, options);
  const picked = { ...pick(options), runOptions, ...(starting === undefined ? {} : { starting }) };
  const executors = { agent: agentsOf(models, own, options, runOptions), ...options.executors };
  const atEnd = (): Promise<void> => models.finish();
  const answer = answerBy(models, options.answer);
  if (options.store === undefined) {
    checkNothingRecorded(options);
    const runId = options.runId ?? systemIds.next();
    const durable = new MemoryDurable(runId, { answer });
    return startRun(compiled, { ...picked, runId, durable, executors, atEnd });
  }
  const inputs = recordedInputs(options.store, options);
  firstState(compiled, inputs);
  const session = openSession(options.store, compiled, { ...options, inputs });
  let cancel: () => void = nobody;
  const durable = new RecordedDurable(session, {
    answer,
    onReplayedAnswer: (question, address) => {
      if (!isApproval(question, address)) models.answered(question.text);
    },
    onCancel: () => cancel(),
  });
  const handle = startRun(compiled, { ...picked, inputs, log: durable.listen, durable, executors, atEnd });
  cancel = () => handle.cancel('somebody asked for it to be cancelled');
  return {
    runId: handle.runId,
    result: handle.result.then((result) => closed(durable, result)),
    cancel: (reason) => handle.cancel(reason),
  };
}

/** Without the store, a run that should go on would do everything again. */
function checkNothingRecorded({ resume, fork }: RunOptions): void {
  if (resume === undefined && fork === undefined) return;
  const option = resume === undefined ? 'fork' : 'resume';
  throw new SkeinError('SKEIN_USAGE', `${option} needs the store in which the run is recorded`, {
    hint: `run(workflow, { store, ${option}: ... })`,
  });
}

function nobody(): void {
  // The run has not started yet.
}

function agentsOf(
  models: ModelRegistry,
  own: OwnPlaces,
  options: RunOptions,
  runOptions: RunOptions,
): ReturnType<typeof agentExecutor> {
  const cwd = options.cwd ?? process.cwd();
  const env = options.models?.env ?? process.env;
  const tools = createToolProvider({
    cwd,
    env,
    own,
    allowPrivateAddresses: options.allowPrivateAddresses ?? false,
    mock: options.models?.mock === true || options.models?.script !== undefined,
  });
  const memory = options.memory === undefined ? undefined : createSharedMemory(options.memory);
  return agentExecutor({ models, tools, cwd, runOptions, ...(memory === undefined ? {} : { memory }) });
}

/**
 * The inputs of a run: those that are given, and of a run that is resumed or forked the recorded ones.
 *
 * @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`
 */
export function recordedInputs(store: Store, options: RunOptions): Readonly<Record<string, unknown>> {
  const before = options.resume ?? options.fork?.run;
  if (before === undefined) return options.inputs ?? {};
  const recorded = readStored(store, readHistory(store, before).current.inputs) as Readonly<Record<string, unknown>>;
  return { ...recorded, ...options.inputs };
}

function openSession(store: Store, compiled: CompiledPlan, options: RunOptions): OpenSession {
  const definition = { plan: compiled.plan, code: codeOf(compiled), inputs: options.inputs ?? {} };
  const now = systemClock.now();
  const here = thisProcess();
  const holder = { ...here, id: `${systemIds.next()}@${here.id}` };
  if (options.resume !== undefined) return resumeSession(store, options.resume, definition, holder, now);
  const { fork } = options;
  const parent = fork === undefined ? {} : { parent: { runId: fork.run, from: fork.from, forget: fork.forget } };
  const runId = options.runId ?? systemIds.next();
  return beginSession(store, { ...definition, ...parent, runId, origin: options.origin ?? {} }, holder, now);
}

/** The end of the session is part of its record: a run that can't say how it ended has not succeeded. */
function closed(durable: RecordedDurable, result: RunResult): RunResult {
  try {
    durable.close(result);
    return result;
  } catch (error) {
    return { ...result, outcome: 'failed', error: toErrorData(error) };
  }
}

/**
 * The script that the user runs it with may answer for the person: what stands there means what it would mean on a terminal. It never lets a tool
 * call happen.
 */
function answerBy(models: ModelRegistry, answer: AnswerQuestion | undefined): AnswerQuestion {
  return async (question, address, signal) => {
    const scripted = isApproval(question, address) ? undefined : await models.scriptAnswer(question.text);
    if (scripted !== undefined) {
      const typed = typedAnswer(question, scripted);
      return typed.ok ? typed.value : scripted;
    }
    if (answer !== undefined) return await answer(question, address, signal);
    throw new SkeinError('SKEIN_QUESTION', `nobody is here to answer: ${question.text}`, {
      hint: 'run it on a terminal, pass an answer function, or record the run in a store and answer later',
    });
  };
}

function pick(options: RunOptions): Pick<RunOptions, 'inputs' | 'listeners' | 'signal' | 'concurrency' | 'check'> {
  const { inputs, listeners, signal, concurrency, check } = options;
  return {
    ...(inputs === undefined ? {} : { inputs }),
    ...(listeners === undefined ? {} : { listeners }),
    ...(signal === undefined ? {} : { signal }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(check === undefined ? {} : { check }),
  };
}
