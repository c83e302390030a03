import { formatProblem } from '../../../src/base/problem.js';
import type { AgentDef } from '../../../src/notations/pipeline/definition.js';
import { FILE } from '../../../src/notations/pipeline/keys.js';
import { readAgents } from '../../../src/notations/pipeline/agents/read-agents.js';
import { readSupported } from '../../../src/text/unsupported.js';
import { createFindings, sortProblems } from '../../../src/text/findings.js';
import { parseYaml } from '../../../src/text/yaml.js';

/** The agents of a file, and what was found, as `line:column severity code: message (hint)`. */
export interface ReadAgents {
  readonly agents: ReadonlyMap<string, AgentDef>;
  readonly problems: readonly string[];
}

/** Reads the sections of agents from a text. */
export function agentsOf(text: string, options: { readonly lenient?: boolean } = {}): ReadAgents {
  const findings = createFindings(options);
  const { root, problems } = parseYaml(text, 'team.yaml');
  findings.add(problems);
  const fields = root === undefined ? undefined : readSupported(root, '', FILE, findings);
  const agents = fields === undefined ? new Map<string, AgentDef>() : readAgents(fields).agents;
  const shown = sortProblems(findings.list).map((problem) =>
    formatProblem(problem)
      .replace(/^team\.yaml:/, '')
      .replace(/\n +hint: (.*)$/s, ' ($1)'),
  );
  return { agents, problems: shown };
}

/** The agent of a text with one, in which nothing is wrong. */
export function agentOf(text: string): AgentDef['spec'] {
  const { agents, problems } = agentsOf(text);
  const [agent] = agents.values();
  if (agent === undefined || problems.length > 0) throw new Error(problems.join('\n'));
  return agent.spec;
}
