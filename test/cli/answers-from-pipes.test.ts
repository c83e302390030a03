import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { served } from './support/served.js';

const FLOW = `
name: notes
agents: { writer: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: said, type: ask, question: What shall it say? }
  - { id: draft, agent: writer, prompt: "Write: {{steps.said.output}}", depends_on: [said] }
  - { id: final, agent: writer, prompt: "Shorten: {{steps.draft.output}}", depends_on: [draft] }
`;

function project(): string {
  const cwd = mkdtempSync(join(tmpdir(), 'skein-answers-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  mkdirSync(join(cwd, 'node_modules/p'), { recursive: true });
  writeFileSync(join(cwd, 'flow.yaml'), FLOW);
  for (const file of ['own.md', 'node_modules/p/README.md']) writeFileSync(join(cwd, file), 'a text');
  return cwd;
}

/** The keys of the state in which others had a say, and what was told of it. */
async function heard(cwd: string, ...words: readonly string[]): Promise<{ keys: readonly string[]; isTold: boolean }> {
  const env = { HOME: join(cwd.split('/node_modules')[0] ?? '', 'home') };
  const { stdout, stderr } = await served([...words, '--mock', '--json'], { cwd, env, input: 'a text\n' });
  const { labels = {} } = JSON.parse(stdout) as { readonly labels?: Readonly<Record<string, { level: string }>> };
  const keys = Object.keys(labels).filter((key) => labels[key]?.level === 'untrusted');
  return { keys, isTold: stderr.includes("'draft' is untrusted: ") };
}

const ALL = ['steps.said.output', 'steps.draft.output', 'steps.final.output'];

it.each([
  ['-', ALL],
  ['a text', []],
])('an answer given as %j is as trusted as where it comes from', async (value, keys) => {
  const cwd = project();
  expect((await served(['run', 'flow.yaml', '--mock', '--json'], { cwd })).code).toBe(5);
  const answered = await served(['answer', '-1', 'said', value], { cwd, input: 'a text\n' });
  expect([answered.code, answered.stdout]).toEqual([0, 'said is answered: "a text"\n']);
  expect((await heard(cwd, 'resume', '-1')).keys).toEqual(keys);
});

it('a value of the state from a pipe or a file of others is untrusted in a fork, wherever that is started', async () => {
  const cwd = project();
  await served(['run', 'flow.yaml', '--mock', '--json'], { cwd });
  await served(['answer', '-1', 'said', 'a text'], { cwd });
  expect((await heard(cwd, 'resume', '-1')).keys).toEqual([]);
  const own = { keys: [], isTold: false };
  const others = { keys: ALL.slice(1), isTold: true };
  const inside = join(cwd, 'node_modules/p');
  expect(await heard(cwd, 'fork', '-1', '--set', 'draft=mine')).toEqual(own);
  expect(await heard(cwd, 'fork', '-1', '--input-file', 'draft=own.md')).toEqual(own);
  expect(await heard(cwd, 'fork', '-1', '--input-file', 'draft=-')).toEqual(others);
  expect((await heard(cwd, 'resume', '-1')).keys).toEqual(others.keys);
  expect(await heard(cwd, 'fork', '-2', '--input-file', 'draft=node_modules/p/README.md')).toEqual(others);
  expect(await heard(inside, 'fork', '-3', '--input-file', 'draft=README.md')).toEqual(others);
});
