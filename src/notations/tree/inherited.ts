import type { SupervisionMode, TreeFindings, TreeNode, TreeOverride, TreePlace, TreeWorkflow } from './definition.js';
import { childrenOf, partOf, within } from './definition.js';
import { present } from '../../base/json.js';
import type { Template } from '../../lang/values.js';
import type { AgentSpec } from '../../plan/agent-spec.js';

/** How a node is supervised, by what it says itself and what stands around it. A person's gate holds for everything below it. */
export function modeOf(node: TreeNode, around: SupervisionMode): SupervisionMode {
  return around === 'human' ? 'human' : (ownMode(node) ?? around);
}

function ownMode(node: TreeNode): SupervisionMode | undefined {
  return node.kind === 'agent' ? undefined : node.supervision;
}

/** Nothing below a person's gate can remove it. */
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

/** The modes of all steps that are supervised by themselves: those of sequences, and goals and convergences at any depth. */
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
