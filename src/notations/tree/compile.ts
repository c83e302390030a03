import { present } from '../../base/json.js';
import type { Problem } from '../../base/problem.js';
import { hasErrors } from '../../base/problem.js';
import { checkPlan } from '../../plan/checks.js';
import { ownPlan } from '../../plan/own-plan.js';
import type { Bindings, ChannelSpec, InputSpec, Plan } from '../../plan/plan.js';
import { NO_BINDINGS } from '../../plan/plan.js';
import { checkTree } from './check-tree.js';
import { compileStep } from './compile-step.js';
import type { CompiledStep, Workshop } from './agent-step.js';
import type { TreeOverride, TreeParameter, TreeWorkflow } from './definition.js';
import { modeOf, mergeOverride } from './inherited.js';
import { inputChannel, placedSteps, singleFields, NodeIds } from './names.js';
import type { GivenValue } from './names.js';
import { tidyTree } from './tidy.js';

/** How a tree is made into a plan. */
export interface TreeOptions extends Pick<Workshop, 'functionOf' | 'maxReorients' | 'judge'> {
  /** The notation that the plan is said to be written in. Default `tree`. */
  readonly notation?: 'tree' | 'agentfile';
  /** What steps have that is not customized: of the runtime, or of the configuration of an Agentfile. */
  readonly defaults?: TreeOverride;
  /** Values that are there when it begins, for a step that is run by itself. */
  readonly given?: readonly GivenValue[];
}

/** A tree as a plan, with everything that is wrong with it. */
export interface CompiledTree {
  /** Absent when there are errors. */
  readonly plan: Plan | undefined;
  readonly bindings: Bindings;
  readonly problems: readonly Problem[];
}

/**
 * Checks a tree and makes its plan: a node for each step, one after the other. A goal is an agent, or a call with agents side by side; a convergence is a
 * loop. Nothing is run, and nothing is thrown for what is wrong.
 */
export function compileTree(definition: TreeWorkflow, options: TreeOptions = {}): CompiledTree {
  const tree = tidyTree(definition);
  const { given = [] } = options;
  const problems = checkTree(tree, { given });
  if (hasErrors(problems)) return { plan: undefined, bindings: NO_BINDINGS, problems };
  const steps = compiledSteps(tree, options);
  const bindings = Object.create(null) as Record<string, unknown>;
  for (const step of steps) Object.assign(bindings, step.bindings);
  const written = [...new Set(steps.flatMap(({ writes }) => writes))];
  const ids = steps.map(({ node }) => node.id);
  const plan = ownPlan({
    format: 1,
    name: tree.name,
    notation: options.notation ?? 'tree',
    inputs: [...tree.inputs.map(inputOf), ...given.map(givenInput)],
    closedState: true,
    channels: channelsOf(tree, given, written),
    nodes: steps.map(({ node }) => node),
    edges: ids.slice(1).map((to, at) => ({ from: ids[at] ?? '', to })),
    routes: [],
    output: written,
  });
  const found = checkPlan(plan, bindings);
  const all = [...problems, ...found];
  return { plan: hasErrors(all) ? undefined : plan, bindings: Object.freeze(bindings), problems: all };
}

function compiledSteps(tree: TreeWorkflow, options: TreeOptions): readonly CompiledStep[] {
  const { given = [], defaults = {}, functionOf, maxReorients, judge } = options;
  const shop: Workshop = present({ single: singleFields(tree), functionOf, maxReorients, judge });
  const ids = new NodeIds();
  const treeMode = modeOf(tree, 'off');
  const prior = given.flatMap(({ name, isGoal }) => (isGoal ? [name] : []));
  const isPrior = new Set(prior);
  return Array.from(placedSteps(tree, given), ({ step, visible, sequence }) => {
    const around = tree.sequences[sequence];
    const compiled = compileStep(step, {
      shop,
      id: ids.next(step.name),
      channel: step.name,
      base: step.name,
      isTop: true,
      override: mergeOverride(defaults, around?.override),
      mode: around === undefined ? treeMode : modeOf(around, treeMode),
      // Both grow as the steps go on; nothing keeps them.
      visible,
      prior,
    });
    if (!isPrior.has(step.name)) prior.push(step.name);
    isPrior.add(step.name);
    return compiled;
  });
}

function inputOf({ name, default: preset, at }: TreeParameter): InputSpec {
  return present({ name, channel: inputChannel(name), required: preset === undefined, default: preset, at });
}

function givenInput({ name }: GivenValue): InputSpec {
  return { name, channel: name, required: false };
}

/** Goals are shown to those behind them; their channels stand in the order of the tree. */
function channelsOf(
  { sequences }: TreeWorkflow,
  given: readonly GivenValue[],
  written: readonly string[],
): readonly ChannelSpec[] {
  const shown = new Set(given.flatMap(({ name, isGoal }) => (isGoal ? [name] : [])));
  for (const { steps } of sequences) for (const { name } of steps) shown.add(name);
  const names = new Set([...given.map(({ name }) => name), ...written]);
  return [...names].map((name) => (shown.has(name) ? { name, label: name } : { name }));
}
