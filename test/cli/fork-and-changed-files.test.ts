import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `name: notes
agents:
  reader: { inline: { prompt: You read., tools: [read_file] } }
steps:
  - { id: look, agent: reader, prompt: Look }
  - { id: tell, agent: reader, depends_on: [look], prompt: "Tell {{steps.look.output}}" }
`;

const SCRIPT = `rules:
  - step: look
    answers:
      - tools: [{ name: read_file, input: { path: notes.txt } }]
      - { text: Read. }
  - { step: tell, answer: Told. }
`;

async function events(cwd: string, words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await served(words, { cwd });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return stdout + stderr;
}

it('[XR8] a fork uses what a tool read from a file that has changed since; --from the step reads it again', async () => {
  const cwd = await makeProject({ 'flow.yaml': FLOW, 'answers.yaml': SCRIPT, 'notes.txt': 'first' });
  await events(cwd, ['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit']);
  await writeFile(join(cwd, 'notes.txt'), 'second');
  expect(await events(cwd, ['fork', '-1', '--from', 'tell'])).toContain('\n1 reused, 1 run\n');
  expect(await events(cwd, ['fork', '-1', '--from', 'look'])).toContain('\n0 reused, 2 run\n');
});

it('[XR8] the guide says of a fork that files are not compared', async () => {
  const guide = (await readFile(join(ROOT, 'docs/durability.md'), 'utf8')).replaceAll(/\s+/g, ' ');
  expect(guide).toContain(
    'Files are not compared: a result of a tool that read a file which has changed since is used like any other.',
  );
});

it('[XR8] the guide says of `fast` that a power cut may take whole runs', async () => {
  const guide = await readFile(join(ROOT, 'docs/durability.md'), 'utf8');
  const row = guide.split('\n').find((line) => line.startsWith('| `fast`'));
  expect(row).toContain('may be missing, whole runs too');
});
