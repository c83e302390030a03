import { digestText } from '../../base/hash.js';
import { recordText } from '../../base/json.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { Message, ToolCall, ToolSpec } from '../model.js';

/** The digest of an empty tool list, which most agents of a pipeline have. */
let noSpecs: string | undefined;

/** Digest of what a model sees of tools. */
export function specsDigest(tools: readonly ToolSpec[]): string {
  if (tools.length === 0) return (noSpecs ??= digestText(recordText([])));
  return digestText(recordText(tools.map(({ name, description, inputSchema }) => [name, description, inputSchema])));
}

/** The key for the provider's cache, shared by requests with the same beginning. */
export function cacheKey(agent: string, tools: readonly ToolSpec[], first: Message | undefined): string {
  const system = first?.role === 'system' ? first.text : '';
  return `skein-${digestText(recordText([agent, specsDigest(tools), system]))}`;
}

/** Digest of a tool call: the tool's name, the input as the model sent it, and the source of a function of the program. */
export function callDigest(call: ToolCall, code?: string): string {
  return digestText(recordText([call.name, call.input, ...(code === undefined ? [] : [code])]));
}

/** The idempotency key of a tool call of an agent: when an agent is tried again, another call may have the same place. */
export function callKey(key: string, call: ToolCall): string {
  return `${key}:${callDigest(call)}`;
}

/** Digest of what an answer depends on in addition to the model and the conversation; constant for a whole step. */
export function circumstances(spec: AgentSpec, tools: readonly string[]): string {
  const { provider, settings, output } = spec;
  const where = provider === undefined ? null : [provider.type, provider.baseUrl ?? null];
  return digestText(
    recordText([where, settings ?? null, output === undefined ? null : [output.name ?? null, output.schema], tools]),
  );
}
