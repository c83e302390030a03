import type { SkillText, AgentSpec } from '../../plan/agent-spec.js';
import type { AgentNode, AskNode, InputSpec, NodeBase, Plan, PlanNode, RetryPolicy } from '../../plan/plan.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Template, Truncate } from '../../lang/values.js';
import { RUN_CHANNELS } from '../../plan/endings.js';
import { absolutePath } from '../../text/files.js';
import { present } from '../../base/json.js';
import type { Findings } from '../../text/findings.js';
import { securityFrom } from '../security-key.js';
import { supervisionFields, supervisionOf, supervisionOfWhole, type SuperviseDef } from '../supervise-key.js';
import { toolNode, type ToolDef } from '../tool-steps.js';
import { valuesOf, type ValuesDef } from '../values-key.js';
import { buildConditions } from './conditions.js';
import type { AskDef } from '../ask-keys.js';
import { callNode, type CalledPlans } from './calls.js';
import { connectChoices } from './choices.js';
import { endNode, reportUnreachable } from './ends.js';
import { channelsOf, loopNode, mapNode } from './loops.js';
import { endingChannel, innerSteps, stepChannel, type Definition, type StepDef } from './definition.js';
import { lastFields, lastNode } from './last-steps.js';
import type { Agent } from './find-agents.js';
import { inputChannel, inputSpec } from '../inputs-key.js';
import type { References } from './references.js';
import type { Workspace } from '../opened-file.js';

export interface Parts {
  readonly definition: Definition;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly skills: ReadonlyMap<string, readonly SkillText[]>;
  readonly references: References;
  readonly plans: CalledPlans;
  readonly workspace: Workspace;
  /** Names of the given inputs. An undeclared one is an input if a text uses it. */
  readonly given: readonly string[];
  /** The given names that are inputs even if no text uses them. */
  readonly recorded: ReadonlySet<string>;
  /** The default for whether steps may ask the person. */
  readonly interactive: boolean;
}

const BACKOFF_MS = 500;

/** Builds the plan of a definition: a node for each step, with the channel `steps.ID.output`. Unusable if there are errors. */
export function buildPlan(parts: Parts, findings: Findings): Plan {
  const { definition } = parts;
  const around = { parts, supervise: definition.supervise, findings };
  const steps = definition.steps.filter(({ last }) => last === undefined);
  const course = buildCourse(steps, around);
  const closing = definition.steps.find(({ last }) => last !== undefined);
  const last = closing && lastNode(closing, buildCourse(innerSteps(closing) ?? [], around), parts.references);
  const nodes = last === undefined ? course.nodes : [...course.nodes, last];
  const values = buildValues(parts);
  const inputs = buildInputs(parts);
  const { concurrency } = definition.config;
  return present({
    format: 1 as const,
    name: definition.name,
    description: definition.description,
    notation: 'dag',
    inputs,
    channels: [...channelsOf(inputs, nodes), ...(last === undefined ? [] : RUN_CHANNELS.map((name) => ({ name })))],
    ...course,
    nodes,
    ...lastFields(last),
    values,
    limits: concurrency === undefined ? undefined : { concurrency },
    budget: definition.budget,
    security: securityFrom(definition.security),
    ...definition.declared,
  });
}

interface Around {
  readonly parts: Parts;
  readonly supervise: SuperviseDef | undefined;
  readonly findings: Findings;
}

function buildCourse(steps: readonly StepDef[], around: Around): Pick<Plan, 'nodes' | 'edges' | 'routes'> {
  const { parts, findings } = around;
  const { graph } = parts.references;
  const choices = connectChoices(steps, graph, findings);
  reportUnreachable(steps, { graph, chosen: choices.chosen }, findings);
  const nodes = steps.map((step): PlanNode => {
    const join = choices.chosen.has(step.id) ? {} : { join: 'settled' as const };
    return { ...buildStep(step, around), ...join, ...present({ choice: choices.choiceOf(step) }) };
  });
  const edges = steps.flatMap(({ id: to }) => graph.dependsOn(to).map((from) => ({ from, to })));
  return { nodes, edges: choices.without(edges), routes: choices.routes };
}

