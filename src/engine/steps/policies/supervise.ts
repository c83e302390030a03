import { toErrorData } from '../../../base/errors.js';
import { asRecorded } from '../../../base/json.js';
import { renderTemplate } from '../../../lang/template.js';
import { instructionOf } from '../../../plan/nodes.js';
import type { PlanNode } from '../../../plan/plan.js';
import { supervisorKey } from '../../../plan/supervision.js';
import type { Judgement, SupervisedAttempt, SupervisedTask } from '../../ports/supervision.js';
import type { Bound, Given, PolicedStep, Policy, Supervised } from './policy.js';

/** A node whose work is judged before it counts: `supervise`. The phases are behind a port (`ports/supervision.ts`). */
export function supervise(node: PlanNode, bound: Bound): Policy | undefined {
  const { id, supervise: supervision } = node;
  if (supervision === undefined) return undefined;
  const supervisor = supervision.supervisor === 'code' ? bound.supervisor(supervisorKey(id)) : undefined;
  const instruction = instructionOf(node) ?? [];
  return {
    begin(step, go) {
      if (step.supervised !== undefined) {
        step.supervised.once = false;
        go();
        return;
      }
      const goal = renderTemplate(instruction, step.reader(), step.labelled, step.run);
      const task: SupervisedTask = { node, supervise: supervision, goal, supervisor };
      step.consult(
        (phases, context) => phases.commit(task, context),
        (commitment) => {
          step.supervised = { task, commitment, corrections: 0, correction: undefined, corrected: 0, once: false };
          go();
        },
      );
    },
    gave(step, given, out) {
      const { supervised } = step;
      if (supervised === undefined) return;
      const attempt = attemptOf(step, supervised, given);
      if (attempt === undefined) return;
      step.consult(
        (phases, context) => phases.judge(attempt, context),
        (judgement) => follow(step, supervised, judgement, out),
      );
    },
  };
}

function follow(step: PolicedStep, supervised: Supervised, judgement: Judgement, out: () => void): void {
  switch (judgement.type) {
    case 'accepted':
      out();
      break;
    case 'corrected':
      supervised.corrections += 1;
      supervised.correction = judgement.correction;
      supervised.corrected = step.attempt;
      step.tryAgain();
      break;
    case 'ended':
      step.failForGood(judgement.error);
      break;
    case 'paused':
      step.pause(judgement.question, judgement.reason);
      break;
  }
}

/** The attempt to judge; undefined, with the step failed, if its output is not JSON. */
function attemptOf(step: PolicedStep, supervised: Supervised, { output }: Given): SupervisedAttempt | undefined {
  const { task, commitment, corrections, correction, once } = supervised;
  const { node } = task;
  try {
    const json = output === undefined ? null : asRecorded(output);
    return { ...task, commitment, output: json, corrections, correction, once: once || node.effect === 'once' };
  } catch (error) {
    const message = `what '${node.id}' gave is not JSON, so that it can't be judged: ${toErrorData(error).message}`;
    step.failForGood({ code: 'SKEIN_NOT_JSON', message, hint: 'return plain JSON data' });
    return undefined;
  }
}
