import { SkeinError, fromErrorData } from './base/errors.js';
import { Queue } from './base/collections.js';
import { streamOf } from './base/event-stream.js';
import type { RunHandle, RunResult } from './engine/run.js';
import type { Listener, SkeinEvent } from './events/event.js';
import { checkRunOptions } from './runtime/check-run.js';
import { start } from './runtime/on-demand.js';
import type { RunOptions, Runnable } from './runtime/options.js';
import { definitionPlaces } from './runtime/own-places.js';
import { preparedPlan } from './runtime/checked-plan.js';

export type { RunHandle, RunResult, StartOptions } from './engine/run.js';
export type { CustomGuard, GuardCall, GuardVerdict } from './guard/custom-guard.js';
export type { LostCall, Probed } from './plan/probe.js';
export type { Security, SecurityInput } from './plan/security.js';
export type { Workflow } from './plan/workflow.js';
export type { PriceTable } from './budget/prices.js';
export type { WrittenFiles } from './agent/run-trust.js';
export type { ToolPins } from './agent/tools/provider-options.js';
export type { Fork, RunOptions, Runnable } from './runtime/options.js';
export { changeBudget, readBudget } from './runtime/recorded-limits.js';
export { forkThread, updateThread } from './runtime/threads/edit-thread.js';
export type { ThreadChange, ThreadFork } from './runtime/threads/edit-thread.js';
export type { ThreadOptions } from './runtime/threads/open-turn.js';
export { runWorkflow, startRun } from './runtime/on-demand.js';
export type { WorkflowResult, WorkflowRun, WorkflowRunOptions } from './runtime/workflow-run.js';

/**
 * Runs a workflow. A failure inside a step never throws: the result reports it.
 *
 * @throws SkeinError `SKEIN_DEFINITION` if the plan has problems (all are in `details.problems`), `SKEIN_INPUT` for invalid inputs,
 *   `SKEIN_USAGE` for unknown options. What concerns a record rejects `result`: `SKEIN_STORE`, `SKEIN_NO_RUN`, `SKEIN_LEASE`,
 *   `SKEIN_JOURNAL`, `SKEIN_NOT_JSON`.
 * @example
 * const { result } = run(definePlan({ name: 'hello', nodes: [{ id: 'greet', kind: 'task', run: () => ({ text: 'hi' }) }] }));
 * console.log((await result).state);
 */
export function run(workflow: Runnable, options: RunOptions = {}): RunHandle {
  checkRunOptions(options);
  return start({ compiled: preparedPlan(workflow), places: definitionPlaces(workflow) }, options);
}

/**
 * Runs a workflow and returns its final state.
 *
 * @throws SkeinError the reason why the run failed, paused or was cancelled.
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
 * Runs a workflow and yields its events as they happen. The generator returns the result. Leaving the loop cancels the run.
 *
 * @throws SkeinError as {@link run} does, when the first event is read
 * @example
 * for await (const event of streamRun(workflow)) console.log(event.type, event.path);
 */
export function streamRun(workflow: Runnable, options: RunOptions = {}): AsyncGenerator<SkeinEvent, RunResult> {
  return streamOf(() => {
    const events = new Queue<SkeinEvent>();
    let wake: (() => void) | undefined;
    const listener: Listener = (event) => {
      events.put(event);
      wake?.();
    };
    const handle = run(workflow, { ...options, listeners: [...(options.listeners ?? []), listener] });
    let isOver = false;
    const over = (): void => {
      isOver = true;
      wake?.();
    };
    handle.result.then(over, over);
    return {
      take: () => events.take(),
      isOver: () => isOver,
      more: () =>
        new Promise((resolve) => {
          wake = resolve;
        }),
      ended: () => handle.result,
      left: () => {
        handle.cancel('its events are no longer read');
      },
    };
  });
}
