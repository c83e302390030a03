import type { CountsCalls } from '../events/spending.js';
import { innerCalls } from '../events/call-fold.js';
import type { Influence, RunOptionsOf, Reserve } from '../engine/ports/durable.js';
import { answeredAround, unlessWaiting, type AnsweredAround } from './answered-around.js';
import { executorOf, runTrustOf } from '../agent/executor.js';
import { WrittenHere } from '../agent/run-trust.js';
import { toolExecutor } from '../agent/tool-step/executor.js';
import { createSharedMemory } from '../agent/memory.js';
import type { ModelRegistry } from '../agent/models/registry-options.js';
import { openRegistry } from '../agent/models/registry.js';
import { NO_PLACES, type OwnPlaces } from '../agent/tools/provider-options.js';
import { createToolProvider } from '../agent/tools/provider.js';
import { lazily } from '../base/collections.js';
import type { GuardRules } from '../guard/decide.js';
import { joinedIf } from '../guard/label.js';
import { unitePolicies } from '../guard/policy.js';
import { systemIds } from '../base/ids.js';
import { isThenable } from '../base/at-once.js';
import { asGiven, present } from '../base/json.js';
import { withScripted } from '../plan/made-of.js';
import { startRun, type RunHandle, type RunResult, type StartOptions } from '../engine/run.js';
import type { Executor, NodeGuard } from '../engine/ports/executor.js';
import type { Keeper } from '../engine/reporter.js';
import { isSupervisedPlan } from '../plan/nodes.js';
import type { AgentNode, Plan, TaskNode } from '../plan/plan.js';
import type { Policy } from '../plan/policy.js';
import { securityAt } from '../plan/security-at.js';
import { securityGiven, type Security } from '../plan/security.js';
import type { phasesOf as PhasesOf } from '../supervise/phases.js';
import type { Backend, BackendDefinition, BegunRun, OpenedRun } from './backends/backend.js';
import { checkLaunch } from './check-launch.js';
import { limitsOf } from './check-run.js';
import { declaredRules, isMock, sandboxCheck } from './guarding.js';
import { nodeGuard } from './node-guard.js';
import type { RunOptions } from './options.js';
import { definitionLabel, ownPlaces, type Origins } from './own-places.js';
import { startLater, stopOf } from './start-later.js';

export interface Launch extends Pick<BackendDefinition, 'compiled' | 'models' | 'recorded' | 'told' | 'turn'> {
  /** Where the run is carried out. Code that has a store brings its back end: a run in memory loads none of it. */
  readonly backend: Backend;
  readonly options: RunOptions;
  /** Called with the inputs right before the run begins. */
  readonly begins?: ((inputs: Readonly<Record<string, unknown>>) => void) | undefined;
  /** Keeps the events of the run, in addition to the listeners. */
  readonly keeper?: Keeper | undefined;
  /** Places that tools of the run leave alone, in addition to those of the options. */
  readonly origins?: Origins;
}

/** What runs share with the runs started inside them, by the options object that stands for it there. */
const shared = new WeakMap<object, Shared>();

interface Shared {
  readonly models: ModelRegistry;
  readonly own: OwnPlaces;
  /** Reserves what the inner runs are about to spend in the run that started them. */
  readonly around?: Reserve | undefined;
  /** Counts the calls of the inner runs in the step that started them. */
  readonly counts?: CountsCalls | undefined;
  /** Counts those of their calls that are answered from the record of that step. */
  readonly saves?: CountsCalls | undefined;
  /** The influence on the start of the inner runs. It also collects the labels of their results. */
  readonly influence?: Influence | undefined;
  /** Policies that apply to all inner runs. */
  readonly policies?: readonly Policy[] | undefined;
  /** What the run and its inner runs wrote so far. */
  readonly wrote?: WrittenHere | undefined;
  /** Who answers the questions of the inner runs, if the step that started them asks them, and what records their effects as parts of that step. */
  readonly answered?: AnsweredAround | undefined;
}

function sharedWith({ models }: RunOptions): Shared | undefined {
  return models === undefined ? undefined : shared.get(models);
}

/** Options for a run that a tool of this run starts: same protected places and guards, and the same models, which this run ends. */
function inheritedOptions(around: Shared, options: RunOptions, security: Security | undefined): RunOptions {
  const { models } = around;
  const same = { ...options.models };
  shared.set(same, { ...around, models: { ...models, finish: () => Promise.resolve() } });
  const { cwd, allowPrivateAddresses, toolPins, writtenFiles, supervisor, guards } = options;
  const answer = around.answered?.answer ?? options.answer;
  const passed = { cwd, allowPrivateAddresses, toolPins, writtenFiles, supervisor, answer, guards, security };
  const inherited = { models: same, ...present(passed) };
  return withScripted(inherited, models.scriptedResult);
}

