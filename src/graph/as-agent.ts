import { SkeinError } from '../base/errors.js';
import { PLANNED } from '../notations/graph/nodes/planned.js';
import type { Planned } from '../notations/graph/nodes/planned.js';
import type {
  AgentLike,
  AgentResult,
  AgentRunOptions,
  GraphMetrics,
  AsAgentOptions,
  GraphEvent,
  GraphResult,
  GraphRunOptions,
} from './result.js';
import type { GraphInputs, RunnableGraph } from './running.js';

/** A graph, as far as an agent is made of it. */
interface Taskable extends RunnableGraph {
  readonly metrics: GraphMetrics | null;
  run(inputs?: GraphInputs, options?: GraphRunOptions): Promise<GraphResult>;
  stream(inputs?: GraphInputs, options?: GraphRunOptions): AsyncGenerator<GraphEvent, GraphResult>;
}

/** A graph as an agent: the task goes to one of its inputs, the answer comes from one of its keys. */
export function graphAsAgent(graph: Taskable, options: AsAgentOptions = {}): AgentLike {
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
    async *stream(task, given) {
      yield* graph.stream({ [taskParam]: checkedTask(task) }, optionsOf(given));
    },
  };
}

/**
 * What makes the agent a part of the plan where it is a node. Invariants watch over a run of its own, so a graph that has some is run by itself.
 */
function plannedOf(
  { plan, bindings, settings }: Taskable,
  taskParam: string,
  answerKey: string | undefined,
): { readonly [PLANNED]?: Planned } {
  if (answerKey === undefined || settings.invariants.length > 0) return {};
  return { [PLANNED]: { kind: 'workflow', plan, bindings, taskParam, answerKey } };
}

/** @throws SkeinError `SKEIN_USAGE` for a task that is not a text */
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
