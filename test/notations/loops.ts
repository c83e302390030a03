import { join } from 'node:path';
import { expect } from 'vitest';
import { runWorkflow } from 'skein';
import type { WorkflowRunOptions } from 'skein';
import { loadWorkflow, loadWorkflowText } from 'skein/yaml';
import { ownModels, promptOf } from '../graph/support-agents.js';

/** The errors of a file. */
export async function wrong(text: string): Promise<readonly string[]> {
  const { problems } = await loadWorkflowText(text, { file: 'w.yaml', cwd: '/' });
  return problems.filter(({ severity }) => severity === 'error').map(({ code, message }) => `${code}: ${message}`);
}

/** What a step says where no model answers. */
export const BROKEN = 'broken';

/** What the steps say, in turn, by their ids, the last one again and again. */
type Says = Readonly<Record<string, readonly string[]>>;

/** Runs a workflow file; gives its end and what its steps were asked, each with its path in front. */
export async function ran(file: string, says: Says, options: WorkflowRunOptions = {}, cwd = '/') {
  const workflow = file.endsWith('.yaml')
    ? await loadWorkflow(join(cwd, file), { cwd })
    : await loadWorkflowText(file, { file: 'w.yaml', cwd });
  expect(workflow.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const counts = new Map<string, number>();
  const answer = (path: string): string => {
    const [name = '', texts = ['ok']] =
      Object.entries(says).find(([id]) => path.split('/').at(-1)?.split('#')[0] === id) ?? [];
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    const text = texts[Math.min(count, texts.length - 1)] ?? '';
    if (text === BROKEN) throw new Error('no model');
    return text;
  };
  const { models, requests } = ownModels({ m: ({ caller }) => answer(caller.path) });
  const warnings: string[] = [];
  const listeners = [
    (event: { readonly type: string; readonly message?: unknown }): void => {
      if (event.type === 'run.warning') warnings.push(String(event.message));
    },
  ];
  const { result } = await runWorkflow(workflow, {
    audit: false,
    listeners,
    ...options,
    models: { ...models, override: 'own/m' },
  });
  const end = await result;
  const asked = requests.map((request) => `${request.caller.path}: ${promptOf(request).split('\n').at(-1) ?? ''}`);
  const systems = requests.map(({ messages: [first] }) => (first?.role === 'system' ? first.text : ''));
  return { ...end, asked, systems, warnings, messages: requests.map(({ messages }) => messages.length) };
}

/** A pipeline of these steps; agents are `w`, and `l`, whose answer is a list. */
export const pipeline = (...steps: readonly string[]): string => `agents:
  w: { instruction: You write. }
  l: { instruction: You list., structured_output: { schema: { type: object, properties: { all: { type: array }, ok: { type: boolean } } } } }
workflow:
${steps.map((step) => `  - ${step}\n`).join('')}`;

/** A loop of three rounds at most. */
export const ROUNDS = 'type: loop, until: { line: DONE }, max_rounds: 3';

/** A DAG workflow of these steps; the agent is `w`. */
export const dag = (...steps: readonly string[]): string => `name: dag
agents: { w: { inline: { prompt: You write., tools: [] } } }
steps:
${steps.map((step) => `  - ${step}\n`).join('')}`;

/** A step that asks `w`. */
export const step = (id: string, prompt: string, more = ''): string =>
  `{ id: ${id}, agent: w, prompt: "${prompt}"${more === '' ? '' : `, ${more}`} }`;
