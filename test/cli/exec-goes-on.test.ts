import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LOOP, LOOP_SAYS, loopScript } from './support/pipelines.js';
import { documentOf, makeProject, startSkein } from './support/skein.js';
import { served } from './support/served.js';

const WORDS = ['exec', 'flow.yaml', '--mock=answers.yaml', '--no-audit'] as const;
/** The loop up to what comes after its second draft. */
const HALF = LOOP_SAYS.slice(0, LOOP_SAYS.indexOf('\n--- Agent: critic (review#2)'));

/** A run that is ended by a signal while a step is at work, or that has ended by itself. */
async function runUntil(cwd: string, words: readonly string[], step: string, signal: NodeJS.Signals) {
  await writeFile(join(cwd, 'answers.yaml'), loopScript(step));
  const running = startSkein(words, { cwd, input: '' });
  await running.seen(`step ${step} started`);
  running.child.kill(signal);
  return await running.ended;
}

const hasSignals = process.platform !== 'win32';
if (!hasSignals) console.info('note: Windows has no signals, so tests of them are skipped');

describe.skipIf(!hasSignals)('a pipeline that does not get to its end', () => {
  test('killed again and again inside of a loop, it says the same in the end, and pays for nothing twice', async () => {
    const cwd = await makeProject({ 'flow.yaml': LOOP });
    expect((await runUntil(cwd, WORDS, 'draft', 'SIGKILL')).signal).toBe('SIGKILL');
    const second = await runUntil(cwd, ['resume', '-1'], 'review#2', 'SIGKILL');
    expect(second).toMatchObject({ signal: 'SIGKILL', stdout: HALF });
    expect((await runUntil(cwd, ['resume', '-1'], 'draft#3', 'SIGKILL')).signal).toBe('SIGKILL');
    await writeFile(join(cwd, 'answers.yaml'), loopScript());
    const end = await served(['resume', '-1'], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: LOOP_SAYS });
    expect(end.stderr).toContain('\n4 reused, 3 run\n');
    const again = await served(['resume', '-1'], { cwd });
    expect(again).toMatchObject({ code: 0, stdout: LOOP_SAYS });
    expect(documentOf(await served(['resume', '-1', '--json'], { cwd }))).toMatchObject({
      outcome: 'succeeded',
      modelCalls: 0,
      reused: 7,
      context: { order: ['draft', 'review', 'publish'] },
    });
  });

  test('Ctrl-C closes it with exit 130 and the context so far; a resume goes on there', async () => {
    const cwd = await makeProject({ 'flow.yaml': LOOP });
    const end = await runUntil(cwd, WORDS, 'review#2', 'SIGINT');
    expect(end).toMatchObject({ code: 130, stdout: HALF });
    const [, context = ''] = /\n--- Step Context ---\n(\{\n[^]*?\n\})\n/.exec(end.stderr) ?? [];
    expect(JSON.parse(context)).toEqual({
      steps: {
        draft: { output: 'Second draft.', agent: 'writer' },
        review: { output: { ok: false }, agent: 'critic' },
      },
      order: ['draft', 'review'],
    });
    await writeFile(join(cwd, 'answers.yaml'), loopScript());
    expect(await served(['resume', '-1'], { cwd })).toMatchObject({ code: 0, stdout: LOOP_SAYS });
  });
});

describe('a pipeline that was edited', () => {
  test('resume says what changed by the names of steps, and runs that again', async () => {
    const cwd = await makeProject({ 'flow.yaml': LOOP, 'answers.yaml': loopScript() });
    expect((await served(WORDS, { cwd })).code).toBe(0);
    const edited = LOOP.replace('You print.', 'You print in bold.').replace('iterations: 5', 'iterations: 4');
    await writeFile(join(cwd, 'flow.yaml'), edited);
    await writeFile(join(cwd, 'answers.yaml'), loopScript().replace('Printed.', 'Printed in bold.'));
    const end = await served(['resume', '-1'], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: LOOP_SAYS.replace('Printed.', 'Printed in bold.') });
    expect(end.stderr).toContain('\n  step publish changed: system prompt\n');
    expect(end.stderr).toContain('\nruns again: publish\n');
    expect(end.stderr).toContain('\n6 reused, 1 run\n');
  });

  test('fork runs a step and what comes after it again, and speaks as the run did', async () => {
    const cwd = await makeProject({ 'flow.yaml': LOOP, 'answers.yaml': loopScript() });
    expect((await served(WORDS, { cwd })).code).toBe(0);
    const end = await served(['fork', '-1', '--from', 'publish'], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: LOOP_SAYS });
    expect(end.stderr).toContain('\n6 reused, 1 run\n');
    const missed = await served(['fork', '-1', '--from', 'pulish'], { cwd });
    expect(missed.code).toBe(1);
    expect(missed.stderr).toContain('did you mean "publish"?');
  });
});
