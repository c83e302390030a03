import { present } from '../base/json.js';
import type { AgentSpec } from '../plan/agent-spec.js';

/**
 * An agent as it is for a model, which is named with or without its provider.
 *
 * @example
 * forModel(spec, 'openai/gpt-5-mini').instructions;
 */
export function forModel(spec: AgentSpec, model: string | undefined): AgentSpec {
  const { forModels = {} } = spec;
  const name = model?.toLowerCase() ?? '';
  const bare = name.slice(name.indexOf('/') + 1);
  const changes = [name, bare].map((one) => Object.entries(forModels).find(([key]) => key.toLowerCase() === one)?.[1]);
  return { ...spec, ...present(changes.find((one) => one !== undefined) ?? {}) };
}
