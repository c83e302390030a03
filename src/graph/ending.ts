import type { RunResult } from '../engine/run.js';
import { nodesById } from '../plan/nodes.js';
import type { Plan } from '../plan/plan.js';
import { errorText } from '../base/errors.js';
import { present } from '../base/json.js';
import { answerText } from './events.js';
import type { GraphMetrics, GraphEvent, GraphResult } from './result.js';
import { errorsIn } from '../runtime/invariants.js';
import type { RunLog } from './run-log.js';

interface Ended {
  readonly plan: Plan;
  /** Where a run may end, in the order of the nodes. */
  readonly exits: readonly string[];
  readonly answerKey: string | undefined;
  readonly result: RunResult;
  readonly log: RunLog;
}

/** Makes the result of a graph from the result of its run. Its events are built when first read. */
export function resultOf({ plan, exits, answerKey, result, log }: Ended): GraphResult {
  const { runId, outcome, state, error, census, questions, spent, saved } = result;
  const success = outcome === 'succeeded' || outcome === 'degraded';
  const { nodesRun } = log;
  const { from, to } = log.times ?? { from: 0, to: 0 };
  const metrics: GraphMetrics = { totalTimeMs: to - from, errorCount: errorsIn(census), nodeCount: nodesRun.length };
  const answer = answerOf({ plan, exits, answerKey }, state, nodesRun);
  let events: readonly GraphEvent[] | undefined;
  const told = (): readonly GraphEvent[] => {
    if (events !== undefined) return events;
    if (success) log.close(to, 'answer', { answer_key: answerKey ?? null, answer });
    const why = error === undefined ? null : errorText(error);
    const end = {
      success,
      outcome,
      error: why,
      code: error?.code ?? null,
      ...present({ hint: error?.hint }),
      metrics,
      nodes_run: nodesRun,
      spent,
    };
    log.close(to, 'workflow_end', { state, final_state: state, ...end });
    events = log.all();
    return events;
  };
  return {
    runId,
    state,
    success,
    outcome,
    error,
    get events() {
      return told();
    },
    answer,
    answerKey,
    get steps() {
      return told();
    },
    iterations: nodesRun.length,
    nodesRun,
    metrics,
    questions,
    census,
    spent,
    saved,
    ...present({ labels: result.labels }),
  };
}

/**
 * Returns the value of the answer key as text, else the output of an exit that ran, else that of the last node, else the empty text. Of
 * several exits, the last in the order of the graph counts, not the one that happened to end last.
 */
function answerOf(
  { plan, exits, answerKey }: Pick<Ended, 'plan' | 'exits' | 'answerKey'>,
  state: Readonly<Record<string, unknown>>,
  nodesRun: readonly string[],
): string {
  if (answerKey !== undefined && state[answerKey] !== undefined) return answerText(state[answerKey]);
  const exit = exits.findLast((id) => nodesRun.includes(id));
  const last = exit ?? nodesRun.findLast((id) => id !== plan.finally);
  if (last === undefined) return '';
  const key = nodesById(plan).get(last)?.output ?? last;
  return answerText(state[key]);
}
