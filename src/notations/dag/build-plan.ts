import type { SkillText, AgentSpec } from '../../plan/agent-spec.js';
import type { AgentNode, ChannelSpec, Edge, InputSpec, NodeBase, Plan, RetryPolicy } from '../../plan/plan.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Template } from '../../lang/values.js';
import { absolutePath } from '../../text/files.js';
import { present } from '../../base/json.js';
import type { Findings } from '../../text/findings.js';
import { supervisionFields, supervisionOf } from '../supervise-key.js';
import { buildConditions } from './conditions.js';
import { connectChoices, conversationChannel } from './choices.js';
import type { Definition, StepDef } from './definition.js';
import type { Agent } from './find-agents.js';
import { inputChannel, stepChannel } from './references.js';
import type { References } from './references.js';
import type { Workspace } from './workspace.js';

/** Everything that was found for a definition. */
export interface Parts {
  readonly definition: Definition;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly skills: ReadonlyMap<string, readonly SkillText[]>;
  readonly references: References;
  readonly workspace: Workspace;
  /** Inputs that are given; one that is not declared is an input when a text uses it. */
  readonly given: readonly string[];
  /** Of these, those that are inputs whether or not a text uses them. */
  readonly recorded: ReadonlySet<string>;
  /** Whether steps that don't say may ask the person. */
  readonly interactive: boolean;
}

const BACKOFF_MS = 500;

/**
 * The plan of a definition: an agent node for each step, whose output is the channel `steps.ID.output`. All references are
 * resolved and checked on the way. With findings that are errors the plan must not be used.
 */
export function buildPlan(parts: Parts, findings: Findings): Plan {
  const { definition, references } = parts;
  const nodes: AgentNode[] = [];
  const edges: Edge[] = [];
  const choices = connectChoices(definition.steps, references.graph, findings);
  for (const step of definition.steps) {
    const join = choices.chosen.has(step.id) ? {} : { join: 'settled' as const };
    nodes.push({ ...buildNode(step, parts, findings), ...join, ...present({ choice: choices.choiceOf(step) }) });
    for (const from of references.graph.dependsOn(step.id)) edges.push({ from, to: step.id });
  }
  const inputs = buildInputs(parts);
  const channels: ChannelSpec[] = [
    ...inputs.map((input) => input.channel),
    ...nodes.map((node) => stepChannel(node.id)),
  ].map((name) => ({ name }));
  const talks = new Set(nodes.flatMap(({ conversation }) => conversation?.channel ?? []));
  channels.push(...[...talks].map((name) => ({ name, reducer: 'extend' as const })));
  const { concurrency } = definition.config;
  return present({
    format: 1 as const,
    name: definition.name,
    description: definition.description,
    notation: 'dag',
    inputs,
    channels,
    nodes,
    edges: choices.without(edges),
    routes: choices.routes,
    limits: concurrency === undefined ? undefined : { concurrency },
  });
}

function buildInputs(parts: Parts): readonly InputSpec[] {
  const { usedInputs } = parts.references;
  const declared = parts.definition.inputs.map((input): InputSpec => {
    const { name, description, at } = input;
    const required = input.default === undefined && usedInputs.has(name);
    return present({ channel: inputChannel(name), name, description, required, default: input.default, at });
  });
  const names = new Set(declared.map((input) => input.name));
  const isInput = (name: string): boolean => usedInputs.has(name) || parts.recorded.has(name);
  const extra = new Set(parts.given.filter((name) => !names.has(name) && isInput(name)));
  return [...declared, ...[...extra].map((name) => ({ channel: inputChannel(name), name, required: false }))];
}

function buildNode(step: StepDef, parts: Parts, findings: Findings): AgentNode {
  const { definition, references } = parts;
  const truncate = definition.config.truncate ?? definition.output.truncate;
  const channel = stepChannel(step.id);
  return present({
    kind: 'agent' as const,
    id: step.id,
    writes: [channel],
    output: channel,
    when: notEmpty(buildConditions(step, references, findings)),
    retry: retryPolicy(step),
    timeoutMs: step.timeoutMs,
    onError: onError(step),
    at: step.at,
    agent: buildAgent(step, parts),
    prompt: step.prompt === undefined ? [] : references.template(step.prompt, step, { truncate }),
    conversation: conversationOf(step),
    ...supervisionFields(supervisionOf(step, definition.supervise, findings), {
      template: (text) => references.template(text, step, { truncate }),
    }),
  });
}

function conversationOf({ conversation, keys }: StepDef): AgentNode['conversation'] {
  if (conversation === undefined) return undefined;
  const afresh = keys.afresh === true ? { afresh: true as const } : {};
  return { ...present({ channel: conversationChannel(conversation.text), recent: keys.recent }), ...afresh };
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

/** `on_error: retry` repeats whatever failed, once unless told otherwise; `retry_count` alone only what may go better next time. */
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
  const { description, tools, approve, checks, mcpServers }: Partial<Agent> = agent ?? {};
  const extraDirs = step.extraDirs.map((dir) => absolutePath(dir.text, workspace.cwd, workspace.home));
  const interactive = step.keys.interactive ?? config.interactive ?? parts.interactive;
  return present({
    name: agent?.name ?? step.agent?.text ?? '',
    description,
    instructions: instructions(agent, step, parts),
    models: [...new Set([...step.models, ...(agent?.models ?? []), ...config.models])],
    tools,
    approve,
    checks,
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

/** An inline prompt may refer to what its step can see; the text of a file is taken as it is. */
function instructions(agent: Agent | undefined, step: StepDef, parts: Parts): Template {
  if (agent === undefined) return [];
  if (agent.prompt === undefined) return agent.body === '' ? [] : [agent.body];
  const { config, output } = parts.definition;
  const truncate = config.truncate ?? output.truncate;
  return parts.references.template(agent.prompt, step, { truncate, owner: `agent ${quoteShort(agent.name)}` });
}
