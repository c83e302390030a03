import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHAIN, MAIN, documentOf, filesIn, makeProject, start, startSkein } from './support/skein.js';
import { served } from './support/served.js';

const SCRIPT = `rules:
  - { step: facts, answer: { text: They weave., usage: { input: 7, output: 3 } } }
  - { step: text, answer: { text: Looms weave., usage: { input: 2, output: 1 } } }
`;
const SLOW = SCRIPT.replace('text: Looms weave.', 'text: Looms weave., delay: 600s');
const WORDS = ['--mock=answers.yaml', '--no-audit'];

/** A run that was killed while its second step waited for its model. */
async function killed(): Promise<string> {
  const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SLOW });
  const running = startSkein(['run', 'flow.yaml', ...WORDS], { cwd });
  await running.seen('step text started');
  running.child.kill('SIGKILL');
  expect((await running.ended).signal).toBe('SIGKILL');
  await writeFile(join(cwd, 'answers.yaml'), SCRIPT);
  return cwd;
}

describe('a run that was killed', () => {
  test('goes on with its own flags: finished steps are reused and cost nothing, the result is as if nothing had happened', async () => {
    const cwd = await killed();
    const end = await served(['resume', '-1'], { cwd });
    expect(end.stderr).toContain('step facts reused\n');
    expect(end.stderr).toMatch(
      /\n1 reused, 1 run\n1 model call \(script\/answers\.yaml 1\).*\nbefore: 1 model call, 7 \+ 3 tokens\n/,
    );
    expect(end.code).toBe(0);
    const undisturbed = await served(['run', 'flow.yaml', ...WORDS], { cwd });
    expect(end.stdout).toBe(undisturbed.stdout);
  });

  test('is told apart in the JSON document', async () => {
    const cwd = await killed();
    const document = documentOf(await served(['resume', '-1', '--json'], { cwd }));
    expect(document).toMatchObject({
      outcome: 'succeeded',
      recorded: true,
      reused: 1,
      ran: 1,
      modelCalls: 1,
      usage: { inputTokens: 2, outputTokens: 1 },
      before: { modelCalls: 1, usage: { inputTokens: 7, outputTokens: 3 } },
      steps: { facts: { reused: true, output: 'They weave.' }, text: { output: 'Looms weave.' } },
    });
    expect(document.steps['text']).not.toHaveProperty('reused');
  });

  test('goes on from another folder, too, and without its file', async () => {
    const cwd = await killed();
    await rm(join(cwd, 'flow.yaml'));
    const end = await served(['resume', '-1', '--quiet'], { cwd });
    expect(end).toMatchObject({ code: 0 });
    expect(end.stdout).toContain('Looms weave.');
  });

  test('is refused while its file is broken, and nothing is lost by that', async () => {
    const cwd = await killed();
    await rename(join(cwd, 'flow.yaml'), join(cwd, 'good.yaml'));
    await writeFile(join(cwd, 'flow.yaml'), CHAIN.replace('depends_on: [facts]', 'depends_on: [fcats]'));
    const refused = await served(['resume', '-1'], { cwd });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('did you mean "facts"?');
    await rename(join(cwd, 'good.yaml'), join(cwd, 'flow.yaml'));
    expect((await served(['resume', '-1'], { cwd })).stderr).toContain('1 reused, 1 run');
  });
});

