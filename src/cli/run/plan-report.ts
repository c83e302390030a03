import { present } from '../../base/json.js';
import type { Condition, Template } from '../../lang/values.js';
import type { AgentNode, LoopNode, Plan, PlanNode, Route } from '../../plan/plan.js';
import type { Budget } from '../../plan/budget.js';
import type { Envelope } from '../../plan/envelope.js';
import type { ForeseenQuestions } from '../../foreseen.js';
import type { Power } from '../../plan.js';
import type { Endorsement } from '../../plan/endorsement.js';
import type { Security } from '../../plan/security.js';
import type { Supervision } from '../../plan/supervision.js';
import { jumpTarget, placesText } from '../view/decision.js';
import type { ToolUse } from '../../plan/tool-use.js';

/** What a run of a plan would do, as far as that is known without running it. */
export interface PlanDescription {
  readonly workflow: string;
  readonly notation?: string;
  readonly description?: string;
  readonly inputs: readonly InputDescription[];
  readonly levels: readonly (readonly string[])[];
  readonly steps: readonly StepDescription[];
  readonly modelCalls: Envelope['modelCalls'];
  readonly toolCalls: Envelope['toolCalls'];
  /** The model calls for supervision. Absent if no step is supervised. */
  readonly supervisionCalls?: Envelope['modelCalls'];
  /** The model calls for reviews of tool calls. Absent if there are none. */
  readonly securityCalls?: Envelope['modelCalls'];
  readonly concurrency?: number;
  readonly budget?: BudgetDescription;
  readonly security?: SecurityDescription;
  /** The questions that a person will be asked. */
  readonly questions: ForeseenQuestions;
  /** What a run could do beyond reading the project. */
  readonly powers: readonly Power[];
}

type BudgetDescription = Budget & { readonly text: string };

/** A security setting, with its text. */
type SecurityDescription = Security & { readonly text: string };

interface InputDescription {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly given: boolean;
}

/** The known facts about a step. */
export interface StepDescription {
  readonly id: string;
  readonly kind: string;
  readonly after: readonly string[];
  readonly when: readonly string[];
  /** The targets of a step that decides between them. A way without conditions is taken if no other is. */
  readonly ways?: readonly Way[];
  /** The target of a jump, and how often the jump may be made. */
  readonly goto?: string;
  /** What the step calls without a model. */
  readonly calls?: string;
  /** When a loop ends. */
  readonly rounds?: string;
  readonly agent?: string;
  /** MCP servers whose tools the agent has. */
  readonly servers?: readonly string[];
  /** Kinds of checks for the answers of the agent. */
  readonly checks?: readonly string[];
  /** Empty if the environment decides. */
  readonly models?: readonly string[];
  /** Absent if the agent has the read-only tools and those of its servers. */
  readonly tools?: readonly string[];
  readonly system?: string;
  readonly prompt?: string;
  readonly question?: string;
  readonly supervision?: SupervisionDescription;
  /** The budgets of the step and of its workflow. */
  readonly budgets?: readonly BudgetDescription[];
  /** The security settings of the step and of its workflow. */
  readonly securities?: readonly SecurityDescription[];
  /** Who endorses the result of the step, in words. */
  readonly endorsement?: string;
  /** For a step that contains others: the name of its workflow, and the steps. */
  readonly workflow?: string;
  readonly steps?: readonly StepDescription[];
}

/** How the work of a step is judged. */
interface SupervisionDescription extends Omit<Supervision, 'instruction'> {
  /** What the step promises. Defaults to the prompt. */
  readonly instruction?: string;
  /** Who judges, and how often, in words. */
  readonly text: string;
}

interface Way {
  readonly when?: readonly string[];
  readonly to: string;
}

/** How the parts of a plan are written. */
interface Wording {
  readonly condition: (condition: Condition) => string;
  readonly template: (template: Template) => string;
  /** Escapes a value between tags. */
  readonly escape: (text: string) => string;
  readonly supervised: (supervision: Supervision) => string;
  readonly budget: (budget: Budget) => string;
  readonly security: (security: Security) => string;
  readonly endorsed: (endorse: Endorsement) => string;
  readonly called: (tool: ToolUse) => string;
  readonly rounds: (loop: LoopNode) => string;
  /** Whether the steps of a plan are listed in the order in which they run. */
  readonly inOrder: (plan: Plan) => boolean;
  /** Inputs with known values, by channel. */
  readonly known: ReadonlyMap<string, string>;
}

type Values = Readonly<Record<string, unknown>>;

