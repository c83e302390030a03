import { agentExecutor } from '../agent/executor.js';
import { isApproval } from '../agent/loop/approval.js';
import { createSharedMemory } from '../agent/memory.js';
import type { ModelRegistry } from '../agent/models/registry.js';
import { createModelRegistry } from '../agent/models/registry.js';
import type { OwnPlaces } from '../agent/tools/provider-options.js';
import { createToolProvider } from '../agent/tools/provider.js';
import { SkeinError, toErrorData } from '../base/errors.js';
import { systemClock } from '../base/clock.js';
import { systemIds } from '../base/ids.js';
import type { Slices } from '../base/slices.js';
import { inSlices } from '../base/slices.js';
import { isThenable } from '../base/thenable.js';
import type { CompiledPlan } from '../engine/graph/compile.js';
import { codeOf } from '../engine/durable/identity.js';
import { checkEdits, firstState } from '../engine/state/inputs.js';
import { MemoryDurable } from '../engine/durable/memory-durable.js';
import { RecordedDurable } from '../engine/durable/recorded/recorded-durable.js';
import type { RunHandle, RunResult, StartOptions } from '../engine/run.js';
import { startRun } from '../engine/run.js';
import type { Starting } from '../engine/services.js';
import type { OpenSession } from '../journal/session.js';
import { beginSession, resumeSession } from '../journal/session.js';
import type { Store } from '../journal/store.js';
import type { Announcement } from './announcement.js';
import { announcement } from './announcement.js';
import { answerBy } from './answers.js';
import { checkGiven, withAdvice } from './check-run.js';
import type { Changes } from './changes.js';
import type { GoingOn, RecordedRun } from './going-on.js';
import { goingOn, readRecordedRun, settingsOf } from './going-on.js';
import type { RunOptions } from './options.js';
import type { Origins } from './own-places.js';
import { ownPlaces } from './own-places.js';
import { isOnThread } from './threads/check-thread.js';
import { newHolder } from './threads/open-turn.js';
import { turnOf } from './threads/turn-of.js';
import { Turn } from './threads/turn.js';

