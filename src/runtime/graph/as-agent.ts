import { SkeinError } from '../../base/errors.js';
import type { AgentLike, AgentResult, AgentRunOptions } from './agent-like.js';
import type { GraphMetrics } from './metrics.js';
import type { AsAgentOptions, GraphEvent, GraphResult, GraphRunOptions } from './result.js';
import type { GraphInputs } from './running.js';
import type { RunningSettings } from './settings.js';

/** A graph, as far as an agent is made of it. */
interface Taskable {
  readonly settings: RunningSettings;
  readonly metrics: GraphMetrics | null;
  run(inputs?: GraphInputs, options?: GraphRunOptions): Promise<GraphResult>;
  stream(inputs?: GraphInputs, options?: GraphRunOptions): AsyncGenerator<GraphEvent, GraphResult>;
}

/** A graph as an agent: the task goes to one of its inputs, the answer comes from one of its keys. */
export function graphAsAgent(graph: Taskable, options: AsAgentOptions = {}): AgentLike {
  const { taskParam = graph.settings.taskParam, answerKey } = options;
  const optionsOf = (given: AgentRunOptions = {}): GraphRunOptions => ({
    ...(answerKey === undefined ? {} : { answerKey }),
    ...(given.signal === undefined ? {} : { signal: given.signal }),
  });
  return {
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

function checkedTask(task: unknown): string {
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
