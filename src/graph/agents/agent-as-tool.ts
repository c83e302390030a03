import type { JsonObject } from '../../base/json.js';
import { sha256 } from '../../base/hash.js';
import { agentNode } from '../../notations/graph/nodes/agent-node.js';
import { callAgent } from '../../notations/graph/nodes/call-agent.js';
import type { AnyAgent } from '../../notations/graph/nodes/call-agent.js';
import { plannedOf } from '../../notations/graph/nodes/planned.js';
import type { CallBounds } from '../../plan/agent-spec.js';
import { estimateCalls } from '../../plan/envelope.js';
import { madeOf, partsOf, sourceText } from '../../plan/made-of.js';
import type { ToolDefinition, ToolStep } from '../../notations/graph/nodes/tool.js';
import { chainOf } from './planned-agent.js';

/** How an agent is offered as a tool. */
export interface AgentToolOptions {
  /** What the model sees: letters, digits, `_`, `-`, at most 64. */
  readonly name: string;
  /** What the agent is good for, and what to tell it. */
  readonly description: string;
  /** Name of its one argument. Default `task`. */
  readonly param?: string;
  /** How a crash in the middle of its work is treated. Default `idempotent`: it is given the task again. */
  readonly effect?: 'read' | 'idempotent' | 'once';
}

/**
 * An agent as a tool of another: it takes one text, the task, and gives its answer. A failed agent is an error result, which the other agent
 * gets to see. What it tells is reported under the name of the tool, each call with a parent of its own.
 *
 * @example
 * const lead = agent({
 *   name: 'lead',
 *   tools: [agentAsTool(poet, { name: 'poet', description: 'Writes a line about a subject.', param: 'subject' })],
 * });
 */
export function agentAsTool(agent: AnyAgent, options: AgentToolOptions): ToolDefinition<never, Promise<string>> {
  const { name, description, param = 'task', effect = 'idempotent' } = options;
  const execute = (input: Readonly<Record<string, unknown>>, step: ToolStep): Promise<string> => {
    const parentEventId = sha256(step.idempotencyKey).slice(0, 32);
    const emit = (event: JsonObject): void => step.emit(labelled(event, name, parentEventId));
    // A call that is made again after a crash tells the same under the same ids.
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
    ...(plannedOf(agent) === undefined ? {} : { calls: costOf(agent) }),
    execute: madeOf(execute, sourcesOf(agent)),
  };
}

/** What one task can cost. */
function costOf(agent: AnyAgent): CallBounds {
  return estimateCalls(chainOf({ name: 'cost', inputs: [], nodes: [agentNode(agent).build('agent')] }).plan);
}

/** What decides what an agent does, as far as it can be seen. */
function sourcesOf(agent: AnyAgent): readonly unknown[] {
  const planned = plannedOf(agent);
  if (planned === undefined) return partsOf(agent, ['run', 'stream']);
  const bound = planned.kind === 'agent' ? { ...planned.checks, ...planned.tools } : planned.bindings;
  const functions = Object.values(bound).map(sourceText);
  return [JSON.stringify(planned.kind === 'agent' ? planned.spec : planned.plan), ...functions];
}

/** What happens deeper inside keeps its own source and parent. */
function labelled(event: JsonObject, source: string, parentEventId: string): JsonObject {
  return { ...event, source: event['source'] ?? source, parentEventId: event['parentEventId'] ?? parentEventId };
}