describe('a run that goes on', () => {
  test('under an edited file says first which steps changed, what runs again, and that an unchanged policy keeps results', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SCRIPT });
    await served(['run', 'flow.yaml', ...WORDS], { cwd });
    const edited = CHAIN.replace('Facts about', 'Many facts about').replace(
      'id: text, agent: writer,',
      'id: text, agent: writer, timeout: 9s,',
    );
    await writeFile(join(cwd, 'flow.yaml'), edited);
    const end = await served(['resume', '-1'], { cwd });
    expect(end.stderr).toMatch(
      /^.*flow\.yaml is not what the run of chain was recorded with:\n {2}step facts changed: prompt\n {2}step text changed: timeout \(what is recorded of it still counts\)\nruns again: facts\nruns again where what it builds on comes out differently: text\n/,
    );
    // The script says the same again, and what did not change does not spread.
    expect(end.stderr).toContain('\n1 reused, 1 run\n');
    expect(end.code).toBe(0);
  });

  test('and has succeeded only prints its results again', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const first = await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    const again = await served(['resume', '-1'], { cwd });
    expect(again.stderr).toContain('\n2 reused, 0 run\n');
    expect(again).toMatchObject({ code: 0, stdout: first.stdout });
  });

  test('is refused while another process has it', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SLOW });
    const running = startSkein(['run', 'flow.yaml', ...WORDS], { cwd });
    await running.seen('step text started');
    const refused = await served(['resume', '-1'], { cwd });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('error SKEIN_LEASE: ');
    running.child.kill('SIGKILL');
  });

  test('after Ctrl-C starts where it was', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'answers.yaml': SLOW });
    const running = startSkein(['run', 'flow.yaml', ...WORDS], { cwd });
    await running.seen('step text started');
    running.child.kill('SIGINT');
    const end = await running.ended;
    expect(end.code).toBe(130);
    const id = /next: continue where it stopped\n {2}skein resume (\w+)\n/.exec(end.stderr)?.[1] ?? '';
    await writeFile(join(cwd, 'answers.yaml'), SCRIPT);
    const resumed = await served(['resume', id], { cwd });
    expect(resumed.stderr).toContain('\n1 reused, 1 run\n');
    expect(resumed.code).toBe(0);
  });

  test.each([
    ['a folder without runs', '-1', 'no run is recorded here'],
    ['a run that is not there', 'abcdef', 'there is no run abcdef'],
  ])('not in %s', async (where, run, message) => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    if (where.startsWith('a run')) await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
    const end = await served(['resume', run], { cwd });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain(`error SKEIN_NO_RUN: ${message}`);
  });
});

describe('the record', () => {
  test('is kept by the nearest .skein from the folder up, and by none with --no-store or --dry-run', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, 'sub/note.txt': '' });
    await served(['run', 'flow.yaml', '--mock', '--no-audit', '--no-store'], { cwd });
    await served(['run', 'flow.yaml', '--dry-run'], { cwd });
    expect(await filesIn(cwd)).not.toContain('.skein');
    await served(['run', 'flow.yaml', '--mock', '--no-audit', '--durability', 'full'], { cwd });
    const below = join(cwd, 'sub');
    const end = await served(['resume', '-1'], { cwd: below, env: { HOME: join(cwd, 'home') } });
    expect(end.stderr).toContain('2 reused, 0 run');
    expect(await filesIn(below)).toEqual(['note.txt']);
  });

  test('[XD7] that can not be used is no fault of the input: exit 1, and a way out', async () => {
    const cwd = await makeProject({
      'flow.yaml': CHAIN,
      '.skein/skein.db': 'this is no database, whatever it is called',
    });
    const end = await served(['run', 'flow.yaml', '--mock'], { cwd });
    expect(end.code).toBe(1);
    expect(end.stderr).toMatch(
      /^error SKEIN_STORE: .*\n {4}hint: .*\.skein.skein\.db\); --no-store runs without a record\n$/,
    );
    expect((await served(['run', 'flow.yaml', '--mock', '--no-store'], { cwd })).code).toBe(0);
  });

  test('a file where its folder would be is told as one', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN, '.skein': 'a note' });
    const end = await served(['run', 'flow.yaml', '--mock'], { cwd });
    expect([end.code, end.stderr]).toEqual([1, expect.stringMatching(/\.skein is a file, .*\n {4}hint: move it away/)]);
  });

  test('on a disk that is full in the middle: the run fails and says so; what was recorded is reused when there is room', async () => {
    const steps = Array.from({ length: 60 }, (_, at) => {
      const after = at === 0 ? '' : `, depends_on: [s${at - 1}]`;
      return `  - { id: s${at}, agent: writer${after}, prompt: "${'x'.repeat(3000)}" }\n`;
    });
    const head = 'name: big\nagents:\n  writer: { inline: { prompt: You write., tools: [] } }\nsteps:\n';
    const cwd = await makeProject({ 'big.yaml': head + steps.join('') });
    const run = `ulimit -f 700 && exec "$@"`;
    const words = [MAIN, 'run', 'big.yaml', '--mock', '--no-audit', '--json'];
    const end = await start(['bash', '-c', run, 'bash', process.execPath, ...words], { cwd, input: '' }).ended;
    expect(end.code).toBe(3);
    expect(end.stderr).toMatch(/\nerror SKEIN_STORE: .*\n {4}hint: .*\n(?:.*\n)*next: .*\n {2}skein resume \w+\n/);
    expect(documentOf(end)).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_STORE' } });
    const again = documentOf(await served(['resume', '-1', '--json'], { cwd }));
    expect(again).toMatchObject({ outcome: 'succeeded' });
    expect(Number(again['reused'])).toBeGreaterThan(0);
    expect(Number(again['reused']) + Number(again['ran'])).toBe(60);
  });
});