/** Describes a plan. Prompts contain the given and default values of inputs; other values stay references. */
export async function describePlan(
  {
    plan,
    powers,
    parameters = plan.inputs,
  }: Pick<PlanDescription, 'powers'> & { readonly plan: Plan; readonly parameters?: Plan['inputs'] | undefined },
  inputs: Values,
  defaults: Values = {},
): Promise<PlanDescription> {
  const { conditionText, estimateCalls, outlinePlan, templateText } = await import('../../index.js');
  const texts = await import('../../plan.js');
  const { traitsOf, withoutSecurity, withoutSupervision } = texts;
  const calls = estimateCalls(plan);
  const inOrder = ({ notation }: Plan): boolean => traitsOf(notation).inOrder === true;
  const { levels } = outlinePlan(plan);
  const known = new Map<string, string>();
  for (const input of parameters) {
    const value = own(inputs, input.name) ?? own(defaults, input.name) ?? input.default;
    if (value !== undefined) known.set(input.channel, typeof value === 'string' ? value : JSON.stringify(value));
  }
  const wording: Wording = {
    condition: conditionText,
    template: templateText,
    escape: texts.escapeXml,
    supervised: texts.supervisedText,
    budget: texts.budgetText,
    security: texts.securityText,
    endorsed: texts.endorsedText,
    called: texts.toolText,
    rounds: texts.roundsText,
    inOrder,
    known,
  };
  return {
    workflow: plan.name,
    ...present({ notation: plan.notation, description: plan.description }),
    inputs: parameters.map(({ name, description, required }) => ({
      ...present({ name, description, required }),
      given: Object.hasOwn(inputs, name),
    })),
    levels,
    steps: stepsOf(plan, wording),
    ...calls,
    questions: (await import('../../foreseen.js')).foreseenQuestions(plan),
    powers,
    ...present({
      supervisionCalls: callsFor(calls, estimateCalls(withoutSupervision(plan))),
      securityCalls: callsFor(calls, estimateCalls(withoutSecurity(plan))),
      concurrency: plan.limits?.concurrency,
      budget: plan.budget && budgeted(plan.budget, wording),
      security: plan.security && secured(plan.security, wording),
    }),
  };
}

/** The model calls that a feature adds: those of the whole plan without those of the plan without it. */
function callsFor(whole: Envelope, without: Envelope): Envelope['modelCalls'] | undefined {
  const { typical, worst } = whole.modelCalls;
  const least = without.modelCalls;
  if (typical === least.typical && worst === least.worst) return undefined;
  const isBounded = typeof worst === 'number' && typeof least.worst === 'number';
  return { typical: typical - least.typical, worst: isBounded ? worst - least.worst : 'unbounded' };
}

/** A description in which every agent has one model, as `--model` sets it. */
export function withModel(plan: PlanDescription, model: string): PlanDescription {
  const replaced = (step: StepDescription): StepDescription => ({
    ...step,
    ...(step.models === undefined ? {} : { models: [model] }),
    ...(step.steps === undefined ? {} : { steps: step.steps.map(replaced) }),
  });
  return { ...plan, steps: plan.steps.map(replaced) };
}

