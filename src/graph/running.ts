import type { OptionForms } from '../base/options.js';
import { systemClock } from '../base/clock.js';
import { SkeinError, fromErrorData, toErrorData, type ErrorData } from '../base/errors.js';
import { systemIds } from '../base/ids.js';
import type { Source } from '../base/event-stream.js';
import type { RunHandle, RunResult } from '../engine/run.js';
import type { StepCheck } from '../engine/services.js';
import { emptyCensus } from '../events/census.js';
import { NO_SPENDING } from '../events/spending.js';
import type { Bindings, Plan } from '../plan/plan.js';
import { mayHaveKey } from '../plan/references.js';
import { checkInputs, checkRunOptions } from '../runtime/check-run.js';
import { launch, openModels, type Launch } from '../runtime/launch.js';
import { backendOf } from '../runtime/backends/recorded.js';
import { preparedPlan } from '../runtime/checked-plan.js';
import { resultOf } from './ending.js';
import { invariantCheck, type Invariant, type InvariantPolicy } from '../runtime/invariants.js';
import type { GraphEvent, GraphResult, GraphRunOptions } from './result.js';
import { RunLog } from './run-log.js';

export interface RunningSettings {
  readonly invariants: readonly Invariant[];
  /** For invariants without a policy of their own. */
  readonly policy: InvariantPolicy;
  /** The input that receives the task if the graph is used as an agent. */
  readonly taskParam: string;
}

export interface RunnableGraph {
  readonly plan: Plan;
  readonly bindings: Bindings;
  /** Where a run may end, in the order of the nodes. */
  readonly exits: readonly string[];
  readonly answerKey: string | undefined;
  readonly settings: RunningSettings;
}

export type GraphInputs = Readonly<Record<string, unknown>> | undefined;

interface Started {
  readonly log: RunLog;
  readonly handle: RunHandle | undefined;
  readonly result: Promise<GraphResult>;
}

/**
 * Runs a graph. Failures inside nodes and invalid inputs are in the result.
 *
 * @throws SkeinError `SKEIN_USAGE` for inputs that are not an object; the store's errors for a run that is recorded, resumed or forked
 */
export async function runGraph(
  graph: RunnableGraph,
  inputs: GraphInputs,
  options: GraphRunOptions = {},
): Promise<GraphResult> {
  return await start(graph, inputs, options).result;
}

/** @throws SkeinError the reason why the run failed, paused or was cancelled */
export async function runGraphOrThrow(
  graph: RunnableGraph,
  inputs: GraphInputs,
  options?: GraphRunOptions,
): Promise<Record<string, unknown>> {
  const { success, state, error, outcome } = await runGraph(graph, inputs, options);
  if (success) return state;
  if (error !== undefined) throw fromErrorData(error);
  throw new SkeinError('SKEIN_QUESTION', `the run is ${outcome}: it waits for an answer`);
}

/** A run whose events are read. Its parts are made when the first event is requested. */
export interface Streamed<G extends RunnableGraph, R> {
  readonly graph: () => G;
  readonly inputs: () => GraphInputs;
  readonly options?: GraphRunOptions | undefined;
  readonly ended: (result: GraphResult, graph: G) => R;
}

/** Starts a run, and returns its events; when their reader leaves, the run is cancelled. */
export function eventsOf<G extends RunnableGraph, R>(streamed: Streamed<G, R>): Source<GraphEvent, R> {
  const graph = streamed.graph();
  const { log, handle, result } = start(graph, streamed.inputs(), streamed.options ?? {});
  let given = 0;
  let isOver = false;
  let all = (): readonly GraphEvent[] => log.all();
  const over = (last?: GraphResult): void => {
    isOver = true;
    if (last !== undefined) all = () => last.events;
    log.wake();
  };
  result.then(over, () => {
    over();
  });
  return {
    take: () => {
      const event = all()[given];
      if (event !== undefined) given += 1;
      return event;
    },
    isOver: () => isOver,
    more: () => log.more(),
    ended: async () => streamed.ended(await result, graph),
    left: () => handle?.cancel('its events are no longer read'),
  };
}

