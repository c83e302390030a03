import { describe, expect, test } from 'vitest';
import { definePlan } from '../../src/plan/builder.js';
import { ASKING, chain, record } from '../journal/support/recorded-runs.js';
import { projectWith } from './support/recorded.js';
import { CHAIN, makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** Two runs of a chain with different ends, and a paused one, which is the newest. */
function threeRuns() {
  return projectWith(async (store) => {
    const first = await record(store, chain('a', 'b'), { inputs: {} });
    const second = await record(
      store,
      definePlan({
        name: 'chain',
        nodes: [
          { id: 'a', output: 'a', run: () => 'a done\nin two lines\u001b[2J' },
          { id: 'c', output: 'c', run: () => 1 },
        ],
        edges: [['a', 'c']],
      }),
    );
    const paused = await record(store, ASKING);
    return { first: first.id, second: second.id, paused: paused.id };
  });
}

describe('skein runs', () => {
  test('lists the runs, newest first, by an id that other commands take', async () => {
    const { cwd, made } = await threeRuns();
    const end = await served(['runs'], { cwd });
    expect([end.code, end.stderr]).toEqual([0, '']);
    const [head, ...rows] = end.stdout.trimEnd().split('\n');
    expect(head).toMatch(/^run +workflow +status +began +time +steps +pauses$/);
    expect(rows.map((row) => row.split(/ {2,}/).slice(1, 3))).toEqual([
      ['asking', 'paused'],
      ['chain', 'succeeded'],
      ['chain', 'succeeded'],
    ]);
    const short = rows[2]?.split(' ')[0] ?? '';
    expect((await served(['show', short], { cwd })).stdout).toContain(made.first);
    const { runs } = JSON.parse((await served(['runs', '--json'], { cwd })).stdout) as {
      runs: readonly { id: string }[];
    };
    expect(runs.map((run) => run.id)).toEqual([made.paused, made.second, made.first]);
  });

  test('prune removes what has ended and says what stayed', async () => {
    const { cwd, made } = await threeRuns();
    const month = await served(['runs', 'prune'], { cwd });
    expect(month.stdout).toBe('removed 0 runs; stayed: 2 new enough, 1 not finished\n');
    const one = await served(['runs', 'prune', '--keep', '1', '--json'], { cwd });
    expect(JSON.parse(one.stdout)).toMatchObject({ removed: [made.first], recent: 1, unfinished: 1, parents: 0 });
    expect((await served(['runs', 'prune', '--older-than', '0'], { cwd })).stdout).toMatch(/^removed 1 run[;,]/);
    const wrong = await served(['runs', 'prune', '--older-than', 'monday'], { cwd });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('such as 30d');
  });
});

describe('skein show', () => {
  test('tells steps, what is asked, and the command that answers', async () => {
    const { cwd, made } = await threeRuns();
    const { code, stdout } = await served(['show', '-1'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(`run ${made.paused}`);
    expect(stdout).toMatch(/draft +succeeded/);
    expect(stdout).toMatch(/publish +paused/);
    expect(stdout).toContain(`skein answer ${made.paused.slice(-8)} publish VALUE`);
  });

  test('prints all of it as JSON, outputs too', async () => {
    const { cwd, made } = await threeRuns();
    const { stdout } = await served(['show', made.second, '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({
      id: made.second,
      steps: [
        { path: 'a', output: 'a done\nin two lines\u001b[2J' },
        { path: 'c', output: 1 },
      ],
    });
    expect(stdout).not.toContain('\u001b');
  });

  test.each([
    ['nobody', 'there is no run nobody'],
    ['-4', '3 runs are recorded here'],
    ['01a', 'matches 3 runs'],
  ])('refuses %s', async (text, message) => {
    const { cwd } = await threeRuns();
    const { code, stderr, stdout } = await served(['show', text], { cwd });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('SKEIN_NO_RUN');
    expect(stderr).toContain(message);
    expect(stderr).toContain('hint: ');
  });

  test('says so where nothing was recorded', async () => {
    const { code, stderr } = await served(['show', '-1'], { cwd: await makeProject() });
    expect(code).toBe(2);
    expect(stderr).toContain('no run is recorded here');
  });
});

test('skein logs tells what happened in order', async () => {
  const { cwd } = await threeRuns();
  const { stdout } = await served(['logs', '-1'], { cwd });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.replace(/^[\d-]+ [\d:.]+ {2}/, '').replace(/ \(\w+\)$/, ''))).toEqual([
    'the run began',
    'draft succeeded',
    'publish asks: Publish a text?',
    'publish paused: Publish a text?',
    'the session ended paused: 1 succeeded, 1 paused, 1 not run',
  ]);
});

describe('skein compare', () => {
  test('puts two runs side by side and shows what their outputs differ in', async () => {
    const { cwd } = await threeRuns();
    const { stdout } = await served(['compare', '-3', '-2'], { cwd });
    expect(stdout).toMatch(/^a +≠ +succeeded, \S+ +succeeded/m);
    expect(stdout).toMatch(/^b +≠ +succeeded, \S+ +-$/m);
    expect(stdout).toMatch(/^c +≠ +- +succeeded/m);
    expect(stdout).toContain('output of a:\n  + in two lines\\x1b[2J\n');
  });

  test('as JSON', async () => {
    const { cwd, made } = await threeRuns();
    const { stdout } = await served(['compare', made.first, made.second, '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({
      runs: [{ id: made.first }, { id: made.second }],
      sameInputs: true,
      steps: [
        { path: 'a', differs: true },
        { path: 'c', differs: true },
        { path: 'b', differs: true, runs: [{ outcome: 'succeeded' }, null] },
      ],
    });
  });
});

test('commands mark in ASCII in a locale without UTF-8', async () => {
  const cwd = await makeProject({ 'flow.yaml': CHAIN });
  for (const topic of ['looms', 'mills'])
    await served(['run', 'flow.yaml', '--mock', '--no-audit', '-i', `topic=${topic}`], { cwd });
  for (const words of [['doctor'], ['plan', 'flow.yaml'], ['compare', '-1', '-2'], ['show', '-1'], ['runs']]) {
    const { stdout } = await served(words, { cwd, env: { LC_ALL: 'C' } });
    expect(stdout).not.toBe('');
    expect(stdout).toMatch(/^[\n -~]*$/);
  }
  expect((await served(['compare', '-1', '-2'], { cwd, env: { LC_ALL: 'C' } })).stdout).toMatch(/ !=  succeeded/);
});
