import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { definePlan, run, type RunOptions } from 'skein';
import type { ModelRequest } from '../../../src/agent/model.js';
import type { AgentSpec } from '../../../src/plan/agent-spec.js';
import { modelOf } from '../../agent/support/counted-agent.js';
import type { Said } from '../../agent/support/counted-agent.js';

/** A folder with files, and beside it one for what is outside of the project. */
export async function folder(
  files: Readonly<Record<string, string>>,
): Promise<{ readonly cwd: string; readonly outside: string }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'skein-policy-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await mkdir(join(root, 'project'));
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, name.startsWith('../') ? name.slice(3) : `project/${name}`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return { cwd: join(root, 'project'), outside: root };
}

/** An agent with the real tools whose model says this; gives what it heard of each call, and what a person was asked. */
export async function heardBy(
  said: readonly Said[],
  spec: Partial<AgentSpec>,
  options: RunOptions,
  answer: 'allow' | 'deny' = 'deny',
) {
  const asked: ModelRequest[] = [];
  const questions: string[] = [];
  const warnings: string[] = [];
  const agent = { name: 'a', instructions: ['Work.'], models: ['own/m'], permissions: { allow: ['*'] }, ...spec };
  const plan = definePlan({ name: 'p', nodes: [{ id: 'a', kind: 'agent', output: 'said', prompt: ['Go.'], agent }] });
  const result = await run(plan, {
    ...options,
    models: { env: {}, noProbe: true, providers: { own: () => modelOf('own/m', [...said, { text: 'Done.' }], asked) } },
    listeners: [
      (event) => {
        if (event.type === 'step.note' && event.note.kind === 'warning') warnings.push(event.note.code);
      },
    ],
    answer: (question) => {
      questions.push(JSON.stringify(question.evidence));
      return Promise.resolve(answer);
    },
  }).result;
  const results = (asked.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === 'tool' ? message.results.map(({ output }) => output) : [],
  );
  return { result, results, questions, warnings, turns: asked.length };
}
