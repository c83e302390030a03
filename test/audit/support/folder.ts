import { mkdtemp, readFile, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { StepContext } from '../../../src/engine/ports/executor.js';
import type { AskedNote } from '../../../src/events/event.js';
import type { Result } from '../../../src/engine/ports/executor.js';
import { startRun } from '../../../src/engine/run.js';
import type { RunResult } from '../../../src/engine/run.js';
import { openRunFolder } from '../../../src/audit/run-folder.js';
import type { RunFolderOptions } from '../../../src/audit/run-folder.js';
import type { AgentNode, Bindings, Plan, PlanNode } from '../../../src/plan/plan.js';
import type { Workflow, WorkflowSettings } from '../../../src/plan/workflow.js';

/** A directory that is removed when the test has ended. */
export async function tempDir(): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'skein-audit-')));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** An agent node as the DAG notation makes it. */
export function agentNode(id: string, more: Partial<AgentNode> = {}): AgentNode {
  const output = `steps.${id}.output`;
  const agent = { name: `${id}-agent`, instructions: ['You help.'], models: ['mock/first', 'mock/second'] };
  return { kind: 'agent', id, agent, prompt: [`do ${id}`], writes: [output], output, join: 'settled', ...more };
}

/** A workflow as a loader gives it. */
export function workflowOf(
  nodes: readonly PlanNode[],
  edges: readonly (readonly [string, string])[] = [],
  more: { readonly name?: string; readonly settings?: Partial<WorkflowSettings>; readonly text?: string } = {},
): Workflow {
  const { name = 'code review', settings = {}, text = 'name: code review\n' } = more;
  const plan: Plan = {
    format: 1,
    name,
    notation: 'dag',
    inputs: [],
    channels: nodes.flatMap((node) => (node.writes ?? []).map((channel) => ({ name: channel }))),
    nodes,
    edges: edges.map(([from, to]) => ({ from, to })),
    routes: [],
  };
  return {
    plan,
    bindings: {},
    settings: { output: { format: 'markdown' }, ...settings },
    files: [{ path: '/flows/review.yaml', text }],
    problems: [],
  };
}

/** What agents do in a test: they tell things, and answer or fail. */
export type Script = (node: AgentNode, step: StepContext) => Promise<Result> | Result;

export const echo: Script = (node, step) => {
  step.note({ kind: 'prompt', system: '', prompt: step.render(node.prompt), model: 'mock/first' });
  return { type: 'done', output: `answer of ${node.id}` };
};

export interface Recorded {
  readonly path: string;
  readonly result: RunResult;
  readonly problems: readonly string[];
}

interface RecordOptions {
  readonly dir: string;
  readonly signal?: AbortSignal;
  readonly bindings?: Bindings;
}

/** Runs a workflow with its folder. */
export async function record(
  workflow: Workflow,
  script: Script,
  options: Partial<RunFolderOptions> & RecordOptions,
): Promise<Recorded> {
  const { signal, bindings = {}, ...more } = options;
  const runId = more.runId ?? 'run-0123456789';
  const folder = await openRunFolder({ workflow, runId, keep: 0, inputs: {}, secrets: [], ...more });
  const { plan } = workflow;
  if (plan === undefined) throw new Error('no plan');
  const agent = async (node: AgentNode, step: StepContext): Promise<Result> => script(node, step);
  const handle = startRun(plan, {
    runId,
    bindings,
    executors: { agent },
    listeners: [folder.listen],
    ...(signal === undefined ? {} : { signal }),
  });
  const result = await handle.result;
  return { path: folder.path, result, problems: await folder.close(result) };
}

export async function read(...path: readonly string[]): Promise<string> {
  return await readFile(join(...path), 'utf8');
}

export async function readJson(...path: readonly string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await read(...path)) as Record<string, unknown>;
}

export async function readLines(...path: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const text = await read(...path);
  if (!text.endsWith('\n')) throw new Error('the last line is not finished');
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Names of all files below a folder, sorted. */
export async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).toSorted();
}

/** All text below a folder. */
export async function allText(folder: string): Promise<string> {
  const names = await filesIn(folder);
  return (await Promise.all(names.map((name) => read(folder, name)))).join('\n');
}

/** What every question is told with, besides its words. */
export const ASKED: Omit<AskedNote, 'kind' | 'question'> = {
  key: 'a@ask:tool#1.1',
  id: 'x',
  path: 'a',
  name: 'ask:tool#1.1',
  askedAt: 0,
};
