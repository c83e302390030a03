import { present } from '../../base/json.js';
import type { Template } from '../../lang/values.js';
import type { LoopNode } from '../../plan/plan.js';
import { raised } from '../../plan/security.js';
import type { Supervision } from '../../plan/supervision.js';
import { innerBindings } from '../graph/nodes/planned.js';
import { compileAgent, compileGoal, type CompiledStep, type Placing } from './agent-step.js';
import type { TreeConvergence, TreeGoal, TreeStep } from './definition.js';
import { mergeOverride, modeOf } from './inherited.js';
import { CONVERGED, PRIOR_GOALS, goalBlock, historyBlock, refinement, textTemplate } from './prompts.js';
import { insideOf, type CompileStep } from './team.js';

export function compileStep(step: TreeStep, around: Placing): CompiledStep {
  const place = { ...around, override: mergeOverride(around.override, step.override), mode: modeOf(step, around.mode) };
  const compiled = unsupervised(step, place);
  const role = step.kind === 'agent' ? ('subagent' as const) : step.kind;
  const about = step.kind === 'agent' ? {} : { about: textTemplate(step.description, place.visible) };
  const security = raised(around.security, step.security);
  const own = { ...about, ...present({ budget: step.budget, security, endorse: step.endorse }) };
  const node = { ...compiled.node, ...(step.kind === 'agent' && place.isTop ? {} : { role }), ...own };
  const isUnit = step.kind !== 'agent' || place.isTop;
  if (place.mode === 'off' || !isUnit) return { ...compiled, node };
  return { ...compiled, node: { ...node, supervise: supervision(step, { ...place, mode: place.mode }) } };
}

function unsupervised(step: TreeStep, place: Placing): CompiledStep {
  switch (step.kind) {
    case 'agent':
      return compileAgent(step, place);
    case 'goal':
      return step.using.length === 0 ? compileGoal(step, place) : compileFanOut(step, place);
    case 'convergence':
      return compileConvergence(step, place, compileStep);
  }
}

/** Builds the supervision. The instruction is the description, with the prior goals if the work sees them. */
function supervision(
  step: TreeStep,
  { visible, mode, override, shop }: Placing & { readonly mode: Supervision['by'] },
): Supervision {
  const isAgent = step.kind === 'agent' || (step.kind === 'goal' && step.using.length === 0);
  const hasPrior = step.kind !== 'agent' && (isAgent || step.kind === 'convergence');
  const said = textTemplate(step.kind === 'agent' ? (step.task ?? '') : step.description, visible);
  return present({
    instruction: hasPrior ? [...PRIOR_GOALS, ...said] : said,
    by: mode,
    model: shop.judge,
    checkpointModel: isAgent ? undefined : override.model,
    maxReorients: shop.maxReorients,
  });
}

/** Compiles a goal whose work is done by other steps, to a call. */
function compileFanOut(goal: TreeGoal, place: Placing): CompiledStep {
  const { id, visible } = place;
  const { plan, bindings, outputs, fields } = insideOf(
    goal,
    place,
    textTemplate(goal.description, visible),
    compileStep,
  );
  return {
    node: present({
      id,
      kind: 'call' as const,
      plan,
      output: place.channel,
      outputs,
      errorPrefix: `goal ${goal.name} fan-out: `,
      at: goal.at,
    }),
    bindings: innerBindings(id, bindings),
    writes: Object.keys(outputs),
    fields,
  };
}

/** The maximum number of iterations if the run determines the number. */
const CAP = 100;

/**
 * Compiles a convergence to a loop, which ends at the marker line. If it is the only part of another convergence, both form one refinement:
 * inner iterations continue from the outer ones, and an answer that has the line at once ends both.
 */
function compileConvergence(work: TreeConvergence, place: Placing, compile: CompileStep): CompiledStep {
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
