import { checkOptions, type OptionForms } from '../../base/options.js';
import type { JsonObject } from '../../base/json.js';
import { sha256 } from '../../base/hash.js';
import { agentNode, checkAgent } from '../../notations/graph/nodes/agent-node.js';
import { callAgent, type AnyAgent } from '../../notations/graph/nodes/call-agent.js';
import { plannedOf } from '../../notations/graph/nodes/planned.js';
import type { CallBounds } from '../../plan/agent-spec.js';
import { estimateCalls } from '../../plan/envelope.js';
import { madeOf, partsOf, sourceText } from '../../plan/made-of.js';
import { placeOf } from '../../plan/tool-use.js';
import type { ToolDefinition, ToolStep } from '../../notations/graph/nodes/tool.js';
import { chainOf } from './planned-agent.js';

/** Options of {@link agentAsTool}. */
export interface AgentToolOptions {
  /** The name that the model sees: letters, digits, `_`, `-`, at most 64. */
  readonly name: string;
  /** What the agent does, and what its task should contain. */
  readonly description: string;
  /** Name of its only argument. Default `task`. */
  readonly param?: string;
  /** How a crash during its work is treated. Default `idempotent`: the agent receives the task again. */
  readonly effect?: 'read' | 'idempotent' | 'once';
}

export const AGENT_TOOL_OPTIONS: OptionForms<AgentToolOptions> = {
  name: 'text',
  description: 'text',
  param: 'text',
  effect: 'text',
};

/**
 * Makes an agent a tool of another agent. The tool accepts one text, the task, and returns the agent's answer. If the agent fails, the
 * other agent receives an error result. The agent's events are reported under the tool's name, each call with its own parent.
 *
 * @throws SkeinError `SKEIN_USAGE` for options that do not exist
 * @example
 * const lead = agent({
 *   name: 'lead',
 *   tools: [agentAsTool(poet, { name: 'poet', description: 'Writes a line about a subject.', param: 'subject' })],
 * });
 */
export function agentAsTool(agent: AnyAgent, options: AgentToolOptions): ToolDefinition<never, Promise<string>> {
  checkOptions<AgentToolOptions>('agentAsTool', options, AGENT_TOOL_OPTIONS);
  if (plannedOf(agent) === undefined) checkAgent(agent, 'agentAsTool');
  const { name, description, param = 'task', effect = 'idempotent' } = options;
  const execute = (input: Readonly<Record<string, unknown>>, step: ToolStep): Promise<string> => {
    const parentEventId = sha256(placeOf(step)).slice(0, 32);
    const emit = (event: JsonObject): void => step.emit(labelled(event, name, parentEventId));
    // A call that is repeated after a crash reports the same events under the same ids.
    const runOptions = { ...step.runOptions, runId: parentEventId };
    const call = { by: `the tool "${name}"`, signal: step.signal, emit, options: runOptions };
    return callAgent(agent, String(input[param]), call);
  };
  return {
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: { [param]: { type: 'string', description: 'What the agent is to do.' } },
      required: [param],
      additionalProperties: false,
    },
    effect,
    coerce: false,
    // The step hears what influenced the run of such an agent: its answer adds nothing to that.
    ...(plannedOf(agent) === undefined ? {} : { calls: costOf(agent), trust: 'trusted' }),
    execute: madeOf(execute, sourcesOf(agent)),
  };
}

function costOf(agent: AnyAgent): CallBounds {
  return estimateCalls(chainOf({ name: 'cost', inputs: [], nodes: [agentNode(agent).build('agent')] }).plan);
}

/** Returns what determines the agent's behaviour, as far as it is visible. */
function sourcesOf(agent: AnyAgent): readonly unknown[] {
  const planned = plannedOf(agent);
  if (planned === undefined) return partsOf(agent, ['run', 'stream']);
  const bound = planned.kind === 'agent' ? { ...planned.checks, ...planned.tools } : planned.bindings;
  const functions = Object.values(bound).map(sourceText);
  return [JSON.stringify(planned.kind === 'agent' ? planned.spec : planned.plan), ...functions];
}

/** Events from deeper levels keep their own source and parent. */
function labelled(event: JsonObject, source: string, parentEventId: string): JsonObject {
  return { ...event, source: event['source'] ?? source, parentEventId: event['parentEventId'] ?? parentEventId };
}
