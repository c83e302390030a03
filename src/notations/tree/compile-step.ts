import { present } from '../../base/json.js';
import { raised } from '../../plan/security.js';
import type { Supervision } from '../../plan/supervision.js';
import { innerBindings } from '../graph/nodes/planned.js';
import { compileAgent, compileGoal } from './agent-step.js';
import type { CompiledStep, Placing } from './agent-step.js';
import { compileConvergence } from './convergence.js';
import type { TreeGoal, TreeStep } from './definition.js';
import { modeOf, mergeOverride } from './inherited.js';
import { PRIOR_GOALS, textTemplate } from './prompts.js';
import { insideOf } from './team.js';

/** Compiles a step, including the steps inside it, to a node. */
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
