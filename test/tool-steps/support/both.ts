import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SkeinEvent } from '../../../src/events/event.js';
import type { Workflow } from '../../../src/plan/workflow.js';
import type { RunOptions, WorkflowResult } from '../../../src/runtime.js';
import { runWorkflow } from '../../../src/runtime.js';
import { loadDag, loadPipeline } from '../../../src/yaml.js';

/** The two YAML notations. */
export const NOTATIONS = ['dag', 'pipeline'] as const;

export type Notation = (typeof NOTATIONS)[number];

/** A folder with files that is removed when the test has ended. */
async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'skein-steps-')));
  onTestFinished(() => rm(cwd, { recursive: true, force: true, maxRetries: 3 }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
  return cwd;
}

/** The text of a file whose steps are written one on a line; `$` before a reference is dropped where the notation has none. */
function fileOf(notation: Notation, steps: string, head = ''): string {
  if (notation === 'pipeline') return `${head}workflow:\n${steps}`;
  const plain = steps.replaceAll('{{ $', '{{ ').replaceAll('$steps', 'steps');
  return `name: test\n${head.replace(/^mcps:/m, 'mcp-servers:')}steps:\n${plain}`;
}

/** Loads a file in a folder of its own, with further files. */
export async function loadSteps(
  notation: Notation,
  steps: string,
  { head = '', files = {} }: { readonly head?: string; readonly files?: Readonly<Record<string, string>> } = {},
): Promise<{ readonly workflow: Workflow; readonly cwd: string }> {
  const cwd = await folderWith({ ...files, 'flow.yaml': fileOf(notation, steps, head) });
  const load = notation === 'dag' ? loadDag : loadPipeline;
  return { workflow: await load('flow.yaml', { cwd }), cwd };
}

/** Problems of steps: `line:column severity code`. */
export async function problemsOf(notation: Notation, steps: string, head = ''): Promise<readonly string[]> {
  const { workflow } = await loadSteps(notation, steps, { head });
  return workflow.problems.map(
    ({ at, severity, code }) => `${at?.line ?? '-'}:${at?.column ?? '-'} ${severity} ${code}`,
  );
}

/** How a run ended, and what it did. */
interface Ran extends WorkflowResult {
  readonly events: readonly SkeinEvent[];
  readonly cwd: string;
  /** Output of a step by its id. */
  readonly output: (step: string) => unknown;
}

/** Runs steps that must load without an error. */
export async function runSteps(
  notation: Notation,
  steps: string,
  {
    head,
    files,
    ...options
  }: Partial<RunOptions> & { readonly head?: string; readonly files?: Readonly<Record<string, string>> } = {},
): Promise<Ran> {
  const { workflow, cwd } = await loadSteps(notation, steps, {
    ...(head === undefined ? {} : { head }),
    ...(files === undefined ? {} : { files }),
  });
  const errors = workflow.problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(({ code, message }) => `${code}: ${message}`).join('\n'));
  const events: SkeinEvent[] = [];
  const run = await runWorkflow(workflow, {
    audit: false,
    cwd,
    models: { env: { PATH: process.env['PATH'] ?? '' }, noProbe: true },
    ...options,
    listeners: [(event) => events.push(event), ...(options.listeners ?? [])],
  });
  const ended = await run.result;
  return { ...ended, events, cwd, output: (step) => ended.state[`steps.${step}.output`] };
}
