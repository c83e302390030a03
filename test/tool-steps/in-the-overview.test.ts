import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { served } from '../cli/support/served.js';
import { makeProject } from '../cli/support/skein.js';

interface Shown {
  readonly steps: readonly { readonly path: string; readonly outcome: string; readonly toolCalls: number }[];
}

async function shown(cwd: string): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await served(['show', '-1', '--json'], { cwd });
  return Object.fromEntries((JSON.parse(stdout) as Shown).steps.map(({ path, outcome }) => [path, outcome]));
}

const FAILS = `version: "2"
workflow:
  - { id: one, run: [echo, a] }
  - { id: two, run: [sh, -c, "cat kept && exit 3"], result: all }
  - { id: three, run: [cat, there] }
`;

test('[addition 1] commands that were done have succeeded in the record of a run that failed, and are counted as calls', async () => {
  const cwd = await makeProject({ 'w.yaml': FAILS });
  expect((await served(['run', 'w.yaml'], { cwd })).code).toBe(3);
  expect(await shown(cwd)).toEqual({ one: 'succeeded', two: 'succeeded', three: 'failed' });
  const { stdout } = await served(['show', '-1', '--json'], { cwd });
  expect((JSON.parse(stdout) as Shown).steps.map(({ toolCalls }) => toolCalls)).toEqual([1, 1, 1]);
});

test('[addition 1] two runs are compared by what their commands gave', async () => {
  const cwd = await makeProject({
    'w.yaml': 'version: "2"\ninputs: { word: {} }\nworkflow:\n  - { id: one, run: [echo, "{{ $inputs.word }}"] }\n',
  });
  for (const word of ['warp', 'weft'])
    expect((await served(['run', 'w.yaml', '--input', `word=${word}`], { cwd })).code).toBe(0);
  const { stdout } = await served(['compare', '-2', '-1'], { cwd });
  expect(stdout).toContain('- warp');
  expect(stdout).toContain('+ weft');
});

const BLOCK = `name: block
steps:
  - id: each
    type: map
    over: inputs.files
    as: file
    concurrency: 1
    steps: [{ id: read, run: [cat, "{{ file }}"], effect: read }]
inputs: { files: { type: list } }
`;

test('[addition 10] a block that failed and succeeds when the run is resumed has succeeded in the record', async () => {
  const cwd = await makeProject({ 'w.yaml': BLOCK, one: '1' });
  const given = ['--input', 'files=["one","two"]'];
  expect((await served(['run', 'w.yaml', ...given], { cwd })).code).toBe(3);
  expect(await shown(cwd)).toEqual({ 'each[0]/read': 'succeeded', 'each[1]/read': 'failed', each: 'failed' });
  await writeFile(join(cwd, 'two'), '2');
  const resumed = await served(['resume', '-1'], { cwd });
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(await shown(cwd)).toEqual({ 'each[0]/read': 'succeeded', 'each[1]/read': 'succeeded', each: 'succeeded' });
  const { stdout } = await served(['logs', '-1'], { cwd });
  expect(stdout.match(/ each succeeded/g)).toHaveLength(1);
});

test('[addition 1] a step that was tried again is taken over by a fork as it ended', async () => {
  const twice = 'test -f there || { touch there; exit 1; }; echo done';
  const retry = '{ max_attempts: 2, initial_delay: 1ms }';
  const text = `version: "2"\nworkflow:\n  - { id: one, run: [sh, -c, "${twice}"], effect: read, retry: ${retry} }\n`;
  const cwd = await makeProject({ 'w.yaml': text });
  expect((await served(['run', 'w.yaml'], { cwd })).code).toBe(0);
  expect((await served(['fork', '-1'], { cwd })).code).toBe(0);
  expect(await shown(cwd)).toEqual({ one: 'succeeded' });
});
