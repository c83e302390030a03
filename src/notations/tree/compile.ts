import { present } from '../../base/json.js';
import { hasErrors, type Problem } from '../../base/problem.js';
import { checkPlan } from '../../plan/checks.js';
import { declarationsOf } from '../../plan/declarations.js';
import { sealPlan } from '../../plan/own-plan.js';
import { NO_BINDINGS, type Bindings, type ChannelSpec, type InputSpec, type Plan } from '../../plan/plan.js';
import { checkTree } from './check-tree.js';
import { compileStep } from './compile-step.js';
import type { CompiledStep, PriorGoal, Workshop } from './agent-step.js';
import type { TreeOverride, TreeParameter, TreeWorkflow } from './definition.js';
import { modeOf, mergeOverride } from './inherited.js';
import { inputChannel, placedSteps, singleFields, NodeIds, type GivenValue } from './names.js';
import { takenInput } from './team.js';
import { tidyTree } from './tidy.js';

export interface TreeOptions extends Pick<Workshop, 'functionOf' | 'maxReorients' | 'judge'> {
  /** The notation recorded in the plan. Default `tree`. */
  readonly notation?: 'tree' | 'agentfile';
  /** Defaults for steps that do not customize them: those of the runtime, or of an Agentfile's configuration. */
  readonly defaults?: TreeOverride;
  /** Initial values, for a step that runs on its own. */
  readonly given?: readonly GivenValue[];
}

/** A tree's plan and all its problems. */
export interface CompiledTree {
  /** Undefined if there are errors. */
  readonly plan: Plan | undefined;
  readonly bindings: Bindings;
  readonly problems: readonly Problem[];
}

/** Checks a tree and compiles its plan: a node for each step, in order. Nothing runs, and problems are not thrown. */
export function compileTree(definition: TreeWorkflow, options: TreeOptions = {}): CompiledTree {
  const tree = tidyTree(definition);
  const { given = [] } = options;
  const problems = checkTree(tree, { given });
  if (hasErrors(problems)) return { plan: undefined, bindings: NO_BINDINGS, problems };
  const prior = new Map<string, PriorGoal>();
  for (const { name, isGoal } of given) if (isGoal) prior.set(name, priorGoal(name));
  const steps = compiledSteps(tree, prior, options);
  const bindings = Object.create(null) as Record<string, unknown>;
  for (const step of steps) Object.assign(bindings, step.bindings);
  const written = [...new Set(steps.flatMap(({ writes }) => writes))];
  const ids = steps.map(({ node }) => node.id);
  const plan = sealPlan({
    format: 1,
    name: tree.name,
    notation: options.notation ?? 'tree',
    inputs: [...tree.inputs.map(inputOf), ...given.map(({ name }) => prior.get(name)?.input ?? takenInput(name))],
    closedState: true,
    channels: channelsOf(prior, [...given.map(({ name }) => name), ...written]),
    nodes: steps.map(({ node }) => node),
    edges: ids.slice(1).map((to, at) => ({ from: ids[at] ?? '', to })),
    routes: [],
    output: written,
    ...present({ budget: tree.budget, security: tree.security }),
    ...declarationsOf(tree),
  });
  const found = checkPlan(plan, bindings);
  const all = [...problems, ...found];
  return { plan: hasErrors(all) ? undefined : plan, bindings: Object.freeze(bindings), problems: all };
}

/** Compiles the steps. Each becomes a prior goal of those after it. */
function compiledSteps(
  tree: TreeWorkflow,
  prior: Map<string, PriorGoal>,
  options: TreeOptions,
): readonly CompiledStep[] {
  const { given = [], defaults = {}, functionOf, maxReorients, judge } = options;
  const shop: Workshop = present({ single: singleFields(tree), functionOf, maxReorients, judge });
  const ids = new NodeIds();
  const treeMode = modeOf(tree, 'off');
  return Array.from(placedSteps(tree, shop.single, given), ({ step, visible, sequence }) => {
    const around = tree.sequences[sequence];
    const compiled = compileStep(step, {
      shop,
      id: ids.next(step.name),
      channel: step.name,
      base: step.name,
      isTop: true,
      override: mergeOverride(defaults, around?.override),
      mode: around === undefined ? treeMode : modeOf(around, treeMode),
      security: around?.security,
      // Both grow with the walk, and no step keeps them.
      visible,
      prior,
    });
    if (!prior.has(step.name)) prior.set(step.name, priorGoal(step.name));
    return compiled;
  });
}

function inputOf({ name, default: preset, at }: TreeParameter): InputSpec {
  return present({ name, channel: inputChannel(name), required: preset === undefined, default: preset, at });
}

function priorGoal(name: string): PriorGoal {
  return { input: takenInput(name), channel: { name, label: name } };
}

/** Returns the channels in the order of the tree, with labels for prior goals. */
function channelsOf(prior: ReadonlyMap<string, PriorGoal>, names: readonly string[]): readonly ChannelSpec[] {
  return [...new Set(names)].map((name) => prior.get(name)?.channel ?? { name });
}
