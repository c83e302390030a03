import { agentExecutor } from './agent/executor.js';
import { createSharedMemory } from './agent/memory.js';
import type { ModelRegistry, ModelRegistryOptions } from './agent/models/registry.js';
import { createModelRegistry } from './agent/models/registry.js';
import { createToolProvider } from './agent/tools/provider.js';
import type { RunFolder } from './audit/run-folder.js';
import { openRunFolder } from './audit/run-folder.js';
import { findSecrets } from './audit/secrets.js';
import { SkeinError, fromErrorData, toErrorData } from './base/errors.js';
import type { Json } from './base/json.js';
import { systemIds } from './base/ids.js';
import type { Problem } from './base/problem.js';
import { formatProblem, hasErrors } from './base/problem.js';
import { compile } from './engine/compile.js';
import type { CompiledPlan } from './engine/compile.js';
import { inputVersion } from './engine/inputs.js';
import type { AnswerQuestion } from './engine/memory-durable.js';
import { MemoryDurable } from './engine/memory-durable.js';
import type { Executors } from './engine/ports/executor.js';
import type { RunHandle, RunResult } from './engine/run.js';
import { startRun } from './engine/run.js';
import type { Listener, SkeinEvent } from './events/event.js';
import { checkPlan } from './plan/checks.js';
import type { AgentNode, Bindings, Plan, PlanNode } from './plan/plan.js';
import type { Workflow } from './plan/workflow.js';

export { formatOutput } from './audit/final-output.js';
export { describeProviders } from './agent/models/describe-providers.js';
export type { ProviderReport } from './agent/models/describe-providers.js';
export { BUILT_IN_TOOLS, READ_ONLY_TOOLS } from './agent/tools/names.js';

/** How a workflow is run. */
export interface RunOptions {
  /** Input values by name. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** Where models come from. Default: the environment of the process. */
  readonly models?: Partial<ModelRegistryOptions>;
  /** Working directory of tools. Default: that of the process. */
  readonly cwd?: string;
  /** Lets the `fetch` tool reach private and loopback addresses. */
  readonly allowPrivateAddresses?: boolean;
  /** First text of the run's shared memory; absent: there is none. */
  readonly memory?: string;
  /** Answers questions of agents. Absent: a question pauses the run. */
  readonly answer?: AnswerQuestion;
  readonly runId?: string;
  readonly listeners?: readonly Listener[];
  readonly signal?: AbortSignal;
  /** Leaf steps at once. */
  readonly concurrency?: number;
  /** Further executors, by node kind. */
  readonly executors?: Executors;
}

/** What can be run: a plan with its functions. {@link definePlan} and the loaders of notations give such an object. */
export interface Runnable {
  readonly plan: Plan | undefined;
  readonly bindings?: Bindings;
  /** What was found when it was loaded; told when there is no plan. */
  readonly problems?: readonly Problem[];
}

/**
 * Runs a workflow. What happens inside of steps never throws: it is in the result.
 *
 * @throws SkeinError `SKEIN_DEFINITION` when the plan has problems (all are in `details.problems`), `SKEIN_INPUT` for its inputs.
 * @example
 * const { result } = run(definePlan({ name: 'hello', nodes: [{ id: 'greet', kind: 'task', run: () => ({ text: 'hi' }) }] }));
 * console.log((await result).state);
 */
export function run(workflow: Runnable, options: RunOptions = {}): RunHandle {
  return launch(checked(workflow), workflow.bindings ?? {}, openModels(options), options);
}

function noop(): void {
  // Nobody waits yet.
}

function openModels(options: RunOptions): ModelRegistry {
  const cwd = options.cwd ?? process.cwd();
  return createModelRegistry({ cwd, ...options.models, env: options.models?.env ?? process.env });
}

function launch(plan: Plan | CompiledPlan, bindings: Bindings, models: ModelRegistry, options: RunOptions): RunHandle {
  const runId = options.runId ?? systemIds.next();
  const cwd = options.cwd ?? process.cwd();
  const env = options.models?.env ?? process.env;
  const tools = createToolProvider({ cwd, env, allowPrivateAddresses: options.allowPrivateAddresses ?? false });
  const memory = options.memory === undefined ? undefined : createSharedMemory(options.memory);
  const agent = agentExecutor({ models, tools, ...(memory === undefined ? {} : { memory }) });
  return startRun(plan, {
    runId,
    durable: new MemoryDurable(runId, { answer: answerBy(models, options.answer) }),
    bindings,
    executors: { agent, ...options.executors },
    atEnd: () => models.finish(),
    ...pick(options),
  });
}

