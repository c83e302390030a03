import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readRun } from '../../src/journal/overview.js';
import { definePlan } from '../../src/plan/builder.js';
import { openSqliteStore } from '../../src/sqlite.js';
import { ASKING, chain, record } from '../journal/support/recorded-runs.js';
import { projectWith } from './support/recorded.js';
import { makeProject } from './support/skein.js';
import { served } from './support/served.js';
import { noTerminal, startOnTerminal } from './support/terminal.js';

const asking = () => projectWith(async (store) => (await record(store, ASKING)).id);

/** Questions side by side that want a number. */
const NUMBERS = definePlan({
  name: 'numbers',
  nodes: ['one', 'two'].map((id) => ({
    id,
    kind: 'ask' as const,
    question: `${id}?`,
    output: id,
    schema: { type: 'number' },
  })),
});

describe('skein answer', () => {
  test('records an answer and says how to go on', async () => {
    const { cwd, made } = await asking();
    const end = await served(['answer', '-1', 'publish', '2'], { cwd });
    expect(end).toMatchObject({ code: 0, stdout: 'publish is answered: "no"\n' });
    expect(end.stderr).toContain(`\n  skein resume ${made.slice(-8)}\n`);
    const again = await served(['answer', '-1', 'publish@answer', 'yes'], { cwd });
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(again.stderr).toContain('SKEIN_ANSWER');
    expect(again.stderr).toContain('answered before');
  });

  test.each([
    ['without the key', ['yes'], ''],
    ['from stdin', ['publish', '-'], 'yes\n'],
  ])('%s', async (_, words, input) => {
    const { cwd } = await asking();
    expect((await served(['answer', '-1', ...words], { cwd, input })).stdout).toBe('publish is answered: "yes"\n');
  });

  test('that is refused leaves the question open', async () => {
    const { cwd } = await asking();
    const end = await served(['answer', '-1', 'publish', 'perhaps'], { cwd });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('choices: yes, no');
    expect((await served(['answer', '-1', 'publsh'], { cwd })).stderr).toContain('did you mean "publish"?');
    expect((await served(['answer', '-1'], { cwd })).code).toBe(5);
  });

  test('says which questions are still open, and takes numbers for a schema', async () => {
    const { cwd, made } = await projectWith(async (store) => (await record(store, NUMBERS)).id);
    const end = await served(['answer', made, 'two', '-5'], { cwd });
    expect(end.stdout).toBe('two is answered: -5\n');
    expect(end.stderr).toContain('1 question still open');
    expect(end.stderr).toContain('one asks: one?\n  answer: a number\n');
    const last = await served(['answer', made, 'one', '7', '--json'], { cwd });
    expect(JSON.parse(last.stdout)).toEqual({
      run: made,
      key: 'one@answer',
      path: 'one',
      value: 7,
      left: [],
      status: 'paused',
    });
  });

  test.each([
    [{ type: 'integer', minimum: 1, maximum: 5 }, 'a whole number from 1 to 5'],
    [{ type: 'string', description: 'Your name.' }, 'Your name. (text)'],
    [{ type: 'boolean' }, 'true or false'],
    [{ enum: ['low', 3] }, '"low" or 3'],
    [{ type: 'array', items: { type: 'string' } }, '[text, ...] as JSON'],
    [
      { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' }, note: { type: 'string' } } },
      '{ "ok": true or false, "note"?: text } as JSON',
    ],
    [{ type: 'string', maxLength: 3 }, 'JSON that matches {"type":"string","maxLength":3}'],
  ])('shows what a person types for %j', async (schema, words) => {
    const plan = definePlan({ name: 'p', nodes: [{ id: 'a', kind: 'ask', question: 'What?', output: 'a', schema }] });
    const { cwd, made } = await projectWith(async (store) => (await record(store, plan)).id);
    for (const command of ['show', 'answer'])
      expect(Object.values(await served([command, made], { cwd })).join('\n')).toContain(`  answer: ${words}\n`);
  });

  test('and a wish to cancel, reach the process that runs it', async () => {
    const plan = definePlan({
      name: 'live',
      nodes: [
        { id: 'go', kind: 'wait', event: 'start', output: 'x' },
        { id: 'long', kind: 'wait', ms: 600_000 },
      ],
    });
    const cwd = await makeProject();
    const store = await openSqliteStore(join(cwd, '.skein/skein.db'));
    onTestFinished(() => store.close());
    const running = record(store, plan, { runId: 'live' });
    const end = await served(['answer', 'live', 'start', '{"now":true}'], { cwd });
    expect(end.stderr).toContain('the process that runs it continues');
    expect((await served(['cancel', 'live'], { cwd })).stdout).toContain('was asked to cancel it');
    expect((await running).outcome).toBe('cancelled');
    const { steps } = readRun(store, 'live', { outputs: true });
    expect(steps).toMatchObject([
      { path: 'go', outcome: 'succeeded', output: { now: true } },
      { path: 'long', outcome: 'cancelled' },
    ]);
  });

  const why = noTerminal();
  test.skipIf(why !== undefined)(`asks on a terminal until the answer is taken ${why ?? ''}`, async () => {
    const { cwd } = await asking();
    const running = startOnTerminal(['answer', '-1'], { cwd });
    await running.seen('Publish a text?');
    await running.seen('> ');
    running.child.stdin?.write('perhaps\n');
    await running.seen('does not match');
    running.child.stdin?.write('1\n');
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('publish is answered: "yes"');
  });
});

describe('skein cancel', () => {
  test('cancels what nobody runs, and says what had ended before', async () => {
    const { cwd, made } = await projectWith(async (store) => {
      const { id } = await record(store, chain('a'));
      return { ended: id, paused: (await record(store, ASKING)).id };
    });
    expect((await served(['cancel', '-1'], { cwd })).stdout).toBe(`run ${made.paused} is cancelled\n`);
    // An answer is refused, so none is proposed: a resume asks again.
    const shown = (await served(['show', '-1'], { cwd })).stdout;
    expect(shown).toContain('asking cancelled');
    expect(shown).not.toContain('skein answer');
    expect((await served(['runs', '--json'], { cwd })).stdout).toContain('"pauses": 0');
    expect((await served(['cancel', '-2'], { cwd })).stdout).toBe(`run ${made.ended} had already ended: succeeded\n`);
  });
});
