import { present } from '../../base/json.js';
import type { Template } from '../../lang/values.js';
import type { AgentSpec } from '../../plan/agent-spec.js';
import type { TreeOverride } from './definition.js';

/** What a step has: what is around it, with its own on top. System contexts add up; tools and functions replace those around together. */
export function mergeOverride(around: TreeOverride, own: TreeOverride | undefined): TreeOverride {
  if (own === undefined) return around;
  const { tools, functions, ...rest } = around;
  const hasTools = own.tools !== undefined || own.functions !== undefined;
  const contexts = [around.systemContext, own.systemContext].flatMap((text) => {
    const said = text?.trim() ?? '';
    return said === '' ? [] : [said];
  });
  return {
    ...rest,
    ...(hasTools ? {} : present({ tools, functions })),
    ...present(own),
    ...(contexts.length === 0 ? {} : { systemContext: contexts.join('\n\n') }),
  };
}

/** An agent with a system prompt of its own and what is customized. Tools of MCP servers come in addition to those that are named. */
export function agentSpec(name: string, instructions: Template, override: TreeOverride): AgentSpec {
  const { model, tools = [], functions = [], mcpServers = {}, systemContext, ...rest } = override;
  const served = Object.keys(mcpServers).map((server) => `${server}/*`);
  return present({
    ...rest,
    name,
    instructions: systemContext === undefined ? instructions : [...instructions, `\n\n${systemContext}`],
    models: model === undefined ? [] : [model],
    tools: [...tools, ...served.filter((each) => !tools.includes(each))],
    functions: functions.length === 0 ? undefined : functions,
    mcpServers: served.length === 0 ? undefined : mcpServers,
  });
}
