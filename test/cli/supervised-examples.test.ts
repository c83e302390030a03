import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';
import type { Ended } from './support/skein.js';

const RELEASE = 'examples/supervised-release';
const PUBLISHING = 'examples/supervised-publishing';

async function projectOf(example: string): Promise<string> {
  const cwd = await makeProject();
  await cp(join(ROOT, example), join(cwd, example), { recursive: true });
  return cwd;
}

const runOf = (example: string, script: string, ...more: readonly string[]): readonly string[] => [
  'run',
  `${example}/workflow.yaml`,
  `--mock=${example}/${script}`,
  ...more,
];

/** A run that waits for a person. */
async function pausedRun(): Promise<{ readonly cwd: string; readonly end: Ended }> {
  const cwd = await projectOf(RELEASE);
  return { cwd, end: await served(runOf(RELEASE, 'script-person.yaml'), { cwd }) };
}

async function resumed(cwd: string, ...answer: readonly string[]): Promise<Ended> {
  const { code, stderr } = await served(['answer', '-1', ...answer], { cwd });
  expect(code, stderr).toBe(0);
  return await served(['resume', '-1'], { cwd });
}

describe('a supervised DAG workflow on the command line', () => {
  test('[S7] is corrected, judged again, and prints what was accepted alone', async () => {
    const cwd = await projectOf(RELEASE);
    const end = await served(runOf(RELEASE, 'script.yaml'), { cwd });
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('Empty lines in the input are kept.');
    expect(end.stdout).not.toContain('#811');
    expect(end.stderr).toContain('[notes] the supervisor says reorient: not for users\n');
    expect(end.stderr).toMatch(/^step notes succeeded in .* after 2 attempts \(.*7 model calls/m);
    expect(end.stderr).toContain('supervised-release succeeded in');
    // Nobody judges the list of changes: one call. The notes: a promise, and for each attempt the work, its assessment, a verdict.
    expect(end.stderr).toMatch(/^11 model calls/m);
  });

  test('[S7] [addition 2] a halt ends it with exit code 3, and what was not accepted is printed nowhere', async () => {
    const cwd = await projectOf(RELEASE);
    const end = await served(runOf(RELEASE, 'script-halt.yaml'), { cwd });
    expect(end.code).toBe(3);
    expect(end.stderr).toContain('SKEIN_HALTED');
    expect(end.stderr).toContain('agent notes: halted by supervision: the notes make up a change');
    expect(end.stdout).not.toContain('twice as fast');
    expect(end.stdout).toContain('(not run)');
  });

  test('[S9] a person sees the output, what was promised and delivered, and is told how to answer: exit code 5', async () => {
    const { end } = await pausedRun();
    expect(end.code).toBe(5);
    const [, run = ''] = /next: continue when there are answers\n {2}skein resume (\S+)\n/.exec(end.stderr) ?? [];
    expect(end.stderr).toContain("question of announce: Review this step's output. (approve, reject, or revise:");
    expect(end.stderr).toContain('Version 2.4.0 is out, and it is perfect.');
    expect(end.stderr).toMatch(/\n {2}promised:\n {4}interpretation: /);
    expect(end.stderr).toMatch(/\n {2}delivered:\n {4}metCommitment: true\n/);
    for (const answer of ['approve', 'reject', "'revise: WHAT TO DO DIFFERENTLY'"])
      expect(end.stderr).toMatch(new RegExp(`\n {2}skein answer ${run} announce ${answer}\n`));
    expect(end.stderr).toContain('\n  answer: approve, reject, or revise: WHAT TO DO DIFFERENTLY\n');
    expect(end.stdout).not.toContain('perfect');
  });

  test('[decision 7] [S10] approve lets it pass as it is: the work is not done again', async () => {
    const { cwd } = await pausedRun();
    const end = await resumed(cwd, 'announce', 'approve');
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('Version 2.4.0 is out, and it is perfect.');
    expect(end.stderr).toContain('supervised-release succeeded');
    expect(end.stderr).not.toMatch(/^\d+ model calls?/m);
  });

  test('[decision 7] [S10] revise has it done again with the text, judged again, and the person asked again', async () => {
    const { cwd } = await pausedRun();
    const again = await resumed(cwd, 'announce', 'revise: do not praise it');
    expect(again.code).toBe(5);
    expect(again.stderr).toContain('correction: do not praise it');
    expect(again.stderr).toContain('output: Version 2.4.0 is out. You can give several input files.');
    // The work and its assessment: what was promised stays.
    expect(again.stderr).toMatch(/^2 model calls/m);
    const end = await resumed(cwd, 'announce', 'approve');
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('Version 2.4.0 is out. You can give several input files.');
  });

  test('[decision 7] revise may be JSON', async () => {
    const { cwd } = await pausedRun();
    const again = await resumed(cwd, 'announce', '{"revise": "do not praise it"}');
    expect(again.stderr).toContain('correction: do not praise it');
  });

  test('[addition 2] [S10] reject ends it with exit code 3', async () => {
    const { cwd } = await pausedRun();
    const end = await resumed(cwd, 'announce', 'reject');
    expect(end.code).toBe(3);
    expect(end.stderr).toContain('SKEIN_REJECTED');
    expect(end.stderr).toContain('agent announce: denied by human');
    expect(end.stdout).not.toContain('perfect');
  });

  test('an answer to an attempt that is gone, and one that says nothing of the kind, are refused, and cost nothing', async () => {
    const { cwd } = await pausedRun();
    for (const wrong of ['yes', 'revise:', '{"revise": ""}', '{"revise": "x", "and": 1}', '']) {
      const { code, stderr } = await served(['answer', '-1', 'announce', wrong], { cwd });
      expect([wrong, code]).toEqual([wrong, 2]);
      expect(stderr).toContain('approve');
    }
    await resumed(cwd, 'announce@human', 'revise: do not praise it');
    const late = await served(['answer', '-1', 'announce@human', 'approve'], { cwd });
    expect(late.code).not.toBe(0);
    expect(late.stderr).toMatch(/announce/);
    const end = await resumed(cwd, 'announce~2@human', 'approve');
    expect(end.code).toBe(0);
  });

  test('a person who never answers: the run pauses again, as often as it is resumed, and nothing is paid for', async () => {
    const { cwd } = await pausedRun();
    for (let round = 0; round < 2; round += 1) {
      const end = await served(['resume', '-1'], { cwd });
      expect(end.code).toBe(5);
      expect(end.stderr).not.toMatch(/^\d+ model calls?/m);
    }
    const shown = documentOf(await served(['show', '-1', '--json'], { cwd })) as unknown as Record<string, unknown>;
    expect(shown).toMatchObject({ status: 'paused', modelCalls: 7 });
  });

  test('[addition 3] show tells what became of it: corrections, and who let it pass', async () => {
    const { cwd } = await pausedRun();
    const open = await served(['show', '-1'], { cwd });
    expect(open.stdout).toMatch(/^ {2}\? announce {2}paused, .*Review this step's output/m);
    expect(open.stdout).toMatch(/\n {2}promised:\n/);
    await resumed(cwd, 'announce', 'revise: do not praise it');
    const half = await served(['show', '-1'], { cwd });
    expect(half.stdout).toMatch(/^ {2}\? announce {2}paused, [^,]*, 2 attempts, 1 correction,/m);
    await resumed(cwd, 'announce', 'approve');
    const done = await served(['show', '-1'], { cwd });
    expect(done.stdout).toMatch(/^ {2}✔ announce {2}succeeded, .*, approved by skein answer after 1 correction,/m);
    expect(done.stdout).toMatch(/^ {2}✔ notes +succeeded, [^,]*, accepted,/m);
    expect(done.stdout).toMatch(/^ {2}✔ changes +succeeded, [^,]*, script/m);
    const { steps } = documentOf(await served(['show', '-1', '--json'], { cwd })) as unknown as {
      steps: readonly { readonly path: string; readonly supervision?: object }[];
    };
    expect(steps.map(({ path, supervision }) => [path, supervision])).toEqual([
      ['changes', undefined],
      ['notes', { by: 'model', corrections: 0, accepted: true }],
      ['announce', { by: 'human', answeredBy: 'command', corrections: 1, accepted: true }],
    ]);
  });

  test('without a store nobody can answer later: exit code 5, and it says what to do', async () => {
    const cwd = await projectOf(RELEASE);
    const end = await served(runOf(RELEASE, 'script-person.yaml', '--no-store'), { cwd });
    expect(end.code).toBe(5);
    expect(end.stderr).toContain('next: run it on a terminal to answer, or answer by a script');
  });

  test('a fork that begins at the step has it done, and judged, again', async () => {
    const { cwd } = await pausedRun();
    await resumed(cwd, 'announce', 'approve');
    const end = await served(['fork', '-1', '--from', 'announce'], { cwd });
    expect(end.code).toBe(5);
    expect(end.stderr).toMatch(/^step notes reused/m);
    expect(end.stderr).toMatch(/question of announce/);
  });
});

describe('a supervised pipeline on the command line', () => {
  test('[addition 3] a block is judged as a whole, and what its agents are told is the correction', async () => {
    const cwd = await projectOf(PUBLISHING);
    const end = await served([...runOf(PUBLISHING, 'script.yaml'), '--json'], { cwd });
    expect(end.code).toBe(0);
    const { steps } = documentOf(end);
    expect(steps).toMatchObject({ translate: { output: expect.stringContaining('kein Kabel') as unknown } });
    expect(end.stdout).toContain('Published in both languages.');
    expect(end.stdout).not.toContain('Published in German only.');
  });

  test('[S9] with run and with exec a block waits for a person too, and is rejected as a whole', async () => {
    const cwd = await projectOf(PUBLISHING);
    const file = join(cwd, PUBLISHING, 'script.yaml');
    const { readFile, writeFile } = await import('node:fs/promises');
    await writeFile(file, (await readFile(file, 'utf8')).replace(/^answers:[^]*/m, ''));
    for (const verb of ['run', 'exec']) {
      const [, ...words] = runOf(PUBLISHING, 'script.yaml');
      const end = await served([verb, ...words], { cwd });
      expect(end.code).toBe(5);
      expect(end.stderr).toMatch(/question of publish: Review this step's output/);
      const rejected = await resumed(cwd, 'publish', 'reject');
      expect(rejected.code).toBe(3);
      expect(rejected.stderr).toContain('SKEIN_REJECTED');
    }
  });
});
