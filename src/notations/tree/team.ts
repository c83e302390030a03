import type { Template } from '../../lang/values.js';
import type { InputSpec, Plan, PlanNode } from '../../plan/plan.js';
import { readsOutputs, referencesOf } from '../../plan/references.js';
import { agentStep, allFields, compileGoal, type CompiledStep, type Placing } from './agent-step.js';
import type { TreeStep, TreeWork } from './definition.js';
import { isVisible, NodeIds } from './names.js';
import { agentSpec } from './inherited.js';
import { goalBlock, SYNTHESIS_SYSTEM, synthesisPrompt } from './prompts.js';

export type CompileStep = (step: TreeStep, place: Placing) => CompiledStep;

/** The plan that does the work of a goal or of a convergence's round, and its outputs. */
export interface Inside {
  readonly plan: Plan;
  readonly bindings: Readonly<Record<string, unknown>>;
  /** Channels of the outer plan, with the channel of this plan for each. The text is first. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly fields: CompiledStep['fields'];
}

/**
 * Builds the plan of the workers: agents in parallel, and one that merges their answers; without agents, the model itself. `task` is the
 * agents' task. `place.more` applies to the one whose text is the result.
 */
export function insideOf(work: TreeWork, place: Placing, task: Template, compile: CompileStep): Inside {
  const ids = new NodeIds();
  if (work.using.length === 0)
    return assembled(work, place, [compileGoal(work, { ...place, id: ids.next(work.name) })]);
  const isOnly = work.using.length === 1;
  const labels = new NodeLabels();
  const workers = work.using.map((step) => {
    const base = `${place.base}.${labels.next(step.name)}`;
    const { node, ...rest } = compile(step, {
      shop: place.shop,
      id: ids.next(step.name),
      base,
      channel: isOnly ? place.channel : base,
      isTop: false,
      override: place.override,
      mode: place.mode,
      visible: place.visible,
      prior: place.prior,
      task,
      ...(isOnly ? { more: { ...place.more, fields: allFields(work, place), strict: work.strict } } : {}),
    });
    const label = node.id === step.name ? {} : { label: step.name };
    return { ...rest, node: { ...node, ...label, onError: 'settle' as const } };
  });
  return assembled(work, place, isOnly ? workers : [...workers, synthesis(work, place, ids.next('synthesis'))]);
}

/** Compiles the step that merges the answers, with the goal's model and without tools. */
function synthesis(work: TreeWork, place: Placing, id: string): CompiledStep {
  const { tools: _tools, functions: _functions, mcpServers: _servers, skills: _skills, ...override } = place.override;
  const labels = new NodeLabels();
  const answers = work.using.map(({ name }) => {
    const label = labels.next(name);
    return { name: label, channel: `${place.base}.${label}` };
  });
  const goal = [...goalBlock(work.name, work.description, place.visible), ...(place.more?.tail ?? [])];
  const { node, ...rest } = agentStep(
    work,
    { ...place, id },
    {
      spec: agentSpec('synthesis', [SYNTHESIS_SYSTEM], override),
      prompt: synthesisPrompt(answers, goal),
    },
  );
  return { ...rest, node: { ...node, role: 'synthesis' } };
}

function assembled(work: TreeWork, place: Placing, steps: readonly CompiledStep[]): Inside {
  const nodes = steps.map(({ node }) => node);
  const last = nodes.at(-1)?.id ?? '';
  const fields = Object.assign({}, ...steps.map((step) => step.fields)) as CompiledStep['fields'];
  return {
    plan: {
      format: 1,
      name: work.name,
      ...surroundings(nodes, place),
      nodes,
      edges: nodes.slice(0, -1).map(({ id }) => ({ from: id, to: last })),
      routes: [],
    },
    bindings: Object.assign({}, ...steps.map(({ bindings }) => bindings)) as Inside['bindings'],
    outputs: outputsOf(work, place, { steps, fields }),
    fields,
  };
}

/** Returns an optional input that reads the outer channel of the same name. */
export function takenInput(channel: string): InputSpec {
  return { name: channel, channel, required: false };
}

/** Returns what the nodes read of the outer plan: its inputs, iterations, and prior goals with their labels. */
function surroundings(
  nodes: readonly PlanNode[],
  { visible, prior, more }: Placing,
): Pick<Plan, 'inputs' | 'channels'> {
  const isShown = nodes.some((node) => readsOutputs(node) || ('plan' in node && node.plan.channels.length > 0));
  const shown = isShown ? [...prior.values()] : [];
  const reads = nodes.flatMap((node) => [
    ...referencesOf(node).map(({ channel }) => channel),
    ...('plan' in node ? node.plan.inputs.map(({ channel }) => channel) : []),
  ]);
  const isKnown = (channel: string): boolean => isVisible(channel, visible) || channel === more?.history;
  const others = reads.filter((channel) => isKnown(channel) && !(isShown && prior.has(channel)));
  return {
    inputs: [...shown.map(({ input }) => input), ...[...new Set(others)].map(takenInput)],
    channels: shown.map(({ channel }) => channel),
  };
}

function outputsOf(
  work: TreeWork,
  place: Placing,
  { steps, fields }: { readonly steps: readonly CompiledStep[]; readonly fields: CompiledStep['fields'] },
): Inside['outputs'] {
  const written = [...new Set([place.channel, ...steps.flatMap(({ writes }) => writes)])];
  const outputs = Object.fromEntries(written.map((channel) => [channel, channel]));
  const [only] = work.using;
  if (only !== undefined && work.using.length === 1) outputs[`${place.base}.${only.name}`] = place.channel;
  if (!place.isTop) return outputs;
  for (const [channel, field] of Object.entries(fields)) if (place.shop.single.has(field)) outputs[field] = channel;
  return outputs;
}

/** Labels of parallel steps. A repeated name gets a number. */
class NodeLabels {
  private readonly counts = new Map<string, number>();

  next(name: string): string {
    const count = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, count);
    return count === 1 ? name : `${name}.${count}`;
  }
}
