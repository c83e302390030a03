import { checkOptions } from '../base/options.js';
import { SkeinError } from '../base/errors.js';
import { PLANNED, type Planned } from '../notations/graph/nodes/planned.js';
import type {
  AgentLike,
  AgentResult,
  AgentRunOptions,
  GraphMetrics,
  AsAgentOptions,
  GraphResult,
  GraphRunOptions,
} from './result.js';
import { streamMeasured } from './on-demand.js';
import type { GraphInputs, RunnableGraph } from './running.js';

interface Taskable extends RunnableGraph {
  metrics: GraphMetrics | null;
  run(inputs?: GraphInputs, options?: GraphRunOptions): Promise<GraphResult>;
}

/** Returns a graph as an agent: the task goes to one of its inputs, the answer comes from one of its state keys. */
export function graphAsAgent(graph: Taskable, options: AsAgentOptions = {}): AgentLike {
  checkOptions<AsAgentOptions>('asAgent', options, { taskParam: 'text', answerKey: 'text' });
  const { taskParam = graph.settings.taskParam, answerKey } = options;
  const optionsOf = (given: AgentRunOptions = {}): GraphRunOptions => ({
    ...given,
    ...(answerKey === undefined ? {} : { answerKey }),
  });
  return {
    ...plannedOf(graph, taskParam, answerKey ?? graph.answerKey),
    get metrics() {
      return graph.metrics;
    },
    async run(task, given) {
      return agentResult(await graph.run({ [taskParam]: checkedTask(task) }, optionsOf(given)));
    },
    stream(task, given) {
      const inputs = (): GraphInputs => ({ [taskParam]: checkedTask(task) });
      return streamMeasured({ graph: () => graph, inputs, options: optionsOf(given) });
    },
  };
}

/** Returns what makes the agent part of the surrounding plan. A graph with invariants, which watch over one run, runs separately. */
function plannedOf(
  { plan, bindings, settings }: Taskable,
  taskParam: string,
  answerKey: string | undefined,
): { readonly [PLANNED]?: Planned } {
  if (answerKey === undefined || settings.invariants.length > 0) return {};
  return { [PLANNED]: { kind: 'workflow', plan, bindings, taskParam, answerKey } };
}

/** @throws SkeinError `SKEIN_USAGE` if the task is not a string */
export function checkedTask(task: unknown): string {
  if (typeof task === 'string') return task;
  throw new SkeinError('SKEIN_USAGE', `the task must be a string, not ${task === null ? 'null' : typeof task}`);
}

function agentResult(result: GraphResult): AgentResult {
  const { answer, success, error, iterations, metrics } = result;
  return {
    answer,
    success,
    error,
    get steps() {
      return result.events;
    },
    iterations,
    metrics,
  };
}
