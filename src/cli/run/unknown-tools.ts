import type { Problem } from '../../base/problem.js';
import { didYouMean } from '../../base/suggest.js';
import type { Plan } from '../../plan/plan.js';

/** Names of tools that nothing answers to (`unknown-tools`): a run warns of them when the agent starts. */
export async function unknownTools(plan: Plan | undefined): Promise<readonly Problem[]> {
  if (plan === undefined) return [];
  const { BUILT_IN_TOOLS, agentsOf, selectTools } = await import('../../plan.js');
  const problems = new Map<string, Problem>();
  for (const { node } of agentsOf(plan)) {
    const { name, tools, mcpServers } = node.agent;
    const { unknown } = selectTools(tools, Object.keys(mcpServers ?? {}));
    if (unknown.length === 0 || problems.has(name)) continue;
    const near = didYouMean(unknown[0] ?? '', BUILT_IN_TOOLS);
    const names = unknown.map((tool) => JSON.stringify(tool)).join(', ');
    problems.set(name, {
      code: 'unknown-tools',
      severity: 'warning',
      message: `agent ${name}: Skein has no tool for ${names}; the agent runs without it`,
      ...(node.at === undefined ? {} : { at: node.at }),
      hint: near ?? 'name a built-in tool, or SERVER/TOOL of one of its MCP servers',
    });
  }
  return [...problems.values()];
}
