import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeProject, skein } from './support/skein.js';
import { served } from './support/served.js';

const STEPS = 1_500;

/**
 * A loop whose last round fails while there is a file `broken`. What watches over it is looked at after each round, also of a record: where
 * there is a file `interrupt`, it sends this process the signal of Ctrl-C in the middle.
 */
const FLOW = `import { existsSync } from 'node:fs';
import { END } from 'skein';
import { graph } from 'skein/graph';

const interrupted = existsSync('interrupt');

const predicate = ({ state }: { readonly state: { readonly n?: number } }): boolean => {
  if (interrupted && state.n === ${STEPS / 2}) process.kill(process.pid, 'SIGINT');
  return true;
};

export default graph<{ n: number }>({
  name: 'rounds',
  inputs: [{ name: 'n', default: 0 }],
  maxSteps: ${STEPS + 1},
  invariants: [{ predicate, message: 'goes on' }],
})
  .addNode('work', ({ n }) => {
    if (n + 1 === ${STEPS} && existsSync('broken')) throw new Error('broken');
    return { n: n + 1 };
  })
  .addConditionalEdge('work', ({ n }) => (n < ${STEPS} ? 'work' : END), { work: 'work' })
  .setEntry('work');
`;

interface Report {
  readonly outcome: string;
  readonly exitCode: number;
  readonly reused: number;
  readonly ran: number;
}

const hasSignals = process.platform !== 'win32';
if (!hasSignals) console.info('note: Windows has no signals, so tests of them are skipped');

describe.skipIf(!hasSignals)('Ctrl-C in the middle of the replay of a long record', () => {
  test('[XR4] ends the run as cancelled with exit 130, and loses nothing; one that had finished stays finished', async () => {
    const cwd = await makeProject({ 'flow.ts': FLOW, broken: '' });
    const words = ['--no-audit', '--quiet', '--json'];
    const first = await served(['run', 'flow.ts', ...words], { cwd });
    expect(first.code).toBe(3);
    await rm(join(cwd, 'broken'));

    await writeFile(join(cwd, 'interrupt'), '');
    const cancelled = await skein(['resume', '-1', ...words], { cwd });
    expect(cancelled).toMatchObject({ code: 130, signal: null });
    expect(cancelled.stderr).toContain('SIGINT: closing the run');
    const told = JSON.parse(cancelled.stdout) as Report;
    expect(told).toMatchObject({ outcome: 'cancelled', exitCode: 130, ran: 0 });
    expect(told.reused).toBeGreaterThanOrEqual(STEPS / 2);
    expect(told.reused).toBeLessThan(STEPS - 1);
    await rm(join(cwd, 'interrupt'));

    const end = await served(['resume', '-1', ...words], { cwd });
    expect(end.code).toBe(0);
    expect(JSON.parse(end.stdout)).toMatchObject({ outcome: 'succeeded', reused: STEPS - 1, ran: 1 });
    await staysFinished(cwd, words);
  });
});

/** [XR4] A run that had finished stays finished when its replay is interrupted, with the record that it had. */
async function staysFinished(cwd: string, words: readonly string[]): Promise<void> {
  const shown = await served(['show', '-1', '--json'], { cwd });

  await writeFile(join(cwd, 'interrupt'), '');
  const cancelled = await skein(['resume', '-1', ...words], { cwd });
  expect(cancelled).toMatchObject({ code: 130, signal: null });
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ outcome: 'cancelled', ran: 0 });

  expect(await served(['show', '-1', '--json'], { cwd })).toEqual(shown);
  const list = await served(['runs', '--json'], { cwd });
  expect(JSON.parse(list.stdout)).toMatchObject({ runs: [{ status: 'succeeded' }] });
  await rm(join(cwd, 'interrupt'));
  const end = await served(['resume', '-1', ...words], { cwd });
  expect(JSON.parse(end.stdout)).toMatchObject({ outcome: 'succeeded', reused: STEPS, ran: 0 });
}
