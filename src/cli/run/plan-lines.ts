import { printable } from '../view/printable.js';
import type { Style } from '../view/style.js';
import type { PlanDescription, StepDescription } from './plan-report.js';
import { powerLines } from './workflow-powers.js';

/** Formats a description for people, with the lines about its cost. `inOrder`: the steps are listed in the order in which they run. */
export function planLines(
  plan: PlanDescription,
  style: Style,
  { inOrder, cost }: { readonly inOrder: boolean; readonly cost: readonly string[] },
): readonly string[] {
  return [
    `${style.bold(printable(plan.workflow))}${plan.description === undefined ? '' : `: ${printable(plan.description)}`}`,
    ...inputLines(plan, style),
    ...(inOrder ? listedCourse(plan, style) : levelLines(plan, style)),
    '',
    ...callLines('model calls', plan.modelCalls),
    ...callLines('  of these for supervision', plan.supervisionCalls),
    ...callLines('  of these for security', plan.securityCalls),
    ...cost,
    ...callLines('tool calls', plan.toolCalls),
    ...(plan.budget === undefined ? [] : [`budget: ${plan.budget.text}`]),
    ...(plan.security === undefined ? [] : [`security: ${plan.security.text}`]),
    ...(plan.concurrency === undefined ? [] : [`steps at once: ${plan.concurrency}`]),
    ...questionLines(plan.questions),
    ...powerLines(plan.powers),
  ];
}

function callLines(what: string, calls: PlanDescription['toolCalls'] | undefined): readonly string[] {
  return calls === undefined ? [] : [`${what}: ${calls.typical} typically, ${calls.worst} at most`];
}

/** The number of questions, or the steps that may ask: the behaviour of models is unknown. */
function questionLines({ steps, calls, count }: PlanDescription['questions']): readonly string[] {
  if (count !== undefined && count === 0) return ['questions to a person: none'];
  const ways = [
    ...steps.map(({ step, what }) => `${step} ${what}${what === 'asks' ? '' : ' by a person'}`),
    ...calls.map(({ step, tool, which, declare }) => {
      const how = declare === undefined ? '' : `; to declare them: ${declare}`;
      return `${step} may call ${tool}: calls ${which} ask${how}`;
    }),
  ];
  const number = count ?? 'not known before the run';
  return [`questions to a person: ${number}`, ...ways.map((way) => `  ${printable(way)}`)];
}

/** A file whose steps run in order is read from top to bottom. */
function listedCourse({ steps }: PlanDescription, style: Style): readonly string[] {
  const place = { path: '', style, indent: '  ', inOrder: true };
  return ['', style.accent('steps, one after the other'), ...listedSteps(steps, place)];
}

/** In other files a step starts as soon as its inputs are ready. */
function levelLines({ levels, steps }: PlanDescription, style: Style): readonly string[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  return levels.flatMap((ids, at) => [
    '',
    style.accent(`level ${at + 1}`) + (ids.length > 1 ? style.dim(' (may run in parallel)') : ''),
    ...ids.flatMap((id) => {
      const step = byId.get(id);
      return step === undefined ? [] : stepLines(step, { path: '', style, indent: '  ', inOrder: false });
    }),
  ]);
}

function inputLines(plan: PlanDescription, style: Style): readonly string[] {
  return plan.inputs.map(({ name, description, required, given }) => {
    const state = given ? 'given' : required ? style.warn('required, not given') : 'optional';
    return `input ${printable(name)}: ${state}${description === undefined ? '' : ` (${printable(description)})`}`;
  });
}

interface Place {
  /** The path of the step that contains the steps. */
  readonly path: string;
  readonly style: Style;
  readonly indent: string;
  /** True if the steps are listed in the order in which they run. */
  readonly inOrder: boolean;
}

/** Jumps at the start of a branch are shown with the decision. */
function listedSteps(steps: readonly StepDescription[], place: Place): readonly string[] {
  const told = steps.filter(({ goto, after }) => goto === undefined || after.length > 0);
  return told.flatMap((step) => stepLines(step, place));
}

function stepLines(step: StepDescription, place: Place): readonly string[] {
  const { style, indent, inOrder } = place;
  const path = place.path + step.id;
  const inner = { path: `${path}/`, style, indent: `${indent}  `, inOrder };
  return [
    `${indent}${style.bold(printable(path))} ${style.dim(`(${factsOf(step).map(printable).join('; ')})`)}`,
    ...[
      ...(inOrder || step.after.length === 0 ? [] : [`after ${step.after.join(', ')}`]),
      ...step.when.map((condition) => `only if ${condition}`),
      ...(step.ways ?? []).map(
        ({ when, to }) => `${when === undefined ? 'otherwise' : `if ${when.join(' and ')}`}: ${to}`,
      ),
      ...(step.goto === undefined ? [] : [`goto ${step.goto}`]),
      ...(step.rounds === undefined ? [] : [step.rounds]),
      ...(step.supervision === undefined ? [] : [step.supervision.text]),
      ...(step.budgets ?? []).map(({ text }) => `budget: ${text}`),
      ...(step.endorsement === undefined ? [] : [step.endorsement]),
      ...(step.securities ?? []).map(({ text }) => `security: ${text}`),
    ].map((line) => `${indent}  ${printable(line)}`),
    ...block('system prompt', step.system, inner),
    ...block('prompt', step.prompt, inner),
    ...block('question', step.question, inner),
    ...block('promises', step.supervision?.instruction, inner),
    ...listedSteps(step.steps ?? [], inner),
  ];
}

function block(title: string, text: string | undefined, { style, indent }: Place): readonly string[] {
  if (text === undefined || text.trim() === '') return [];
  const lines = printable(text.trimEnd()).split('\n');
  return [`${indent}${title}:`, ...lines.map((line) => `${indent}  ${style.dim(style.signs.bar)} ${line}`)];
}

/** The kind of a step, and for an agent its models and tools. */
function factsOf(step: StepDescription): readonly string[] {
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