/** Models for runs that follow each other, such as the turns of a conversation: a script continues where the run before stopped. */
export interface SharedModels {
  readonly models: NonNullable<RunOptions['models']>;
  /** Ends the models, as the end of a run ends its own. */
  finish(): Promise<void>;
}

export function sharedModels(options: RunOptions): SharedModels {
  const registry = openModels(options);
  const models = { ...options.models };
  const known = sharedWith(options);
  shared.set(models, { ...known, models: { ...registry, finish: () => Promise.resolve() }, own: NO_PLACES });
  return { models, finish: async () => await registry.finish() };
}

/** Opens the models of a run. `script`: the script of its options, as it was when the run was asked for. */
export function openModels(options: RunOptions, script = options.models?.script): ModelRegistry {
  const known = sharedWith(options);
  const prices = present({ prices: options.prices });
  if (known !== undefined) return { ...known.models, ...prices, ...narrowed(known.models, options) };
  const cwd = options.cwd ?? process.cwd();
  const limits = present({ limits: limitsOf(options) });
  const env = options.models?.env ?? process.env;
  return openRegistry({
    cwd,
    ...options.models,
    ...present({ script }),
    ...prices,
    ...limits,
    ...present({ inputs: options.inputs }),
    policies: policiesOf(options),
    env,
  });
}

/** The models of the surrounding run, limited to calls that the policies of this run permit. */
function narrowed(models: ModelRegistry, options: RunOptions): Partial<ModelRegistry> {
  if (options.policy === undefined) return {};
  const policies = policiesOf(options);
  return { resolve: (spec, caller) => models.resolve(spec, { policies, ...caller }) };
}

/**
 * Starts a run with agents and tools on its back end.
 *
 * @throws SkeinError `SKEIN_INPUT`, `SKEIN_USAGE`, and what {@link Backend.open} throws
 */
export function launch(given: Launch): RunHandle {
  const { compiled, models, backend, recorded, told, turn } = given;
  checkLaunch(compiled.plan, given.options);
  const checking = sandboxCheck(compiled.plan, given.options);
  const { thread, fork, resume } = given.options;
  const isLater = checking !== undefined || thread !== undefined || fork !== undefined || resume !== undefined;
  const one = isLater ? { ...given, options: asGiven(given.options) } : given;
  const { options } = one;
  const runId = options.resume ?? options.runId ?? systemIds.next();
  const stop = lazily(() => stopOf(options));
  const signal = (): AbortSignal => stop().signal;
  const again: BackendDefinition['launch'] = (other) => launch({ ...other, backend });
  const { around, influence, answered } = sharedWith(options) ?? {};
  const ofFiles = definitionLabel(compiled.plan, options, one.origins);
  const inherited = { around, answered, influence: joinedIf(influence?.label(), ofFiles) };
  const definition = { runId, compiled, models, recorded, told, turn, signal, ...inherited, launch: again };
  const open = (): OpenedRun | Promise<OpenedRun> => withSupervision(compiled.plan, backend.open(definition, options));
  const opened = checking?.then(open) ?? open();
  if (!isThenable(opened)) return start(one, opened);
  // Its record is still being read, or it waits for its turn.
  const stoppable = { ...one, options: { ...options, signal: signal() } };
  const starting = opened.then((run) => start(stoppable, run));
  return startLater(runId, stop(), starting);
}

/** The supervision phases, loaded when a run first needs them. */
let phasesOf: typeof PhasesOf | undefined;

/** A run without supervision loads no supervision code and starts at once. */
function withSupervision(plan: Plan, opened: OpenedRun | Promise<OpenedRun>): OpenedRun | Promise<OpenedRun> {
  if (phasesOf !== undefined || !isSupervisedPlan(plan)) return opened;
  return import('../supervise/phases.js').then((loaded) => {
    ({ phasesOf } = loaded);
    return opened;
  });
}

function start(one: Launch, opened: OpenedRun): RunHandle {
  one.begins?.(opened.inputs);
  const owner: { cancel: (reason: string) => void } = { cancel: () => undefined };
  const begun = opened.begin(owner);
  const handle = startRun(one.compiled, started(withPrices(one, opened), opened, begun));
  owner.cancel = (reason) => handle.cancel(reason);
  const result = closed(handle.result, begun, sharedWith(one.options)?.answered);
  return { runId: handle.runId, result, cancel: (reason) => handle.cancel(reason) };
}

/** A recorded run continues with its recorded prices. */
function withPrices(one: Launch, { settings: { prices } }: OpenedRun): Launch {
  const { models } = one;
  return prices === undefined || prices === models.prices ? one : { ...one, models: { ...models, prices } };
}

/** Keeps a reference to `close` only: of a run that has ended, nothing but its result stays in memory. */
function closed(result: Promise<RunResult>, { close }: BegunRun, answered: Shared['answered']): Promise<RunResult> {
  return result.then((ended) => unlessWaiting(close(ended), answered));
}

