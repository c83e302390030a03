import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { CHAIN, documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const EDITED = CHAIN.replace('Text from', 'Song from');

async function recorded(): Promise<string> {
  const cwd = await makeProject({ 'flow.yaml': CHAIN, 'edited.yaml': EDITED });
  expect((await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd })).code).toBe(0);
  return cwd;
}

test('--set gives an input another value: who reads it runs again', async () => {
  const cwd = await recorded();
  const end = await served(['fork', '-1', '--set', 'topic=spindles'], { cwd });
  expect(end.code).toBe(0);
  expect(end.stderr).toMatch(/^ {2}input topic has another value\nruns again where .*: facts, text\n/);
  expect(end.stderr).toContain('\n0 reused, 2 run\n');
  expect(end.stdout).toContain('Text from Facts about spindles');
});

test('--from runs a step and what comes after it again, whatever is recorded; the run itself stays as it was', async () => {
  const cwd = await recorded();
  const document = documentOf(await served(['fork', '-1', '--from', 'text', '--json'], { cwd }));
  expect(document).toMatchObject({ outcome: 'succeeded', reused: 1, ran: 1, steps: { facts: { reused: true } } });
  expect((await served(['resume', '-2'], { cwd })).stderr).toContain('\n2 reused, 0 run\n');
});

test('--file takes another definition; the fork then goes on with that one', async () => {
  const cwd = await recorded();
  const end = await served(['fork', '-1', '--file', 'edited.yaml'], { cwd });
  expect(end.stderr).toMatch(
    /edited\.yaml is not what the run of chain was recorded with:\n {2}step text changed: prompt\nruns again: text\n/,
  );
  expect(end.stderr).toContain('\n1 reused, 1 run\n');
  expect(end.stdout).toContain('Song from Facts about looms');
  expect((await served(['resume', '-1'], { cwd })).stdout).toBe(end.stdout);
});

test('--input-file reads a value', async () => {
  const cwd = await recorded();
  await writeFile(join(cwd, 'topic.txt'), 'shuttles');
  expect((await served(['fork', '-1', '--input-file', 'topic=topic.txt'], { cwd })).stdout).toContain('about shuttles');
});

test.each([
  [
    ['--set', 'topci=x'],
    2,
    'error unknown-input: no text refers to the input "topci", and it is not declared\n    hint: did you mean "topic"?',
  ],
  [['--from', 'txt'], 1, 'error SKEIN_USAGE: --from: the workflow has no step "txt"\n    hint: did you mean "text"?'],
  [['--file', 'none.yaml'], 2, 'error file-missing: '],
  [['--set', 'topic'], 1, 'error SKEIN_USAGE: --set takes NAME=VALUE'],
])('%j is refused, and no run is begun', async (words, code, message) => {
  const cwd = await recorded();
  const end = await served(['fork', '-1', ...words], { cwd });
  expect(end).toMatchObject({ code, stdout: '' });
  expect(end.stderr).toContain(message);
  const runs = JSON.parse((await served(['runs', '--json'], { cwd })).stdout) as unknown;
  expect(JSON.stringify(runs).match(/"workflow":"chain"|"name":"chain"/g)).toHaveLength(1);
});
