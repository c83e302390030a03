import { present } from '../../base/json.js';
import { foreseenQuestions, type ForeseenQuestions } from '../../foreseen.js';
import { conditionText, estimateCalls, outlinePlan, templateText } from '../../index.js';
import type { Template } from '../../lang/values.js';
import {
  budgetText,
  endorsedText,
  escapeXml,
  namedModels,
  roundsText,
  securityText,
  supervisedText,
  toolText,
  traitsOf,
  withoutSecurity,
  withoutSupervision,
  type Power,
} from '../../plan.js';
import type { AgentNode, Plan, PlanNode, Route } from '../../plan/plan.js';
import type { Budget } from '../../plan/budget.js';
import type { Envelope } from '../../plan/envelope.js';
import type { Security } from '../../plan/security.js';
import type { Supervision } from '../../plan/supervision.js';
import { jumpTarget, placesText } from '../view/decision.js';

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

type SecurityDescription = Security & { readonly text: string };

interface InputDescription {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly given: boolean;
}

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

/** Inputs with known values, by channel. */
type Known = ReadonlyMap<string, string>;

type Values = Readonly<Record<string, unknown>>;

/** Describes a plan. Prompts contain the given and default values of inputs; other values stay references. */
export function describePlan(
  {
    plan,
    powers,
    parameters = plan.inputs,
  }: Pick<PlanDescription, 'powers'> & { readonly plan: Plan; readonly parameters?: Plan['inputs'] | undefined },
  inputs: Values,
  defaults: Values = {},
): PlanDescription {
  const calls = estimateCalls(plan);
  const known = new Map<string, string>();
  for (const input of parameters) {
    const value = own(inputs, input.name) ?? own(defaults, input.name) ?? input.default;
    if (value !== undefined) known.set(input.channel, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return {
    workflow: plan.name,
    ...present({ notation: plan.notation, description: plan.description }),
    inputs: parameters.map(({ name, description, required }) => ({
      ...present({ name, description, required }),
      given: Object.hasOwn(inputs, name),
    })),
    levels: outlinePlan(plan).levels,
    steps: stepsOf(plan, known),
    ...calls,
    questions: foreseenQuestions(plan),
    powers,
    ...present({
      supervisionCalls: callsFor(calls, estimateCalls(withoutSupervision(plan))),
      securityCalls: callsFor(calls, estimateCalls(withoutSecurity(plan))),
      concurrency: plan.limits?.concurrency,
      budget: plan.budget && budgeted(plan.budget),
      security: plan.security && secured(plan.security),
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

function filled(piece: Template[number], known: Known): string | undefined {
  if (typeof piece === 'string') return piece;
  if (!('channel' in piece)) return undefined;
  const text = known.get([piece.channel, ...(piece.path ?? [])].join('.'));
  return text === undefined || piece.escape === undefined ? text : escapeXml(text);
}

// Recursion is safe here: workflows are nested at most 50 deep (see checkPlan).
function stepsOf(plan: Plan, known: Known): readonly StepDescription[] {
  return plan.nodes.map((node) => ({
    id: node.id,
    kind: kindOf(node),
    after: plan.edges.filter((edge) => edge.to === node.id).map((edge) => edge.from),
    when: (node.when ?? []).map(conditionText),
    ...courseOf(plan, node),
    ...(node.kind === 'agent' ? agentDescription(node, known) : {}),
    ...(node.kind === 'task' && node.tool !== undefined ? { calls: toolText(node.tool) } : {}),
    ...(node.kind === 'ask' ? { question: previewOf(node.question, known) } : {}),
    ...judged(node, known),
    ...budgetsOf(node),
    ...securitiesOf(node),
    ...present({ endorsement: node.endorse && endorsedText(node.endorse) }),
    ...innerSteps(node, known),
  }));
}

function judged({ supervise }: PlanNode, known: Known): Partial<StepDescription> {
  if (supervise === undefined) return {};
  const { instruction, ...supervision } = supervise;
  const promised = instruction === undefined ? {} : { instruction: previewOf(instruction, known) };
  return { supervision: { ...supervision, ...promised, text: supervisedText(supervise) } };
}

function budgetsOf(node: PlanNode): Partial<StepDescription> {
  const budgets = [node.budget ?? [], 'plan' in node ? (node.plan.budget ?? []) : []].flat();
  return budgets.length === 0 ? {} : { budgets: budgets.map(budgeted) };
}

function securitiesOf(node: PlanNode): Partial<StepDescription> {
  const said = [node.security ?? [], 'plan' in node ? (node.plan.security ?? []) : []].flat();
  return said.length === 0 ? {} : { securities: said.map(secured) };
}

function secured(security: Security): SecurityDescription {
  return { ...security, text: securityText(security) };
}

function budgeted(budget: Budget): BudgetDescription {
  return { ...budget, text: budgetText(budget) };
}

/** The kind in the file's words. The steps of a block are a plan with the names around it; only a sequence's plan declares its start. */
function kindOf(node: PlanNode): string {
  const isBlock = node.kind === 'call' && traitsOf(node.plan.notation).inOrder === true && node.outputs === undefined;
  if (!isBlock) return node.kind;
  return node.plan.entry === undefined ? 'parallel' : 'sequence';
}

function courseOf(plan: Plan, node: PlanNode): Partial<StepDescription> {
  const ways = plan.routes.filter((route) => route.from === node.id).flatMap((route) => waysOf(plan, route));
  const target = jumpTarget(plan, node);
  return {
    ...(ways.length === 0 ? {} : { ways }),
    ...(target === undefined ? {} : { goto: target + oftenText(node) }),
    ...(node.kind === 'loop' ? { rounds: roundsText(node) } : {}),
  };
}

function waysOf(plan: Plan, { cases, otherwise }: Route): readonly Way[] {
  if (cases === undefined) return [];
  return [
    ...cases.map(({ when, to }) => ({ when: when.map(conditionText), to: placesOf(plan, to) })),
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

function innerSteps(node: PlanNode, known: Known): Partial<StepDescription> {
  if (!('plan' in node)) return {};
  // Another file has inputs of its own, whose values are known only when it is called.
  const isOther = node.kind !== 'map' && node.inputs !== undefined;
  const steps = stepsOf(node.plan, isOther ? new Map() : known);
  return { workflow: node.plan.name, steps };
}

function previewOf(template: Template, known: Known): string {
  return template.map((piece) => filled(piece, known) ?? templateText([piece])).join('');
}

function agentDescription(node: AgentNode, known: Known): Partial<StepDescription> {
  const { agent } = node;
  return present({
    agent: agent.name,
    servers: agent.mcpServers && Object.keys(agent.mcpServers),
    models: namedModels(agent.models),
    tools: agent.tools && [...agent.tools, ...(agent.functions ?? []).map(({ name }) => name)],
    checks: agent.checks?.map(({ kind }) => kind),
    system: previewOf(agent.instructions, known),
    prompt: previewOf(node.prompt, known),
  });
}