/**
 * Runs a workflow and gives its final state.
 *
 * @throws SkeinError what made the run fail, pause or be cancelled.
 * @example
 * const state = await runOrThrow(workflow, { inputs: { topic: 'looms' } });
 */
export async function runOrThrow(workflow: Runnable, options: RunOptions = {}): Promise<Record<string, unknown>> {
  const result = await run(workflow, options).result;
  if (result.outcome === 'succeeded' || result.outcome === 'degraded') return result.state;
  if (result.error !== undefined) throw fromErrorData(result.error);
  throw new SkeinError('SKEIN_QUESTION', `the run is ${result.outcome}: it waits for an answer`);
}

/**
 * Runs a workflow and gives its events as they happen; the result is what the generator returns. Leaving the loop cancels the run.
 *
 * @example
 * for await (const event of streamRun(workflow)) console.log(event.type, event.path);
 */
export async function* streamRun(workflow: Runnable, options: RunOptions = {}): AsyncGenerator<SkeinEvent, RunResult> {
  const events: SkeinEvent[] = [];
  let wake: () => void = noop;
  const listener: Listener = (event) => {
    events.push(event);
    wake();
  };
  const handle = run(workflow, { ...options, listeners: [...(options.listeners ?? []), listener] });
  try {
    for (;;) {
      const event = events.shift();
      if (event === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      yield event;
      if (event.type === 'run.ended') return await handle.result;
    }
  } finally {
    handle.cancel('nobody reads its events any more');
  }
}

/** How a workflow that was loaded from a file is run. */
export interface WorkflowRunOptions extends RunOptions {
  /** The folder of run folders, absolute, and how many stay. Absent: as the workflow says. `false`: no run folder. */
  readonly audit?: { readonly dir: string; readonly keep?: number } | false;
  /** Record what models and tools say as it happens. Absent: as the workflow says. */
  readonly streaming?: boolean;
}

/** What the run of a workflow gives back. */
export interface WorkflowResult extends RunResult {
  /** The run folder, when there is one. */
  readonly auditFolder: string | undefined;
  /** What could not be written into it. */
  readonly auditFailures: readonly string[];
}

/** A workflow that was started. */
export interface WorkflowRun extends Omit<RunHandle, 'result'> {
  readonly auditFolder: string | undefined;
  /** Settles when the run folder is complete. */
  readonly result: Promise<WorkflowResult>;
}

/**
 * Runs a workflow with its settings: shared memory and the run folder. Whatever can be known before the first step is checked
 * before anything starts or is written: the definition, the inputs, that every agent has a model.
 *
 * @throws SkeinError `SKEIN_DEFINITION`, `SKEIN_INPUT`; `SKEIN_NO_MODEL`, `SKEIN_NO_KEY`, `SKEIN_MODEL_UNKNOWN` for an agent without a usable
 *   model; `SKEIN_FILE` for a script or recording; `SKEIN_AUDIT` when the run folder can't be made.
 * @example
 * const { result } = await runWorkflow(await loadDag('review.yaml', { cwd: process.cwd() }), { inputs: { diff } });
 * console.log((await result).auditFolder);
 */
export async function runWorkflow(workflow: Workflow, options: WorkflowRunOptions = {}): Promise<WorkflowRun> {
  const plan = checked(workflow);
  const compiled = compile(plan, workflow.bindings);
  const inputs = options.inputs ?? {};
  inputVersion(compiled, inputs);
  const models = openModels(options);
  await checkModels(plan, models, options.models?.override !== undefined);
  options.signal?.throwIfAborted();
  const runId = options.runId ?? systemIds.next();
  const { memory } = workflow.settings;
  const folder = await openAudit(workflow, plan, { ...options, runId, inputs });
  const handle = launch(compiled, workflow.bindings, models, {
    ...(memory === undefined ? {} : { memory: memory.initial }),
    ...options,
    runId,
    listeners: [...(folder === undefined ? [] : [folder.listen]), ...(options.listeners ?? [])],
  });
  const result = handle.result.then(async (ended) => ({
    ...ended,
    auditFolder: folder?.path,
    auditFailures: (await folder?.close(ended)) ?? [],
  }));
  return { runId, auditFolder: folder?.path, result, cancel: (reason) => handle.cancel(reason) };
}

/** The run folder, if there is to be one. */
async function openAudit(
  workflow: Workflow,
  plan: Plan,
  options: WorkflowRunOptions & { readonly runId: string; readonly inputs: Readonly<Record<string, unknown>> },
): Promise<RunFolder | undefined> {
  const { runId, inputs, streaming } = options;
  const asked = workflow.settings.audit;
  const audit = options.audit ?? asked;
  if (audit === undefined || audit === false) return undefined;
  return await openRunFolder({
    workflow,
    runId,
    dir: audit.dir,
    keep: audit.keep ?? asked?.keep ?? 0,
    inputs,
    secrets: findSecrets({ env: options.models?.env ?? process.env, plan, inputs }),
    ...(streaming === undefined ? {} : { streaming }),
  });
}

/** Every agent must have a model that can be named; none is loaded or called. A model that replaces all is no fault of a place in a file. */
async function checkModels(plan: Plan, models: ModelRegistry, replaced: boolean): Promise<void> {
  const problems = new Map<string, Problem>();
  let first: SkeinError | undefined;
  for (const { node, path } of agentsOf(plan.nodes, '')) {
    try {
      await models.resolve(node.agent, { path, agent: node.agent.name });
    } catch (error) {
      if (!SkeinError.isInstance(error) || error.details !== undefined) throw error;
      first ??= error;
      const { code, message, hint } = error;
      const known = problems.get(message);
      if (known !== undefined) continue;
      const at = node.at === undefined || replaced ? {} : { at: node.at };
      problems.set(message, { code, severity: 'error', message, ...at, ...(hint === undefined ? {} : { hint }) });
    }
  }
  if (first === undefined) return;
  const details = asJson({ problems: [...problems.values()] });
  throw new SkeinError(first.code, [...problems.keys()].join('; '), { ...toErrorData(first), details });
}

function* agentsOf(nodes: readonly PlanNode[], prefix: string): Generator<{ node: AgentNode; path: string }> {
  for (const node of nodes) {
    const path = `${prefix}${node.id}`;
    if (node.kind === 'agent') yield { node, path };
    else if (node.kind === 'call' || node.kind === 'map' || node.kind === 'loop')
      yield* agentsOf(node.plan.nodes, `${path}/`);
  }
}

function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

function checked(workflow: Runnable): Plan {
  const { plan } = workflow;
  const problems = plan === undefined ? (workflow.problems ?? []) : checkPlan(plan, workflow.bindings ?? {});
  if (plan !== undefined && !hasErrors(problems)) return plan;
  const errors = problems.filter((problem) => problem.severity === 'error');
  const message =
    errors.length === 0 ? 'the workflow has no plan: its definition has errors' : errors.map(formatProblem).join('\n');
  throw new SkeinError('SKEIN_DEFINITION', message, { details: asJson({ problems }) });
}

/** Scripts may answer for the person. */
function answerBy(models: ModelRegistry, answer: AnswerQuestion | undefined): AnswerQuestion {
  return async (question, address, signal) => {
    const scripted = await models.scriptAnswer(question.text);
    if (scripted !== undefined) return scripted;
    if (answer !== undefined) return await answer(question, address, signal);
    throw new SkeinError('SKEIN_QUESTION', `nobody is here to answer: ${question.text}`, {
      hint: 'run it on a terminal, or pass an answer function',
    });
  };
}

function pick(options: RunOptions): Pick<RunOptions, 'inputs' | 'listeners' | 'signal' | 'concurrency'> {
  const { inputs, listeners, signal, concurrency } = options;
  return {
    ...(inputs === undefined ? {} : { inputs }),
    ...(listeners === undefined ? {} : { listeners }),
    ...(signal === undefined ? {} : { signal }),
    ...(concurrency === undefined ? {} : { concurrency }),
  };
}