function started(one: Launch, opened: OpenedRun, begun: BegunRun): StartOptions {
  const { compiled, models, options, keeper, origins = {} } = one;
  const { maxSteps, untrusted, private: hidden } = opened.settings;
  const security = securityAt(compiled.plan, securityGiven(opened.settings.security));
  // The working directory of the process may have changed when the first agent starts.
  const cwd = options.cwd ?? process.cwd();
  const policies = policiesOf(options);
  const wrote = sharedWith(options)?.wrote ?? new WrittenHere();
  for (const path of opened.wrote ?? []) wrote.begin(path);
  const lent = lazily(() => {
    const own = ownPlaces(compiled.plan, { ...options, cwd }, origins, sharedWith(options)?.own);
    const runOptions: RunOptionsOf = ({ reserve, parts, tell, influence, path, ask }) => {
      const inside = new WrittenHere(wrote, influence?.wrote);
      const counts = innerCalls((note) => tell(note, false));
      const saves = innerCalls((note) => tell(note, true));
      const answered = answeredAround(ask, parts);
      const shares = { models, own, around: reserve, counts, saves, influence, policies, wrote: inside };
      return inheritedOptions({ ...shares, answered }, options, security(path));
    };
    return { own, runOptions };
  });
  const declared = lazily(() => {
    const { inputs, influence } = opened;
    return declaredRules(compiled.plan, { inputs, untrusted, influence });
  });
  const agents = lazily(() => agentsOf({ one, cwd, ...lent(), policies, rules: declared(), opened, security, wrote }));
  const { listeners, signal, concurrency, check, streamState } = options;
  return {
    runOptions: (...how) => lent().runOptions(...how),
    guard: () => agents().guard,
    // A run with a store of its own is independent of this one.
    ...(options.store === undefined ? present(countersOf(sharedWith(options))) : {}),
    executors: {
      agent: (node, step) => agents().agent(node, step),
      task: (node, step) => agents().task(node, step),
      ...options.executors,
    },
    phases: phasesOf?.({
      models,
      formerModels: opened.formerModels,
      supervisor: options.supervisor,
      recorded: options.store !== undefined,
    }),
    atEnd: () => models.finish(),
    keeper,
    listeners,
    signal,
    concurrency,
    check,
    maxSteps,
    untrusted,
    private: hidden,
    influence: opened.influence,
    heard: (label) => sharedWith(options)?.influence?.add(label),
    wrote: (path) => wrote.add(path),
    streamState,
    ...begun.start,
  };
}

function countersOf({ counts, saves }: Partial<Shared> = {}): Pick<Shared, 'counts' | 'saves'> {
  return { counts, saves };
}

/** The policies that apply to a run: its own and those of the run that started it. */
function policiesOf(options: RunOptions): readonly Policy[] {
  const around = sharedWith(options)?.policies ?? [];
  const all = [...around, ...(options.policy ?? [])];
  return all.length === 0 ? all : unitePolicies(all);
}

interface Agents {
  readonly one: Launch;
  readonly cwd: string;
  readonly own: OwnPlaces;
  readonly runOptions: RunOptionsOf;
  readonly policies: readonly Policy[];
  readonly rules: GuardRules;
  readonly opened: OpenedRun;
  readonly security: ReturnType<typeof securityAt>;
  readonly wrote: WrittenHere;
}

/** The executors for agents and tools, and the guard of tool calls from steps. */
function agentsOf({ one, cwd, own, runOptions, policies, rules, opened, security, wrote }: Agents): {
  readonly agent: Executor<AgentNode>;
  readonly task: Executor<TaskNode>;
  readonly guard: NodeGuard;
} {
  const { models, options } = one;
  const { settings, formerModels, influence } = opened;
  const { memory } = settings;
  const env = options.models?.env ?? process.env;
  const tools = createToolProvider({
    cwd,
    env,
    own,
    pins: options.toolPins,
    written: options.writtenFiles,
    policies,
    allowPrivateAddresses: options.allowPrivateAddresses ?? false,
    ...(isMock(options)
      ? {
          mock: {
            calls: () => models.scriptedCalls(),
            result: models.scriptedResult,
            isReal: (path: string) => models.steps.isReal(path),
          },
        }
      : {}),
  });
  const deps = {
    models,
    tools,
    cwd,
    rules,
    policies,
    files: options.writtenFiles,
    wrote,
    security,
    guards: options.guards ?? [],
    influence,
    ...present({ formerModels }),
  };
  const run = runTrustOf(deps);
  const agent = executorOf(
    { ...deps, runOptions, ...(memory === undefined ? {} : { memory: createSharedMemory(memory) }) },
    run,
  );
  const guard = nodeGuard({ models: deps, policies, cwd, run, security, guards: deps.guards });
  return {
    agent,
    guard,
    task: toolExecutor({ ...deps, env, ...(isMock(options) ? { scripted: models.steps } : {}) }, run),
  };
}
