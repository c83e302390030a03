import { present } from '../../base/json.js';
import type { Template } from '../../lang/values.js';
import type { LoopNode } from '../../plan/plan.js';
import { innerBindings } from '../graph/nodes/planned.js';
import type { CompiledStep, Placing } from './agent-step.js';
import type { TreeConvergence } from './definition.js';
import { CONVERGED, goalBlock, historyBlock, PRIOR_GOALS, refinement } from './prompts.js';
import { insideOf } from './team.js';
import type { CompileStep } from './team.js';

/** The maximum number of iterations if the run determines the number. */
const CAP = 100;

/**
 * Compiles a convergence to a loop, which ends at the marker line. If it is the only part of another convergence, both form one refinement:
 * inner iterations continue from the outer ones, and an answer that has the line at once ends both.
 */
export function compileConvergence(work: TreeConvergence, place: Placing, compile: CompileStep): CompiledStep {
  const { id, channel, visible } = place;
  const { within, withinVar, cap = CAP } = work;
  const isInside = place.more?.history !== undefined;
  const history = place.more?.history ?? `${channel}#iterations`;
  const asked = (isAskedForMarker: boolean): Template => [
    '\n\n',
    ...historyBlock(history),
    refinement(isAskedForMarker),
  ];
  const task = [...PRIOR_GOALS, ...goalBlock(work.name, work.description, visible), ...asked(false)];
  const more = {
    ...place.more,
    history,
    tail: asked(true),
    fieldsUnless: { line: CONVERGED, after: { channel: history } },
  };
  // A step used twice has run before. Its earlier result is not a prior goal.
  const isAgain = place.prior.has(channel);
  const prior = isAgain ? new Map([...place.prior].filter(([name]) => name !== channel)) : place.prior;
  const inside = insideOf(work, { ...place, more, prior }, task, compile);
  const node: LoopNode = {
    id,
    kind: 'loop',
    output: channel,
    plan: inside.plan,
    outputs: inside.outputs,
    until: [{ op: 'line', value: { channel }, line: CONVERGED }],
    keep: isInside ? 'beforeMarked' : 'before',
    collect: { [history]: channel },
    maxRounds: withinVar === undefined ? within : cap,
    onMaxRounds: 'continue',
    ...(work.using.length === 0 ? {} : { errorPrefix: `convergence ${work.name} fan-out: ` }),
    ...(withinVar === undefined
      ? {}
      : { rounds: { channel: visible.get(withinVar) ?? withinVar, written: `withinVar "${withinVar}"` } }),
  };
  return {
    node: present({ ...node, at: work.at }),
    bindings: innerBindings(id, inside.bindings),
    writes: Object.keys(inside.outputs),
    fields: inside.fields,
  };
}
