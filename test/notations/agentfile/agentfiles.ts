import { loadWorkflow } from '../../../src/yaml.js';
import type { WorkflowOptions } from '../../../src/yaml.js';
import type { AgentSpec } from '../../../src/plan/agent-spec.js';
import { agentsOf } from '../../../src/plan/nodes.js';
import type { Workflow } from '../../../src/plan/workflow.js';
import { makeProject, planOf } from '../project.js';

/** Writes an Agentfile, and other files, into a new project and loads it. */
export async function loadAgentfile(
  text: string,
  files: Readonly<Record<string, string>> = {},
  options: Partial<WorkflowOptions> = {},
): Promise<Workflow> {
  const cwd = await makeProject({ ...files, Agentfile: text });
  return await loadWorkflow('Agentfile', { cwd, ...options });
}

/** What is wrong with an Agentfile: `line:column severity code: message (hint)`, without warnings about what it leaves out. */
export async function problemsIn(
  text: string,
  files: Readonly<Record<string, string>> = {},
  options: Partial<WorkflowOptions> = {},
): Promise<readonly string[]> {
  return told(await loadAgentfile(text, files, options));
}

/** The problems of a workflow, a line each. Problems of other files have their name in front. */
export function told({ problems }: Workflow): readonly string[] {
  return problems.map(({ code, severity, message, at, hint = '-' }) => {
    const file = at?.file === undefined || at.file === 'Agentfile' ? '' : `${at.file}:`;
    return `${file}${at?.line ?? '-'}:${at?.column ?? '-'} ${severity} ${code}: ${message} (${hint})`;
  });
}

/** The agents of a workflow that must have loaded, by the path of their nodes. */
export function agentsIn(workflow: Workflow): Readonly<Record<string, AgentSpec>> {
  return Object.fromEntries([...agentsOf(planOf(workflow))].map(({ node, path }) => [path, node.agent]));
}

/** The ids of the nodes of a plan, in order. */
export function stepsOf(workflow: Workflow): readonly string[] {
  return planOf(workflow).nodes.map(({ id }) => id);
}

/** An Agentfile with a name and one RUN, from its other lines. */
export function agentfile(lines: string, run = 'a'): string {
  return `NAME test\n${lines}\nRUN main USING ${run}\n`;
}
