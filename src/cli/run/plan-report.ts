import type { Template } from '../../lang/values.js';
import type { AgentNode, Plan } from '../../plan/plan.js';
import { printable } from '../view/printable.js';
import type { Style } from '../view/style.js';

/** What a run of a plan would do, as far as it is known without running it. */
export interface PlanDescription {
  readonly workflow: string;
  readonly description?: string;
  readonly inputs: readonly InputDescription[];
  readonly levels: readonly (readonly string[])[];
  readonly steps: readonly StepDescription[];
  readonly modelCalls: { readonly typical: number; readonly worst: number | 'unbounded' };
  readonly toolCalls: { readonly typical: number; readonly worst: number | 'unbounded' };
  readonly concurrency?: number;
}

interface InputDescription {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly given: boolean;
}

interface StepDescription {
  readonly id: string;
  readonly kind: string;
  readonly after: readonly string[];
  readonly when: readonly string[];
  readonly agent?: string;
  /** Empty: the environment decides. */
  readonly models?: readonly string[];
  /** Absent: the tools that only read, and those of its servers. */
  readonly tools?: readonly string[];
  readonly system?: string;
  readonly prompt?: string;
}

/**
 * Describes a plan. In prompts, inputs that are given or have a default are filled in; what is not known yet stays a reference.
 *
 * @example
 * const description = await describePlan(plan, { topic: 'looms' });
 */
export async function describePlan(plan: Plan, inputs: Readonly<Record<string, string>>): Promise<PlanDescription> {
  const { conditionText, estimateCalls, outlinePlan, templateText } = await import('../../index.js');
  const { levels } = outlinePlan(plan);
  const known = new Map<string, string>();
  for (const input of plan.inputs) {
    const value = Object.hasOwn(inputs, input.name) ? inputs[input.name] : input.default;
    if (value !== undefined) known.set(input.channel, typeof value === 'string' ? value : JSON.stringify(value));
  }
  const preview = (template: Template): string =>
    template.map((piece) => filled(piece, known) ?? templateText([piece])).join('');
  const { concurrency } = plan.limits ?? {};
  return {
    workflow: plan.name,
    ...(plan.description === undefined ? {} : { description: plan.description }),
    inputs: plan.inputs.map(({ name, description, required }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      required,
      given: Object.hasOwn(inputs, name),
    })),
    levels,
    steps: plan.nodes.map((node) => ({
      id: node.id,
      kind: node.kind,
      after: plan.edges.filter((edge) => edge.to === node.id).map((edge) => edge.from),
      when: (node.when ?? []).map(conditionText),
      ...(node.kind === 'agent' ? agentDescription(node, preview) : {}),
    })),
    ...estimateCalls(plan),
    ...(concurrency === undefined ? {} : { concurrency }),
  };
}

function filled(piece: Template[number], known: ReadonlyMap<string, string>): string | undefined {
  if (typeof piece === 'string') return piece;
  return 'channel' in piece && piece.path === undefined ? known.get(piece.channel) : undefined;
}

function agentDescription(node: AgentNode, preview: (template: Template) => string): Partial<StepDescription> {
  const { agent } = node;
  return {
    agent: agent.name,
    models: agent.models,
    ...(agent.tools === undefined ? {} : { tools: agent.tools }),
    system: preview(agent.instructions),
    prompt: preview(node.prompt),
  };
}

/** A description for people. */
export function planLines(plan: PlanDescription, style: Style): readonly string[] {
  const steps = new Map(plan.steps.map((step) => [step.id, step]));
  return [
    `${style.bold(printable(plan.workflow))}${plan.description === undefined ? '' : `: ${printable(plan.description)}`}`,
    ...inputLines(plan, style),
    ...plan.levels.flatMap((ids, at) => [
      '',
      style.accent(`level ${at + 1}`) + (ids.length > 1 ? style.dim(' (may run at the same time)') : ''),
      ...ids.flatMap((id) => stepLines(steps.get(id), style)),
    ]),
    '',
    `model calls: ${plan.modelCalls.typical} typically, ${plan.modelCalls.worst} at most`,
    `tool calls: ${plan.toolCalls.typical} typically, ${plan.toolCalls.worst} at most`,
    ...(plan.concurrency === undefined ? [] : [`steps at once: ${plan.concurrency}`]),
  ];
}

function inputLines(plan: PlanDescription, style: Style): readonly string[] {
  return plan.inputs.map(({ name, description, required, given }) => {
    const state = given ? 'given' : required ? style.warn('required, not given') : 'optional';
    return `input ${printable(name)}: ${state}${description === undefined ? '' : ` (${printable(description)})`}`;
  });
}

function stepLines(step: StepDescription | undefined, style: Style): readonly string[] {
  if (step === undefined) return [];
  const models =
    step.models === undefined ? [] : [step.models.length === 0 ? 'model of the environment' : step.models.join(', ')];
  const tools = step.agent === undefined ? [] : [toolsText(step.tools)];
  const agent = step.agent === undefined ? step.kind : `agent ${step.agent}`;
  const facts = [agent, ...models, ...tools].map(printable).join('; ');
  return [
    `  ${style.bold(printable(step.id))} ${style.dim(`(${facts})`)}`,
    ...(step.after.length === 0 ? [] : [`    after ${step.after.map(printable).join(', ')}`]),
    ...step.when.map((condition) => `    only if ${printable(condition)}`),
    ...block('system prompt', step.system, style),
    ...block('prompt', step.prompt, style),
  ];
}

function toolsText(tools: readonly string[] | undefined): string {
  if (tools === undefined) return 'tools that only read';
  return tools.length === 0 ? 'no tools' : `tools ${tools.join(', ')}`;
}

function block(title: string, text: string | undefined, style: Style): readonly string[] {
  if (text === undefined || text.trim() === '') return [];
  const lines = printable(text.trimEnd()).split('\n');
  return [`    ${title}:`, ...lines.map((line) => `      ${style.dim('│')} ${line}`)];
}