function buildStep(step: StepDef, around: Around): PlanNode {
  const { references } = around.parts;
  if (step.loop !== undefined || step.map !== undefined || step.call !== undefined) return buildWhole(step, around);
  if (step.end !== undefined) return endNode(step, step.end, references, around.findings);
  if (step.set !== undefined) return setNode(step, step.set, around);
  if (step.tool !== undefined) return buildCall(step, step.tool, around);
  if (step.wait !== undefined) return { ...policies(step, around), kind: 'wait', ...step.wait };
  return step.ask === undefined ? buildNode(step, around) : askNode(step, step.ask, around);
}

function setNode(step: StepDef, values: ValuesDef, around: Around): PlanNode {
  const { references } = around.parts;
  return {
    ...policies(step, around),
    kind: 'set',
    writes: [stepChannel(step.id)],
    values: valuesOf(values, (text) => references.template(text, step)),
  };
}

/** Builds a step without a model. Inserted values are not truncated, because no model reads them. */
function buildCall(step: StepDef, tool: ToolDef, around: Around): PlanNode {
  const { references, definition } = around.parts;
  const parts = { servers: definition.mcpServers, findings: around.findings };
  return {
    ...policies(step, around),
    writes: [stepChannel(step.id)],
    ...toolNode(tool, step.timeoutMs, { ...parts, template: (text) => references.template(text, step) }),
  };
}

/** Builds the node of a step that contains others: a loop, a map, a file. */
function buildWhole(step: StepDef, around: Around): PlanNode {
  const { parts, findings } = around;
  const { references } = parts;
  const said = supervisionOfWhole(step, around.supervise, findings);
  const supervise = step.supervise?.mode === 'nobody' ? step.supervise : around.supervise;
  const base = {
    ...policies(step, around),
    ...supervisionFields(said, { template: (text) => references.template(text, step, promptSettings(parts)) }),
  };
  const { call, map } = step;
  if (call !== undefined) return callNode(step, { call, base, plans: parts.plans, supervise, references }, findings);
  const course = buildCourse(innerSteps(step) ?? [], { ...around, supervise });
  if (map !== undefined) return mapNode(step, { map, base, course, references }, findings);
  return loopNode(step, { base, course, references }, findings);
}

function askNode(step: StepDef, ask: AskDef, around: Around): AskNode {
  const { question, choices, choicesFrom, schema, expiresMs, expireAnswer } = ask;
  const { references } = around.parts;
  return present({
    ...policies(step, around),
    kind: 'ask' as const,
    question: question === undefined ? [] : references.template(question, step, promptSettings(around.parts)),
    choices,
    choicesFrom: choicesFrom && references.named(choicesFrom, step, 'choices'),
    schema,
    expiresMs,
    onExpire: expireAnswer === undefined ? undefined : { answer: expireAnswer },
  });
}

/** Builds the values of the file, read at the point after all steps. */
function buildValues({ definition, references }: Parts): Plan['values'] {
  const { end } = references.graph;
  const { values } = definition.output;
  if (values === undefined || end === undefined) return undefined;
  return valuesOf(values, (scalar) => references.template(scalar, end));
}

function buildInputs(parts: Parts): readonly InputSpec[] {
  const { usedInputs } = parts.references;
  const declared = parts.definition.inputs.map((input) => inputSpec(input, usedInputs.has(input.name)));
  const names = new Set(declared.map((input) => input.name));
  const isInput = (name: string): boolean => usedInputs.has(name) || parts.recorded.has(name);
  const extra = new Set(parts.given.filter((name) => !names.has(name) && isInput(name)));
  return [...declared, ...[...extra].map((name) => ({ channel: inputChannel(name), name, required: false }))];
}

