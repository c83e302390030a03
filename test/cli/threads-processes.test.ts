import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { served } from './support/served.js';
import { makeProject, skein, startSkein } from './support/skein.js';

/** Says what it does in a file; dies once where it is told to; waits where it is told to, until a file is there. */
const CHAT = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { graph } from 'skein/graph';
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export default graph({ name: 'chat', inputs: ['say'], reducers: { log: 'append' } })
  .addNode('hear', (s) => {
    appendFileSync('did.txt', 'heard ' + s.say + '\\n');
    return { log: 'heard ' + s.say };
  })
  .addNode('act', async (s) => {
    if (s.say === 'die' && !existsSync('died.txt')) {
      writeFileSync('died.txt', '');
      process.kill(process.pid, 'SIGKILL');
      await sleep(60_000);
    }
    if (s.say === 'wait') {
      writeFileSync('waits.txt', '');
      while (!existsSync('go.txt')) await sleep(20);
    }
    return { log: 'did ' + s.say };
  })
  .addEdge('hear', 'act')
  .setEntry('hear');
`;

const words = (say: string, ...more: readonly string[]): readonly string[] => [
  'run',
  'chat.mjs',
  '--thread',
  'ada',
  '-q',
  '--no-audit',
  '-i',
  `say=${say}`,
  ...more,
];

async function logOf(cwd: string): Promise<readonly string[]> {
  const { stdout } = await served(['thread', 'ada', '--json'], { cwd });
  return (JSON.parse(stdout) as { state: { log: readonly string[] } }).state.log;
}

it(
  '[XG6] a turn whose process was killed is gone on with first: what it had done is not done again',
  { timeout: 180_000 },
  async () => {
    const cwd = await makeProject({ 'chat.mjs': CHAT });
    expect((await served(words('a'), { cwd })).code).toBe(0);
    expect((await skein(words('die'), { cwd })).signal).toBe('SIGKILL');
    expect((await served(['threads'], { cwd })).stdout).toMatch(/^ada +chat +2 +interrupted/m);
    expect((await served(words('b'), { cwd })).code).toBe(0);
    expect(await logOf(cwd)).toEqual(['heard a', 'did a', 'heard die', 'did die', 'heard b', 'did b']);
    expect((await readFile(join(cwd, 'did.txt'), 'utf8')).trim().split('\n')).toEqual([
      'heard a',
      'heard die',
      'heard b',
    ]);
  },
);

it(
  '[XG6] a turn whose process was killed may be resumed by itself, and then counts',
  { timeout: 180_000 },
  async () => {
    const cwd = await makeProject({ 'chat.mjs': CHAT });
    expect((await skein(words('die'), { cwd })).signal).toBe('SIGKILL');
    expect((await served(['resume', '-1', '-q'], { cwd })).code).toBe(0);
    expect(await logOf(cwd)).toEqual(['heard die', 'did die']);
    expect((await served(words('b'), { cwd })).code).toBe(0);
    expect(await logOf(cwd)).toEqual(['heard die', 'did die', 'heard b', 'did b']);
    expect((await served(['fork', '-1', '-q', '--no-audit', '--set', 'say=c'], { cwd })).code).toBe(0);
    expect(await logOf(cwd)).toEqual(['heard die', 'did die', 'heard b', 'did b']);
  },
);

it(
  '[XG6] a turn that took its inputs from the turn before is resumed and forked without them',
  { timeout: 180_000 },
  async () => {
    const cwd = await makeProject({ 'chat.mjs': CHAT });
    expect((await skein(words('die'), { cwd })).signal).toBe('SIGKILL');
    await rm(join(cwd, 'died.txt'));
    expect((await skein(['resume', '-1', '-q'], { cwd })).signal).toBe('SIGKILL');
    await rm(join(cwd, 'died.txt'));
    // Goes on with that one first, which dies once more; the one after it is given nothing.
    const bare = words('x').slice(0, -2);
    expect((await skein(bare, { cwd })).signal).toBe('SIGKILL');
    expect((await served(bare, { cwd })).code).toBe(0);
    expect(await logOf(cwd)).toEqual(['heard die', 'did die', 'heard die', 'did die']);
    expect((await served(['resume', '-1', '-q'], { cwd })).code).toBe(0);
    expect((await served(['fork', '-1', '-q', '--no-audit'], { cwd })).code).toBe(0);
    expect(await logOf(cwd)).toEqual(['heard die', 'did die', 'heard die', 'did die']);
  },
);

it('[XG6] two processes on one thread: the second waits, or is refused', { timeout: 180_000 }, async () => {
  const cwd = await makeProject({ 'chat.mjs': CHAT });
  expect((await served(words('a'), { cwd })).code).toBe(0);
  const first = startSkein(words('wait'), { cwd, input: '' });
  await until(() => readFile(join(cwd, 'waits.txt')));
  const refused = await skein(words('no', '--on-busy', 'refuse'), { cwd });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("the thread 'ada' is busy")]);
  const second = startSkein(words('b'), { cwd, input: '' });
  const third = startSkein(words('c'), { cwd, input: '' });
  await writeFile(join(cwd, 'go.txt'), '');
  expect([await first.ended, await second.ended, await third.ended].map(({ code }) => code)).toEqual([0, 0, 0]);
  const log = await logOf(cwd);
  expect(log.slice(0, 4)).toEqual(['heard a', 'did a', 'heard wait', 'did wait']);
  const [b, c] = [
    ['heard b', 'did b'],
    ['heard c', 'did c'],
  ] as const;
  expect([
    [...b, ...c],
    [...c, ...b],
  ]).toContainEqual(log.slice(4));
});

/** Tries until it works. */
async function until(look: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await look();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
