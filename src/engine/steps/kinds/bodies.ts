import { SkeinError, type ErrorData } from '../../../base/errors.js';
import { questionIn } from '../../durable/open-question.js';
import type { Executor, Result } from '../../ports/executor.js';
import { runInside } from '../inside.js';
import type { Body, Step } from '../step.js';
import { callBody, noTicket } from './call.js';
import type { NodeKind } from '../../../plan/plan.js';
import { askBody } from './ask.js';
import { loopBody } from './loop.js';
import { mapBody } from './map.js';
import { taskBody } from './task.js';
import { waitBody } from './wait.js';

/** The body of node kinds whose executor is registered from outside. */
export const executorBody: Body = { start: startExecutor, take: noTicket };

function startExecutor(step: Step): void {
  const { node } = step.compiled;
  const executor = step.run.executors[node.kind] as Executor | undefined;
  if (executor === undefined) {
    throw new SkeinError('SKEIN_NO_EXECUTOR', `nothing here can run '${node.id}', a node of kind '${node.kind}'`, {
      hint: 'run it through the functions of skein, which know agents, or pass executors',
    });
  }
  runInside(
    step,
    (context) => executor(node, context),
    (ended) => {
      if (ended.ok) finish(step, ended.value);
      else if (ended.short !== undefined) step.runOut(ended.error, ended.short);
      else finish(step, { type: 'failed', error: ended.error });
    },
  );
}

function finish(step: Step, result: Result): void {
  if (result.type === 'done') step.succeed(result.output, result.goto, result.writes);
  else if (result.type === 'failed' && result.error.code === 'SKEIN_QUESTION')
    step.pause(questionIn(result.error), result.error.message);
  else if (result.type === 'failed') step.fail(result.error);
  else if (result.type === 'out_of_budget') step.runOut(result.error, 'at once', result.writes);
  else if (result.type === 'paused') step.pause(result.question, result.reason);
  else step.skip(result.reason);
}

/** Its reads, and its output, are the same whenever the run is repeated. */
function startSet(step: Step): void {
  const { node } = step.compiled;
  if (node.kind === 'set') step.succeed(step.renderJson({ object: node.values }));
}

function startEnd(step: Step): void {
  const { node } = step.compiled;
  if (node.kind !== 'end') return;
  const reason = node.reason === undefined ? '' : step.render(node.reason).trim();
  const error = node.status === 'failed' ? endedAs(reason, node.id) : undefined;
  step.endPlan({ path: step.path, error, out: node.out ?? 0 }, { reason: reason === '' ? undefined : reason });
}

/** The end is intended, so another attempt would not change it. */
function endedAs(reason: string, id: string): ErrorData {
  const message = reason === '' ? `the workflow ended at '${id}'` : reason;
  return { code: 'SKEIN_ENDED', message, retryable: false };
}

const BODIES: Readonly<Record<NodeKind, Body>> = {
  // A task without a function is a tool call, which is made outside the engine.
  task: {
    ...taskBody,
    start: (step) => (step.compiled.body === undefined ? startExecutor(step) : taskBody.start(step)),
  },
  agent: executorBody,
  call: callBody,
  map: mapBody,
  loop: loopBody,
  ask: askBody,
  wait: waitBody,
  // Does nothing: the node is a place for routes.
  pass: { start: (step) => step.succeed(undefined), take: noTicket },
  end: { start: startEnd, take: noTicket },
  set: { start: startSet, take: noTicket },
};

export function bodyOf(kind: NodeKind): Body {
  return BODIES[kind];
}