function buildNode(step: StepDef, around: Around): AgentNode {
  const { parts, supervise, findings } = around;
  const { references } = parts;
  const options = promptSettings(parts);
  return {
    kind: 'agent' as const,
    ...policies(step, around),
    writes: [stepChannel(step.id)],
    agent: buildAgent(step, parts),
    prompt: step.prompt === undefined ? [] : references.template(step.prompt, step, options),
    ...present({ conversation: step.conversation }),
    ...supervisionFields(supervisionOf(step, supervise, findings), {
      template: (text) => references.template(text, step, options),
    }),
  };
}

/** Returns how values inserted into prompts are truncated. */
function promptSettings({ definition: { config, output } }: Parts): { readonly truncate: Truncate | undefined } {
  return { truncate: config.truncate ?? output.truncate };
}

function policies(step: StepDef, { parts, findings }: Around): NodeBase {
  return present({
    id: step.id,
    output: parts.references.graph.hasOutput(step.id) ? stepChannel(step.id) : undefined,
    when: notEmpty(buildConditions(step, parts.references, findings)),
    retry: retryPolicy(step),
    timeoutMs: step.timeoutMs,
    budget: step.budget,
    security: securityFrom(step.security),
    endorse: step.keys.endorse,
    onError: onError(step),
    ending: parts.references.tells.has(step.id) ? endingChannel(step.id) : undefined,
    at: step.at,
  });
}

function onError({ keys }: StepDef): NodeBase['onError'] & string {
  switch (keys.on_error) {
    case undefined:
    case 'fail':
    case 'retry':
      return 'fail';
    case 'continue':
      return 'continue';
    case 'skip':
      return 'skipDependents';
  }
}

/** Returns the retry policy: `on_error: retry` covers any failure, once by default; `retry_count` alone only temporary ones. */
function retryPolicy({ keys }: StepDef): RetryPolicy | undefined {
  const always = keys.on_error === 'retry';
  const retries = keys.retry_count ?? (always ? 1 : 0);
  if (retries === 0) return undefined;
  return { retries, backoff: 'linear', delayMs: BACKOFF_MS, ...(always ? { on: 'any' } : {}) };
}

function buildAgent(step: StepDef, parts: Parts): AgentSpec {
  const { definition, workspace } = parts;
  const { config } = definition;
  const agent = parts.agents.get(step.agent?.text ?? '');
  const { description, tools, approve, checks, cache, sandbox, maxTokens, mcpServers }: Partial<Agent> = agent ?? {};
  const extraDirs = step.extraDirs.map((dir) => absolutePath(dir.text, workspace.cwd, workspace.home));
  const interactive = step.keys.interactive ?? config.interactive ?? parts.interactive;
  return present({
    name: agent?.name ?? step.agent?.text ?? '',
    description,
    instructions: instructions(agent, step, parts),
    models: [...new Set([...step.models, ...(agent?.models ?? []), ...config.models])],
    tools,
    approve,
    output: step.schema === undefined ? undefined : { schema: step.schema },
    checks,
    cache,
    sandbox,
    settings: maxTokens === undefined ? undefined : { maxOutputTokens: maxTokens },
    mcpServers,
    skills: notEmpty(parts.skills.get(step.id) ?? []),
    extraDirs: notEmpty(extraDirs),
    interactive: interactive || undefined,
    memory: config.memory === undefined ? undefined : { inject: config.memory.inject },
    provider: config.provider,
  });
}

function notEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** Returns the instructions of an agent. An inline prompt may hold references; the text of a file is used verbatim. */
function instructions(agent: Agent | undefined, step: StepDef, parts: Parts): Template {
  if (agent === undefined) return [];
  if (agent.prompt === undefined) return agent.body === '' ? [] : [agent.body];
  const owner = `agent ${quoteShort(agent.name)}`;
  return parts.references.template(agent.prompt, step, { ...promptSettings(parts), owner });
}
