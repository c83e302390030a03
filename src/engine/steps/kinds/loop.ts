import { roundAddress } from '../../../base/address.js';
import { asBoolean, evaluateConditions } from '../../../lang/condition.js';
import type { LoopNode } from '../../../plan/plan.js';
import { toErrorData } from '../../../base/errors.js';
import type { Body, Step } from '../step.js';
import type { ScopeHandle } from '../../services.js';
import { inputCell } from '../../state/cell.js';
import type { Version } from '../../state/version.js';
import { endLike, inputsOf, keptOf, noTicket, openInside, outputsOf, subPlan } from './call.js';

/** A sub-plan again and again, until its condition holds. Rounds are addressed `NODE#ROUND`. */
export const loopBody: Body = { start: startLoop, take: noTicket };

function startLoop(step: Step): void {
  const { node } = step.compiled;
  if (node.kind !== 'loop') return;
  runRound(step, node, inputsOf(step, node, subPlan(step)), 1);
}

function runRound(step: Step, node: LoopNode, inputs: Version, round: number): void {
  openInside(step, subPlan(step), `${roundAddress(step.key, round)}/`, inputs, (scope, end) => {
    if (end.type !== 'done') {
      endLike(step, end, () => keptOf(step, node, scope));
      return;
    }
    try {
      if (isOver(step, node, scope, round)) step.succeed(outputsOf(step, node, scope));
      else if (round < node.maxRounds) runRound(step, node, carried(step, node, inputs, scope), round + 1);
      else endAtCap(step, node, scope);
    } catch (error) {
      if (step.over) throw error;
      step.fail(toErrorData(error));
    }
  });
}

function isOver(step: Step, node: LoopNode, scope: ScopeHandle, round: number): boolean {
  const { until } = step.compiled;
  const check = (): boolean => asBoolean(until?.(scope.state(), round), `until:${node.id}`);
  const { labelled } = subPlan(step);
  return evaluateConditions(node.until, (channel) => scope.read(channel), check, labelled, step.run).holds;
}

function carried(step: Step, node: LoopNode, inputs: Version, scope: ScopeHandle): Version {
  const { channels } = subPlan(step);
  let version = inputs;
  for (const name of node.carry ?? []) {
    const at = channels.index.get(name);
    const value = scope.read(name);
    if (at !== undefined && scope.clears(name)) version = version.without(at);
    if (at === undefined || value === undefined) continue;
    // A list that grows from round to round would be digested anew each time.
    const digest = step.run.durable.recorded ? scope.digest(name) : undefined;
    version = version.with(at, inputCell(value, channels.reducers[at], digest));
  }
  return version;
}

function endAtCap(step: Step, node: LoopNode, scope: ScopeHandle): void {
  const message = `the loop '${node.id}' did not end within its maxRounds of ${node.maxRounds}`;
  if (node.onMaxRounds === 'continue') {
    if (step.run.reporter.observed) step.emit({ type: 'run.warning', code: 'max-rounds', message });
    step.succeed(outputsOf(step, node, scope));
  } else {
    step.fail({ code: 'SKEIN_MAX_ROUNDS', message, hint: 'raise maxRounds, or set onMaxRounds to continue' });
  }
}
