import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Problem } from '../../src/base/problem.js';
import { onTestFinished } from 'vitest';
import { loadDag } from '../../src/yaml.js';
import type { WorkflowOptions } from '../../src/yaml.js';
import type { AgentNode, Plan } from '../../src/plan/plan.js';
import type { Workflow } from '../../src/plan/workflow.js';

/** A directory with files that is removed when the test has ended. */
export async function makeProject(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'skein-dag-')));
  onTestFinished(async () => {
    await rm(directory, { recursive: true, force: true });
  });
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return directory;
}

/** Writes a workflow, and other files, into a new project and loads it. */
export async function load(
  workflow: string,
  files: Readonly<Record<string, string>> = {},
  options: Partial<WorkflowOptions> = {},
): Promise<Workflow> {
  const cwd = await makeProject({ ...files, 'flow.yaml': workflow });
  return await loadDag('flow.yaml', { cwd, ...options });
}

/** Problems as `line:column severity code`. */
export function brief(problems: readonly Problem[]): readonly string[] {
  return problems.map((problem) => {
    const place = problem.at === undefined ? '-' : `${problem.at.line}:${problem.at.column}`;
    return `${place} ${problem.severity} ${problem.code}`;
  });
}

/** The plan of a workflow that must have loaded without errors. */
export function planOf(workflow: Workflow): Plan {
  if (workflow.plan === undefined) throw new Error(brief(workflow.problems).join('\n'));
  return workflow.plan;
}

/** A step's node. */
export function nodeOf(workflow: Workflow, id: string): AgentNode {
  const node = planOf(workflow).nodes.find((candidate) => candidate.id === id);
  if (node?.kind !== 'agent') throw new Error(`no agent node ${id}`);
  return node;
}

/** A workflow text with inline agent `a`, from the lines of its steps. */
export function flow(steps: string, head = ''): string {
  return `name: test\n${head}agents:\n  a: {inline: {prompt: You help.}}\nsteps:\n${steps}`;
}

/** Supervision of each node that has one, by its address; `nobody` for one that opts out. */
export function supervised(plan: Plan | undefined, path = ''): Record<string, unknown> {
  const all = (plan?.nodes ?? []).map((node): Record<string, unknown> => {
    const own = node.unsupervised === true ? 'nobody' : node.supervise;
    return {
      ...(own === undefined ? {} : { [path + node.id]: own }),
      ...('plan' in node ? supervised(node.plan, `${path}${node.id}/`) : {}),
    };
  });
  return Object.assign({}, ...all) as Record<string, unknown>;
}
