import {
  childrenOf,
  partOf,
  within,
  type SupervisionMode,
  type TreeFindings,
  type TreeNode,
  type TreeOverride,
  type TreePlace,
  type TreeWorkflow,
} from './definition.js';
import { present } from '../../base/json.js';
import type { Template } from '../../lang/values.js';
import type { AgentSpec } from '../../plan/agent-spec.js';

/** Returns how a node is supervised, by its own mode and the surrounding one. A person's gate applies to everything below it. */
export function modeOf(node: TreeNode, around: SupervisionMode): SupervisionMode {
  return around === 'human' ? 'human' : (ownMode(node) ?? around);
}

function ownMode(node: TreeNode): SupervisionMode | undefined {
  return node.kind === 'agent' ? undefined : node.supervision;
}

/** Reports nodes that would remove a person's gate above them. */
export function checkModes(tree: TreeWorkflow, findings: TreeFindings): void {
  const look = (node: TreeNode, around: SupervisionMode, place: TreePlace): void => {
    const own = ownMode(node);
    if (around === 'human' && own !== undefined && own !== 'human') {
      const message = `${node.kind} ${node.name}: it stands under a person's gate, which nothing below can remove`;
      findings.error('human-gate', message, place, 'take its own supervision out, or the gate above it');
    }
    const mode = modeOf(node, around);
    for (const [at, child] of childrenOf(node).entries())
      look(child, mode, { at: child.at, path: within(place.path, partOf(node, at)) });
  };
  look(tree, 'off', { at: tree.at, path: '' });
}

/** Returns the modes of all steps that are supervised on their own: steps of sequences, and goals and convergences at any depth. */
export function modesUsed(tree: TreeWorkflow): ReadonlySet<SupervisionMode> {
  const used = new Set<SupervisionMode>();
  const look = (node: TreeNode, around: SupervisionMode, isTop: boolean): void => {
    const mode = modeOf(node, around);
    if (node.kind === 'goal' || node.kind === 'convergence' || (node.kind === 'agent' && isTop)) used.add(mode);
    for (const child of childrenOf(node)) look(child, mode, node.kind === 'sequence');
  };
  look(tree, 'off', false);
  return used;
}

/** Merges a step's override into the surrounding one. System contexts are concatenated; tools and functions are replaced together. */
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

/** Builds an agent with its own system prompt and overrides. Tools of MCP servers are added to the named tools. */
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