/** What is started: checked, with the models it may use. */
export interface Launch {
  readonly compiled: CompiledPlan;
  readonly models: ModelRegistry;
  readonly options: RunOptions;
  /** What was read of the run that is resumed. Absent: it is read. */
  readonly recorded?: RecordedRun;
  /** What has changed since, when whoever started it has told about that. */
  readonly told?: Changes;
  /** Told with which inputs it begins, right before it does. */
  readonly begins?: (inputs: Readonly<Record<string, unknown>>) => void;
  /** Told what each step sees, right before listeners learn that it starts. */
  readonly starting?: Starting;
  /** What tools of the run leave alone, in addition to what the options tell. */
  readonly origins?: Origins;
  /** The turn that it is, where that was opened. Absent: it is opened. */
  readonly turn?: Turn | undefined;
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
 * Starts a run with agents, tools and, where there is a store, a journal. A long record is read in slices before the run starts: what is
 * wrong with it then rejects the result.
 *
 * @throws SkeinError `SKEIN_INPUT`, `SKEIN_USAGE`; with a store also `SKEIN_STORE`, `SKEIN_NO_RUN`, `SKEIN_LEASE`, `SKEIN_JOURNAL`, `SKEIN_NOT_JSON`
 */
export function launch(one: Launch): RunHandle {
  const { options } = one;
  checkGiven(one.compiled.plan, options);
  const runId = options.resume ?? options.runId ?? systemIds.next();
  if (options.store === undefined) {
    checkNothingRecorded(options);
    return startUnrecorded(one, runId);
  }
  const { store } = options;
  if (one.turn === undefined && isOnThread(options))
    return startLater(one, (stoppable) => openOnThread(stoppable, store, runId), runId);
  const opened = inSlices(openRun(one, store, runId));
  return isThenable(opened) ? startLater(one, () => opened, runId) : startRecorded(one, opened);
}

async function openOnThread(one: Launch, store: Store, runId: string): Promise<Opened> {
  const turn = await turnOf(one, store, launch);
  try {
    return await inSlices(openRun({ ...one, turn }, store, runId));
  } catch (error) {
    turn?.abandon();
    throw error;
  }
}

function startUnrecorded(one: Launch, runId: string): RunHandle {
  const { compiled, models, options } = one;
  const { inputs = {} } = options;
  one.begins?.(inputs);
  const durable = new MemoryDurable(runId, { answer: answerBy(models, options.answer) });
  const handle = startRun(compiled, { ...started(one, options), runId, inputs, durable });
  return {
    runId,
    result: advised(handle.result, options),
    cancel: (reason) => handle.cancel(reason),
  };
}

/** Holds the options only: of a run that is over, nothing but its result is kept. */
function advised(result: Promise<RunResult>, options: RunOptions): Promise<RunResult> {
  return result.then((ended) => withAdvice(ended, options));
}

/** A session that was opened, and with what the run goes on. */
interface Opened extends GoingOn, Announcement {
  readonly turn: Turn | undefined;
  readonly session: OpenSession;
}

function startRecorded(one: Launch, opened: Opened): RunHandle {
  const { compiled, models, options } = one;
  const { session, inputs, settings, edits, formerModels, announced, turn } = opened;
  const warnings = [...opened.warnings, ...(turn?.warnings ?? [])];
  one.begins?.(inputs);
  let cancel: () => void = nobody;
  const durable = new RecordedDurable(session, {
    answer: answerBy(models, options.answer),
    onReplayedAnswer: (question, address) => {
      if (!isApproval(question, address)) models.answered(question.text);
    },
    onCancel: () => cancel(),
  });
  const parts = started(one, settings, formerModels);
  const state = turn === undefined ? { inputs } : { first: turn.start(compiled, inputs), last: turn.note };
  const handle = startRun(compiled, {
    ...parts,
    ...state,
    ...(edits && { edits }),
    warnings,
    announced,
    log: durable.listen,
    durable,
  });
  cancel = () => handle.cancel('a cancellation was requested');
  turn?.onLost(() => handle.cancel('another process has taken over the thread'));
  return {
    runId: handle.runId,
    result: handle.result.then((result) => closed(durable, result, turn)),
    cancel: (reason) => handle.cancel(reason),
  };
}

/** Its record is still being read, or it waits for its turn. */
function startLater(one: Launch, open: (stoppable: Launch) => Promise<Opened>, runId: string): RunHandle {
  const stop = new AbortController();
  const { signal } = one.options;
  const signals = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const stoppable = { ...one, options: { ...one.options, signal: signals } };
  const handle = open(stoppable).then((session) => startRecorded(stoppable, session));
  return {
    runId,
    result: handle.then(({ result }) => result),
    cancel: (reason = 'the run was cancelled') => stop.abort(new SkeinError('SKEIN_CANCELLED', reason)),
  };
}

/** What only some runs need is made when it is first asked for: a run without agents costs microseconds. */
function lazily<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** What every run is started with. */
function started(
  one: Launch,
  { memory, maxSteps }: Pick<RunOptions, 'memory' | 'maxSteps'>,
  formerModels?: GoingOn['formerModels'],
): StartOptions {
  const { compiled, models, options, starting, origins = {} } = one;
  // The process may have moved when the first agent starts.
  const cwd = options.cwd ?? process.cwd();
  const lent = lazily(() => {
    const around = options.models === undefined ? undefined : shared.get(options.models)?.own;
    const own = ownPlaces(compiled.plan, { ...options, cwd }, origins, around);
    return { own, runOptions: inheritedOptions(models, own, options) };
  });
  const agents = lazily(() => agentsOf({ one, cwd, ...lent(), memory, formerModels }));
  const { listeners, signal, concurrency, check, streamState } = options;
  return {
    runOptions: () => lent().runOptions,
    executors: { agent: (node, step) => agents()(node, step), ...options.executors },
    atEnd: () => models.finish(),
    ...(starting === undefined ? {} : { starting }),
    ...(listeners === undefined ? {} : { listeners }),
    ...(signal === undefined ? {} : { signal }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(check === undefined ? {} : { check }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(streamState === undefined ? {} : { streamState }),
  };
}

/** Without the store, a run that should go on would do everything again. */
function checkNothingRecorded({ resume, fork, thread }: RunOptions): void {
  if (resume === undefined && fork === undefined && thread === undefined) return;
  const option = resume !== undefined ? 'resume' : fork !== undefined ? 'fork' : 'thread';
  const what = option === 'thread' ? 'its turns are' : 'the run is';
  throw new SkeinError('SKEIN_USAGE', `${option} needs the store in which ${what} recorded`, {
    hint: `run(workflow, { store, ${option}: ... })`,
  });
}

function nobody(): void {
  // The run has not started yet.
}

interface Agents {
  readonly one: Launch;
  readonly cwd: string;
  readonly own: OwnPlaces;
  readonly runOptions: RunOptions;
  readonly memory: string | undefined;
  readonly formerModels: GoingOn['formerModels'] | undefined;
}

function agentsOf({ one, cwd, own, runOptions, memory, formerModels }: Agents): ReturnType<typeof agentExecutor> {
  const { models, options } = one;
  const env = options.models?.env ?? process.env;
  const isMock = options.models?.mock === true || options.models?.script !== undefined;
  const tools = createToolProvider({
    cwd,
    env,
    own,
    allowPrivateAddresses: options.allowPrivateAddresses ?? false,
    ...(isMock ? { mock: { calls: () => models.scriptedCalls() } } : {}),
  });
  return agentExecutor({
    models,
    tools,
    cwd,
    runOptions,
    ...(memory === undefined ? {} : { memory: createSharedMemory(memory) }),
    ...(formerModels === undefined ? {} : { formerModels }),
  });
}

/** Opens the session of a run. Nothing is written before all that can be checked is. */
function* openRun(one: Launch, store: Store, runId: string): Slices<Opened> {
  const { compiled, models, options } = one;
  const { plan } = compiled;
  const code = codeOf(compiled);
  const holder = newHolder();
  const from = options.resume ?? options.fork?.run;
  const recorded = from === undefined ? undefined : (one.recorded ?? (yield* readRecordedRun(store, from)));
  const going =
    recorded === undefined ? begun(models, options) : goingOn({ store, plan }, recorded, models.identity(), options);
  checkEdits(compiled, going.edits);
  const before = recorded?.family[0].begin.thread;
  const turn = one.turn ?? (before === undefined ? undefined : new Turn(store, before, undefined));
  if (turn === undefined) firstState(compiled, going.inputs);
  else turn.start(compiled, going.inputs);
  const definition = { plan, code, inputs: going.inputs, settings: going.settings };
  if (recorded === undefined || options.resume === undefined) {
    const parent =
      recorded === undefined ? {} : { parent: { family: recorded.family, ...options.fork, edits: going.edits } };
    const run = { ...definition, ...parent, ...(turn === undefined ? {} : { thread: turn.of }), runId };
    turn?.begin(runId, going.inputs);
    const session = yield* beginSession(store, { ...run, origin: options.origin ?? {} }, holder, systemClock.now());
    return { ...going, session, turn, ...announcement(one, recorded, going) };
  }
  const told = announcement(one, recorded, going);
  const session = yield* resumeSession(store, recorded.reader, definition, holder, systemClock);
  return { ...going, session, turn, ...told };
}

function begun(models: ModelRegistry, { inputs = {}, memory, maxSteps }: RunOptions): GoingOn {
  const settings = settingsOf(models.identity(), { memory, maxSteps });
  return { inputs, settings, formerModels: () => [] };
}

/** The end of the session is part of its record: a run that can't say how it ended has not succeeded. */
function closed(durable: RecordedDurable, result: RunResult, turn: Turn | undefined): RunResult {
  const ended = attempt(result, () => turn?.prepare(result));
  const recorded = attempt(ended, () => durable.close(ended));
  // How it ended is not recorded: whoever takes the next turn finds out.
  if (recorded !== ended) {
    turn?.abandon();
    return recorded;
  }
  return attempt(ended, () => turn?.settle(ended));
}

/** The result of a run after something that is part of its end: what goes wrong there fails it. */
function attempt(result: RunResult, act: () => void): RunResult {
  try {
    act();
    return result;
  } catch (error) {
    return { ...result, outcome: 'failed', error: toErrorData(error) };
  }
}
