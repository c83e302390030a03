import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { watchInterrupt } from '../../src/cli/run/interrupt.js';
import { documentOf, makeProject, runFolder, startSkein } from './support/skein.js';
import { served } from './support/served.js';
import type { Running } from './support/skein.js';

const FLOW = `name: slow
agents:
  runner: { inline: { prompt: You run things., tools: [shell] } }
steps:
  - { id: one, agent: runner, prompt: go }
  - { id: two, agent: runner, depends_on: [one], prompt: after }
`;

/** A child with a child of its own; both say who they are, and neither ends by itself, unless it was there before. `trap` keeps the first from ending on SIGTERM. */
const script = (stubborn: boolean): string => `strict: false
rules:
  - step: one
    answers:
      - tools:
          - name: shell
            input: { argv: [sh, -c, "test -e first && exit; ${stubborn ? "trap '' TERM; " : ''}sleep 1000 & echo $! > second; echo $$ > first; while :; do wait; done"] }
      - { text: never said }
`;

async function startSlow(stubborn: boolean, words: readonly string[] = []): Promise<{ cwd: string; running: Running }> {
  const cwd = await makeProject({ 'flow.yaml': FLOW, 'answers.yaml': script(stubborn) });
  const running = startSkein(['run', 'flow.yaml', '--model', 'script/answers.yaml', ...words], { cwd });
  await until(() => existsSync(join(cwd, 'first')) && readFileSync(join(cwd, 'first'), 'utf8').endsWith('\n'));
  return { cwd, running };
}

/** Asks again and again; the limit of the test is the only clock. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}

function children(cwd: string): readonly number[] {
  return ['first', 'second'].map((name) => Number(readFileSync(join(cwd, name), 'utf8')));
}

/** A zombie that nobody collects has ended, too. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (!existsSync('/proc/self/stat')) return true;
  try {
    return !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const hasSignals = process.platform !== 'win32';
if (!hasSignals) console.info('note: Windows has no signals, so tests of them are skipped');

describe.skipIf(!hasSignals)('a run that is interrupted', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'statement 36: %s closes it as cancelled: no child is left, the record is complete, exit 130',
    async (signal) => {
      const { cwd, running } = await startSlow(false, ['--json']);
      const pids = children(cwd);
      expect(pids.map(isRunning)).toEqual([true, true]);
      running.child.kill(signal);
      const end = await running.ended;
      expect(end).toMatchObject({ code: 130, signal: null });
      expect(pids.map(isRunning)).toEqual([false, false]);
      expect(end.stderr).toContain(`${signal}: closing the run`);
      expect(end.stderr).toContain('slow was cancelled in ');
      expect(JSON.parse(end.stdout)).toMatchObject({
        outcome: 'cancelled',
        exitCode: 130,
        census: { cancelled: 1, notRun: 1 },
        steps: { one: { status: 'cancelled' } },
      });
      const meta = JSON.parse((await runFolder(cwd)).get('workflow.meta.json') ?? '') as unknown;
      expect(meta).toMatchObject({ status: 'cancelled', census: { cancelled: 1 } });
    },
  );

  test('a second signal ends it at once; children that do not listen are killed all the same', async () => {
    const { cwd, running } = await startSlow(true);
    const pids = children(cwd);
    running.child.kill('SIGINT');
    await running.seen('closing the run');
    running.child.kill('SIGTERM');
    const end = await running.ended;
    expect(end).toMatchObject({ code: 130, signal: null, stdout: '' });
    await until(() => !pids.some(isRunning));
    // The record was not closed, and can be gone on with all the same; what became of the program is asked.
    const asking = await served(['resume', '-1'], { cwd });
    expect(asking.code).toBe(5);
    const [, run = '', key = ''] = /\n {2}skein answer (\S+) (\S+) VALUE\n/.exec(asking.stderr) ?? [];
    expect((await served(['answer', run, key, 'run it'], { cwd })).code).toBe(0);
    const resumed = await served(['resume', '-1', '--json'], { cwd });
    expect(documentOf(resumed)).toMatchObject({ outcome: 'succeeded', modelCalls: 2, before: { modelCalls: 1 } });
  });

  test('the same signal at the same moment is one: npm passes on what the terminal has sent already', () => {
    const seen: string[] = [];
    let time = 1_000;
    const interrupt = watchInterrupt((name) => seen.push(name), { now: () => time, end: () => seen.push('end') });
    onTestFinished(() => interrupt.release());
    const send = (name: 'SIGHUP' | 'SIGTERM'): boolean => process.emit(name, name);
    send('SIGHUP');
    time += 499;
    send('SIGHUP');
    expect(seen).toEqual(['SIGHUP']);
    expect(interrupt.signal.aborted).toBe(true);
    time += 1;
    send('SIGHUP');
    expect(seen).toEqual(['SIGHUP', 'end']);
    time = 1_001;
    send('SIGTERM');
    expect(seen).toEqual(['SIGHUP', 'end', 'end']);
  });

  test('a child that ignores SIGTERM does not outlive the run', async () => {
    const { cwd, running } = await startSlow(true);
    const pids = children(cwd);
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(pids.map(isRunning)).toEqual([false, false]);
  });
});