function own(values: Values, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function filled(piece: Template[number], { known, escape }: Wording): string | undefined {
  if (typeof piece === 'string') return piece;
  if (!('channel' in piece)) return undefined;
  const text = known.get([piece.channel, ...(piece.path ?? [])].join('.'));
  return text === undefined || piece.escape === undefined ? text : escape(text);
}

// Recursion is safe here: workflows are nested at most 50 deep (see checkPlan).
function stepsOf(plan: Plan, wording: Wording): readonly StepDescription[] {
  return plan.nodes.map((node) => ({
    id: node.id,
    kind: kindOf(node, wording),
    after: plan.edges.filter((edge) => edge.to === node.id).map((edge) => edge.from),
    when: (node.when ?? []).map(wording.condition),
    ...courseOf(plan, node, wording),
    ...(node.kind === 'agent' ? agentDescription(node, wording) : {}),
    ...(node.kind === 'task' && node.tool !== undefined ? { calls: wording.called(node.tool) } : {}),
    ...(node.kind === 'ask' ? { question: previewOf(node.question, wording) } : {}),
    ...judged(node, wording),
    ...budgetsOf(node, wording),
    ...securitiesOf(node, wording),
    ...present({ endorsement: node.endorse && wording.endorsed(node.endorse) }),
    ...innerSteps(node, wording),
  }));
}

function judged({ supervise }: PlanNode, wording: Wording): Partial<StepDescription> {
  if (supervise === undefined) return {};
  const { instruction, ...supervision } = supervise;
  const promised = instruction === undefined ? {} : { instruction: previewOf(instruction, wording) };
  return { supervision: { ...supervision, ...promised, text: wording.supervised(supervise) } };
}

function budgetsOf(node: PlanNode, wording: Wording): Partial<StepDescription> {
  const budgets = [node.budget ?? [], 'plan' in node ? (node.plan.budget ?? []) : []].flat();
  return budgets.length === 0 ? {} : { budgets: budgets.map((budget) => budgeted(budget, wording)) };
}

function securitiesOf(node: PlanNode, wording: Wording): Partial<StepDescription> {
  const said = [node.security ?? [], 'plan' in node ? (node.plan.security ?? []) : []].flat();
  return said.length === 0 ? {} : { securities: said.map((security) => secured(security, wording)) };
}

function secured(security: Security, wording: Wording): SecurityDescription {
  return { ...security, text: wording.security(security) };
}

function budgeted(budget: Budget, wording: Wording): BudgetDescription {
  return { ...budget, text: wording.budget(budget) };
}

/** The kind in the file's words. The steps of a block are a plan with the names around it; only a sequence's plan declares its start. */
function kindOf(node: PlanNode, { inOrder }: Wording): string {
  const isBlock = node.kind === 'call' && inOrder(node.plan) && node.outputs === undefined;
  if (!isBlock) return node.kind;
  return node.plan.entry === undefined ? 'parallel' : 'sequence';
}

function courseOf(plan: Plan, node: PlanNode, wording: Wording): Partial<StepDescription> {
  const ways = plan.routes.filter((route) => route.from === node.id).flatMap((route) => waysOf(plan, route, wording));
  const target = jumpTarget(plan, node);
  return {
    ...(ways.length === 0 ? {} : { ways }),
    ...(target === undefined ? {} : { goto: target + oftenText(node) }),
    ...(node.kind === 'loop' ? { rounds: wording.rounds(node) } : {}),
  };
}

function waysOf(plan: Plan, { cases, otherwise }: Route, wording: Wording): readonly Way[] {
  if (cases === undefined) return [];
  return [
    ...cases.map(({ when, to }) => ({ when: when.map(wording.condition), to: placesOf(plan, to) })),
    { to: placesOf(plan, otherwise ?? []) },
  ];
}

function placesOf(plan: Plan, ids: readonly string[]): string {
  const capped = plan.nodes.filter((node) => node.kind === 'pass' && ids.includes(node.id));
  return placesText(plan, ids) + capped.map(oftenText).join('');
}

function oftenText({ maxVisits }: PlanNode): string {
  if (maxVisits === undefined) return '';
  return maxVisits === 1 ? ', at most once' : `, at most ${maxVisits} times`;
}

function innerSteps(node: PlanNode, wording: Wording): Partial<StepDescription> {
  if (!('plan' in node)) return {};
  // Another file has inputs of its own, whose values are known only when it is called.
  const isOther = node.kind !== 'map' && node.inputs !== undefined;
  const steps = stepsOf(node.plan, isOther ? { ...wording, known: new Map() } : wording);
  return { workflow: node.plan.name, steps };
}

function previewOf(template: Template, wording: Wording): string {
  return template.map((piece) => filled(piece, wording) ?? wording.template([piece])).join('');
}

function agentDescription(node: AgentNode, wording: Wording): Partial<StepDescription> {
  const { agent } = node;
  return {
    agent: agent.name,
    ...(agent.mcpServers === undefined ? {} : { servers: Object.keys(agent.mcpServers) }),
    models: agent.models,
    ...(agent.tools === undefined
      ? {}
      : { tools: [...agent.tools, ...(agent.functions ?? []).map((tool) => tool.name)] }),
    ...(agent.checks === undefined ? {} : { checks: agent.checks.map(({ kind }) => kind) }),
    system: previewOf(agent.instructions, wording),
    prompt: previewOf(node.prompt, wording),
  };
}

/** The kind of a step, and for an agent its models and tools. */
export function factsOf(step: StepDescription): readonly string[] {
  const { kind, agent, models, tools, servers, checks = [], ways, goto, workflow } = step;
  if (agent !== undefined) {
    const model = models === undefined || models.length === 0 ? 'model of the environment' : models.join(', ');
    const checked = checks.length === 0 ? [] : [`checks ${checks.join(', ')}`];
    return [`agent ${agent}`, model, toolsText(tools, servers), ...checked];
  }
  if (step.calls !== undefined) return [step.calls];
  if (kind === 'pass') return [goto === undefined ? (ways === undefined ? 'pass' : 'condition') : 'jump'];
  return kind === 'call' ? [`call of ${workflow ?? ''}`] : [kind];
}

/** The tools of a server are unknown before it starts. */
function toolsText(tools: readonly string[] | undefined, servers: readonly string[] = []): string {
  if (tools !== undefined) return tools.length === 0 ? 'no tools' : `tools ${tools.join(', ')}`;
  const offered = servers.length === 0 ? '' : `, and all tools of the MCP servers ${servers.join(', ')}`;
  return `tools that only read${offered}`;
}