const OWN_OPTIONS: OptionForms<Pick<GraphRunOptions, 'answerKey' | 'events'>> = {
  answerKey: 'text',
  events: 'true or false',
};

function start(graph: RunnableGraph, given: GraphInputs, options: GraphRunOptions): Started {
  const inputs = checkedInputs(given);
  checkRunOptions(options, OWN_OPTIONS, ['inputs']);
  const { answerKey = graph.answerKey, events = true, ...rest } = options;
  if (!events && options.streamState === true) {
    throw new SkeinError('SKEIN_USAGE', 'streamState arrives as events, and events: false turns events off', {
      hint: 'leave one of the two out',
    });
  }
  if (options.answerKey !== undefined && !mayHaveKey(graph.plan, options.answerKey)) {
    throw new SkeinError('SKEIN_USAGE', `the answer is ${JSON.stringify(options.answerKey)}, which nothing writes`, {
      hint: 'name what a node returns',
    });
  }
  const { plan, exits } = graph;
  const runId = options.resume ?? options.runId ?? systemIds.next();
  const told = { plan, inputs };
  const log = new RunLog(runId, told, events);
  // The state of a thread is read first, so inputs can be refused late.
  const orRefused = (error: unknown): GraphResult => {
    if (!SkeinError.isInstance(error) || !REFUSED_INPUTS.has(error.code)) throw error;
    return finish(refused(graph, log, runId, toErrorData(error)));
  };
  const finish = (result: RunResult): GraphResult => resultOf({ plan, exits, answerKey, result, log });
  try {
    const handle = launchGraph(graph, log, {
      options: { ...rest, inputs, ...(options.resume === undefined ? { runId } : {}) },
      begins: (all) => (told.inputs = all),
    });
    return { log, handle, result: handle.result.then(finish, orRefused) };
  } catch (error) {
    return { log, handle: undefined, result: Promise.resolve(orRefused(error)) };
  }
}

/** Codes for missing or invalid inputs, and for inputs that a store can't keep. */
const REFUSED_INPUTS: ReadonlySet<string> = new Set(['SKEIN_INPUT', 'SKEIN_NOT_JSON']);

/** @throws SkeinError as `run` of skein does */
function launchGraph(
  { plan, bindings, settings }: RunnableGraph,
  log: RunLog,
  { options, begins }: Pick<Launch, 'options' | 'begins'>,
): RunHandle {
  const { invariants, policy } = settings;
  const check = bothOf(invariantCheck({ invariants, policy, violated: log.violated }), options.check);
  return launch({
    compiled: preparedPlan({ plan, bindings }),
    models: openModels(options),
    backend: backendOf(options.store),
    begins,
    keeper: log,
    options: {
      ...options,
      ...(check === undefined ? {} : { check }),
    },
  });
}

function bothOf(ours: StepCheck | undefined, theirs: StepCheck | undefined): StepCheck | undefined {
  if (ours === undefined || theirs === undefined) return ours ?? theirs;
  return (view) => ours(view) ?? theirs(view);
}

/** Nothing ran: the events are those of a run that ends where it begins. */
function refused({ plan }: RunnableGraph, log: RunLog, runId: string, error: ErrorData): RunResult {
  const census = { ...emptyCensus(), notRun: plan.nodes.length };
  const event = { runId, at: systemClock.now(), path: '', parent: '' };
  log.told({ ...event, seq: 0, type: 'run.started', plan: plan.name, nodes: plan.nodes.length });
  log.told({ ...event, seq: 1, type: 'run.ended', outcome: 'failed', census, error, spent: NO_SPENDING });
  const nothing = { steps: [], questions: [], reused: 0, ran: 0, spent: NO_SPENDING, saved: NO_SPENDING };
  return { runId, outcome: 'failed', state: {}, error, census, ...nothing };
}

function checkedInputs(inputs: unknown): Readonly<Record<string, unknown>> {
  checkInputs(inputs, "run({ query: 'looms' })");
  return (inputs ?? {}) as Readonly<Record<string, unknown>>;
}
