import { SkeinError } from '../base/errors.js';
import type { CompiledPlan } from '../engine/graph/compile.js';
import { firstState } from '../engine/state/inputs.js';
import type { Plan } from '../plan/plan.js';
import { securityGiven } from '../plan/security.js';
import { checkGiven } from './check-run.js';
import { checkRuleOfTwo } from './checked-plan.js';
import type { RunOptions } from './options.js';
import { checkShared, firstChanges, type LimitChanges } from './run-limits.js';

/** @throws SkeinError `SKEIN_INPUT`, `SKEIN_DEFINITION` */
export function checkLaunch(plan: Plan, options: RunOptions): void {
  checkGiven(plan, options);
  if (options.resume === undefined) checkRuleOfTwo(plan, securityGiven(options.security));
}

/**
 * Checks a run that is not recorded, and returns the changes of its limits.
 *
 * @throws SkeinError `SKEIN_USAGE`
 */
export function checkUnrecorded(plan: Plan, options: RunOptions): LimitChanges {
  checkNothingRecorded(options);
  const changes = firstChanges(plan, options.budget);
  checkShared({ plan, changes, models: options.models });
  return changes;
}

/** Without its store, a continued run would repeat everything. */
function checkNothingRecorded({ resume, fork, thread }: RunOptions): void {
  if (resume === undefined && fork === undefined && thread === undefined) return;
  const option = resume !== undefined ? 'resume' : fork !== undefined ? 'fork' : 'thread';
  const what = option === 'thread' ? 'its turns are' : 'the run is';
  throw new SkeinError('SKEIN_USAGE', `${option} needs the store in which ${what} recorded`, {
    hint: `run(workflow, { store, ${option}: ... })`,
  });
}

/**
 * Makes all checks of a run that need no record: those that a start makes, for a run that starts later.
 *
 * @throws SkeinError `SKEIN_INPUT`, `SKEIN_DEFINITION`, `SKEIN_USAGE`
 */
export function checkStart(compiled: CompiledPlan, options: RunOptions): void {
  const { plan } = compiled;
  const { store, resume, fork, thread, inputs = {}, budget } = options;
  checkLaunch(plan, options);
  if (store === undefined) checkUnrecorded(plan, options);
  // What a run was recorded with, or a conversation holds, is only known once that is read.
  if (resume !== undefined || fork !== undefined || thread !== undefined) return;
  firstChanges(plan, budget);
  firstState(compiled, inputs);
}
