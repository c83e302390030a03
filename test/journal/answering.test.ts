import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { answerRun, cancelRun } from '../../src/journal/answering.js';
import { readRun } from '../../src/journal/overview.js';
import { definePlan } from '../../src/plan/builder.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';
import { ASKING, chain, record } from './support/recorded-runs.js';
import { thrown } from '../thrown.js';

/** Questions side by side. */
function asking(schema?: object) {
  const fixed = schema === undefined ? {} : { schema: schema as never };
  return definePlan({
    name: 'questions',
    nodes: ['one', 'two'].map((id) => ({ id, kind: 'ask' as const, question: `${id}?`, output: id, ...fixed })),
  });
}

async function paused(plan = ASKING) {
  const store = memoryStore();
  const { id, outcome } = await record(store, plan);
  expect(outcome).toBe('paused');
  return { store, id };
}

describe('an answer', () => {
  test.each(['publish@answer', 'publish', undefined])(
    'is given by key, path, name or to the only question: %s',
    async (key) => {
      const { store, id } = await paused();
      const kept = answerRun(store, id, { ...(key === undefined ? {} : { key }), value: 'yes' });
      expect(kept).toMatchObject({ key: 'publish@answer', path: 'publish', value: 'yes', left: [] });
      expect(readRun(store, id).questions).toEqual([]);
      const { outcome, state } = await run(ASKING, { store, resume: id }).result;
      expect([outcome, state['verdict']]).toEqual(['succeeded', 'yes']);
    },
  );

  test('counts once, also when the run has taken it', async () => {
    const { store, id } = await paused(asking());
    answerRun(store, id, { key: 'one', value: 'first' });
    expect(thrown(() => answerRun(store, id, { key: 'one@answer', value: 'second' }))).toMatchObject({
      code: 'SKEIN_ANSWER',
      message: "'one@answer' was answered before",
    });
    expect((await run(asking(), { store, resume: id }).result).outcome).toBe('paused');
    expect(thrown(() => answerRun(store, id, { key: 'one@answer', value: 'third' })).message).toContain('before');
    answerRun(store, id, { value: 'only one is left' });
    const { state } = await run(asking(), { store, resume: id }).result;
    expect(state).toMatchObject({ one: 'first', two: 'only one is left' });
  });

  test('to no open question is refused, with what is open and what was meant', async () => {
    const { store, id } = await paused(asking());
    const error = thrown(() => answerRun(store, id, { key: 'onne', value: 1 }));
    expect(error.code).toBe('SKEIN_ANSWER');
    expect(error.hint).toContain('did you mean "one"?');
    expect(error.hint).toContain('open: one, two');
    expect(thrown(() => answerRun(store, id, { value: 1 })).hint).toContain('say which: one, two');
  });

  test('to a run that waits for nothing is refused', async () => {
    const store = memoryStore();
    const { id } = await record(store, chain('a'));
    expect(thrown(() => answerRun(store, id, { value: 1 }))).toMatchObject({ code: 'SKEIN_ANSWER' });
    expect(thrown(() => answerRun(store, 'nobody', { value: 1 })).code).toBe('SKEIN_NO_RUN');
  });

  test('to a run whose questions are all answered is refused, and what to do next is said', async () => {
    const { store, id } = await paused();
    answerRun(store, id, { value: 'yes' });
    const again = thrown(() => answerRun(store, id, { key: 'publish', value: 'no' }));
    expect(again.message).toBe("'publish' was answered before");
    expect(thrown(() => answerRun(store, id, { value: 'no' }))).toMatchObject({
      message: 'every question of the run has been answered',
      hint: `skein resume ${id} continues it`,
    });
  });

  test('to what a session noted among the answers is refused: it is no question', async () => {
    const { store, id } = await paused();
    const [note] = store.answers(id);
    expect(note?.by).toBe('run');
    expect(thrown(() => answerRun(store, id, { key: note?.key ?? '', value: 'yes' })).message).toBe(
      `the run has no question '${note?.key}'`,
    );
  });

  test.each(['approved', 'hold', 'hold@event'])('given again by %j is refused as answered before', async (key) => {
    const plan = definePlan({
      name: 'events',
      nodes: [
        { id: 'hold', kind: 'wait', event: 'approved', output: 'approved' },
        { id: 'sent', kind: 'wait', event: 'shipped', output: 'shipped' },
      ],
    });
    const { store, id } = await paused(plan);
    answerRun(store, id, { key: 'approved', value: 1 });
    const refused = {
      code: 'SKEIN_ANSWER',
      message: `'${key}' was answered before`,
      hint: 'the first answer counts; open: shipped',
    };
    expect(thrown(() => answerRun(store, id, { key, value: 2 }))).toMatchObject(refused);
    expect((await run(plan, { store, resume: id }).result).outcome).toBe('paused');
    expect(thrown(() => answerRun(store, id, { key, value: 2 }))).toMatchObject(refused);
    expect(thrown(() => answerRun(store, id, { key: 'aproved', value: 2 })).message).toContain('no question');
  });

  test('to one of several questions of a step is asked for by its key', async () => {
    const plan = definePlan({
      name: 'twice',
      nodes: [{ id: 'judge', run: (_, step) => Promise.all(['Good?', 'Sure?'].map((text) => step.ask({ text }))) }],
    });
    const { store, id } = await paused(plan);
    const error = thrown(() => answerRun(store, id, { key: 'judge', value: 1 }));
    expect(error.hint).toBe('say which: judge@ask:1, judge@ask:2');
  });

  test('that does not match the schema is refused, and another may follow', async () => {
    const { store, id } = await paused(asking({ type: 'object', required: ['ok'] }));
    const error = thrown(() => answerRun(store, id, { key: 'one', value: { no: 1 } }));
    expect(error.code).toBe('SKEIN_ANSWER');
    expect(error.message).toContain('"ok"');
    expect(answerRun(store, id, { key: 'one', value: { ok: 1 } }).value).toEqual({ ok: 1 });
  });

  test('that comes too late is refused', async () => {
    const { store, id } = await paused(
      definePlan({ name: 'late', nodes: [{ id: 'go', kind: 'wait', event: 'go', ms: 3_600_000 }] }),
    );
    const { expires: due = 0 } = readRun(store, id).questions[0] ?? {};
    expect(readRun(store, id, { now: due - 1 }).questions[0]).not.toHaveProperty('overdue');
    expect(readRun(store, id, { now: due }).questions[0]).toMatchObject({ overdue: true, name: 'go' });
    const clock = vi.spyOn(Date, 'now').mockReturnValue(due);
    onTestFinished(() => clock.mockRestore());
    const error = thrown(() => answerRun(store, id, { key: 'go', value: 1 }));
    expect([error.code, error.message]).toEqual(['SKEIN_ANSWER', expect.stringContaining('was due at')]);
    expect(store.answers(id).filter(({ key }) => key.startsWith('go'))).toEqual([]);
  });

  test('that is not JSON is refused', async () => {
    const { store, id } = await paused(asking());
    expect(thrown(() => answerRun(store, id, { key: 'one', value: () => 1 })).code).toBe('SKEIN_NOT_JSON');
  });
});

