import { agentExecutor } from './agent/executor.js';
import { createSharedMemory } from './agent/memory.js';
import type { ModelRegistry, ModelRegistryOptions } from './agent/models/registry.js';
import { createModelRegistry } from './agent/models/registry.js';
import { createToolProvider } from './agent/tools/provider.js';
import { SkeinError, fromErrorData } from './base/errors.js';
import { systemIds } from './base/ids.js';
import { formatProblem, hasErrors } from './base/problem.js';
import type { AnswerQuestion } from './engine/memory-durable.js';
import { MemoryDurable } from './engine/memory-durable.js';
import type { Executors } from './engine/ports/executor.js';
import type { RunHandle, RunResult } from './engine/run.js';
import { startRun } from './engine/run.js';
import type { Listener, SkeinEvent } from './events/event.js';
import { checkPlan } from './plan/checks.js';
import type { Bindings, Plan } from './plan/plan.js';

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
  const plan = checked(workflow);
  const runId = options.runId ?? systemIds.next();
  const cwd = options.cwd ?? process.cwd();
  const env = options.models?.env ?? process.env;
  const models = createModelRegistry({ cwd, ...options.models, env });
  const tools = createToolProvider({ cwd, env, allowPrivateAddresses: options.allowPrivateAddresses ?? false });
  const memory = options.memory === undefined ? undefined : createSharedMemory(options.memory);
  const agent = agentExecutor({ models, tools, ...(memory === undefined ? {} : { memory }) });
  return startRun(plan, {
    runId,
    durable: new MemoryDurable(runId, { answer: answerBy(models, options.answer) }),
    bindings: workflow.bindings ?? {},
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
  let wake: () => void = () => undefined;
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

function checked(workflow: Runnable): Plan {
  const { plan } = workflow;
  const problems = plan === undefined ? [] : checkPlan(plan, workflow.bindings ?? {});
  if (plan !== undefined && !hasErrors(problems)) return plan;
  const errors = problems.filter((problem) => problem.severity === 'error');
  const message =
    errors.length === 0 ? 'the workflow has no plan: its definition has errors' : errors.map(formatProblem).join('\n');
  throw new SkeinError('SKEIN_DEFINITION', message, { details: JSON.parse(JSON.stringify({ problems })) });
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