describe('a typed answer', () => {
  test.each([
    ['2', 'no'],
    ['yes', 'yes'],
    ['  yes ', 'yes'],
  ])('%j to a question with choices is %j', async (text, value) => {
    const { store, id } = await paused();
    expect(answerRun(store, id, { text }).value).toBe(value);
  });

  test.each([
    [{ type: 'number' }, '5', 5],
    [{ type: 'string' }, '5', '5'],
    [{ type: 'array' }, '[1, 2]', [1, 2]],
    [undefined, '{"a":1}', '{"a":1}'],
  ])('for the schema %j: %j', async (schema, text, value) => {
    const { store, id } = await paused(asking(schema));
    expect(answerRun(store, id, { key: 'one', text }).value).toEqual(value);
  });

  test('that is none of the choices is refused with the choices', async () => {
    const { store, id } = await paused();
    const error = thrown(() => answerRun(store, id, { text: 'perhaps' }));
    expect([error.code, error.hint]).toEqual(['SKEIN_ANSWER', 'choices: yes, no']);
    expect(error.message).toMatch(/does not match what was asked for: it must be one of the choices$/);
  });

  test('that does not fit a schema is refused with what it lacks, said once', async () => {
    const { store, id } = await paused(asking({ type: 'integer' }));
    const error = thrown(() => answerRun(store, id, { key: 'one', text: 'many' }));
    expect(error.message).toMatch(/'one@answer' does not match what was asked for: \/: must be integer, not string$/);
  });

  test.each([
    ['{"a":1}', { a: 1 }],
    ['hello', 'hello'],
    ['null', null],
  ])('to an event is JSON where it can be: %j', async (text, value) => {
    const { store, id } = await paused(
      definePlan({ name: 'w', nodes: [{ id: 'go', kind: 'wait', event: 'start', output: 'x' }] }),
    );
    expect(answerRun(store, id, { key: 'start', text }).value).toEqual(value);
  });
});

describe('cancelling', () => {
  test('a run that nobody runs is recorded as cancelled, and can still be resumed', async () => {
    const { store, id } = await paused();
    expect(cancelRun(store, id)).toBe('cancelled');
    expect(readRun(store, id).status).toBe('cancelled');
    expect(store.run(id)).toMatchObject({ outcome: 'cancelled' });
    expect(store.run(id)?.holder).toBeUndefined();
    expect(cancelRun(store, id)).toBe('ended');
    expect((await run(ASKING, { store, resume: id }).result).outcome).toBe('paused');
    answerRun(store, id, { key: 'publish', value: 'yes' });
    expect((await run(ASKING, { store, resume: id }).result).outcome).toBe('succeeded');
  });

  test('a run that has ended stays as it is', async () => {
    const store = memoryStore();
    const { id } = await record(store, chain('a'));
    expect(cancelRun(store, id)).toBe('ended');
    expect(readRun(store, id).status).toBe('succeeded');
  });

  test('a run that runs is closed by its process', async () => {
    const store = memoryStore();
    const plan = definePlan({ name: 'long', nodes: [{ id: 'wait', kind: 'wait', ms: 3_600_000 }] });
    const running = record(store, plan, { runId: 'r' });
    expect(readRun(store, 'r').status).toBe('running');
    expect(cancelRun(store, 'r')).toBe('requested');
    expect((await running).outcome).toBe('cancelled');
    expect(readRun(store, 'r').steps).toMatchObject([{ path: 'wait', outcome: 'cancelled' }]);
  });
});
