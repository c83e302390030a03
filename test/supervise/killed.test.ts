import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { answerRun, definePlan, memoryStore, readRun } from 'skein';
import type { AnswerQuestion, Store, Supervisor } from 'skein';
import { openSqliteStore } from 'skein/sqlite';
import { doneKeys, prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { DRIFT, FakeModels, HAPPY, runWith } from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'skein-supervised-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const agent = { name: 'a', instructions: ['Write.'], models: ['fake/own'], tools: [] };

/** An agent that is corrected once and then judged by a person, and a function that a model judges. */
const PLAN = definePlan({
  name: 'both',
  nodes: [
    { id: 'w', kind: 'agent', agent, prompt: ['Write.'], output: 'text', supervise: { by: 'model' } },
    {
      id: 'f',
      kind: 'task',
      output: 'shout',
      run: ({ text }: { readonly text?: string }) => `${text ?? ''}!`,
      supervise: { by: 'human', model: 'fake/judge', instruction: ['Shout.'] },
    },
  ],
  edges: [['w', 'f']],
});

/** The first draft is corrected, the second is sent to a person, who has it revised: so `w` takes three attempts. */
function models(): FakeModels {
  const draft = (prompt: string): string =>
    prompt.includes('shorter') ? 'two' : prompt.includes('calmer') ? 'three' : 'one';
  return new FakeModels({
    work: ({ prompt }) => draft(prompt),
    post: ({ path, prompt }) => (path === 'w' && !prompt.includes('calmer') ? DRIFT : HAPPY.post),
    supervise: ({ prompt }) =>
      prompt.includes('calmer')
        ? HAPPY.supervise
        : prompt.includes('shorter')
          ? '{"verdict":"ask_human","question":"Is two fine?"}'
          : '{"verdict":"reorient","correction":"shorter"}',
  });
}

const answering = (answers: string[]): AnswerQuestion => {
  return (_question, address) => {
    answers.push(address);
    return Promise.resolve(address.startsWith('w') ? 'revise: calmer' : 'approve');
  };
};

const KEYS = /@(?:commit|post|supervise|human|model#1)$/;

/** What a process that died has left, in a file. */
async function sqliteWith(name: string, batches: ReturnType<Store['read']>): Promise<Store> {
  const store = await openSqliteStore(join(folder, `${name}.db`));
  const lease = store.create({ id: 'r', name: 'both', createdAt: 0 }, { id: 'gone', host: 'elsewhere', pid: 1 }, 0);
  store.append(batches.map((batch) => ({ ...batch, lease })));
  return store;
}

describe('[addition 1] a supervised run that is killed', () => {
  it('after any of its records has each phase, each piece of work and each answer once', async () => {
    const store = memoryStore();
    const whole = models();
    const asked: string[] = [];
    const wanted = await runWith(whole, PLAN, { store, runId: 'r', answer: answering(asked) });
    expect([wanted.outcome, wanted.state['shout']]).toEqual(['succeeded', 'three!']);
    expect(asked).toEqual(['w~2@human', 'f@human']);
    const all = doneKeys(store.read('r').flatMap(({ text }) => text.split('\n'))).filter((key) => KEYS.test(key));
    expect(all.join(' ')).toBe(
      'w@commit w@model#1 w@post w@supervise w~2@model#1 w~2@post w~2@supervise w~2@human ' +
        'w~3@model#1 w~3@post w~3@supervise f@commit f@post f@human',
    );
    for (const [at, { name, batches, lines }] of prefixesOf('r', store.read('r')).entries()) {
      // A file each would take most of the time.
      const copy = at % 4 === 0 ? await sqliteWith(`r${at}`, batches) : storeWith('r', batches, store);
      const again = models();
      const answers: string[] = [];
      const result = await runWith(again, PLAN, { store: copy, resume: 'r', answer: answering(answers) });
      const recorded = doneKeys(lines).filter((key) => KEYS.test(key));
      const spent = readRun(copy, 'r');
      expect({
        name,
        outcome: result.outcome,
        shout: result.state['shout'],
        more: again.asked.length + answers.length,
        counted: spent.modelCalls,
      }).toEqual({
        name,
        outcome: 'succeeded',
        shout: 'three!',
        more: all.length - recorded.length,
        counted: whole.asked.length,
      });
    }
  });

  it('[S10] the answer may come in a later session; an answer to an attempt that is gone is refused', async () => {
    const store = memoryStore();
    const first = await runWith(models(), PLAN, { store, runId: 'r' });
    expect([first.outcome, first.questions.map(({ key }) => key)]).toEqual(['paused', ['w~2@human']]);
    expect(first.questions[0]).toMatchObject({
      question: expect.stringContaining('Is two fine?') as unknown,
      evidence: {
        output: 'two',
        promised: { interpretation: 'write it' },
        delivered: { deviations: ['too long'] },
        correction: 'shorter',
      },
    });
    expect(() => answerRun(store, 'r', { key: 'w@human', value: 'approve' })).toThrow(/no question 'w@human'/);
    expect(() => answerRun(store, 'r', { key: 'w', value: 'yes, looks fine' })).toThrow(/does not match/);
    answerRun(store, 'r', { key: 'w', text: '{"revise":"calmer"}' });
    const second = models();
    const { outcome, questions } = await runWith(second, PLAN, { store, resume: 'r' });
    expect([outcome, questions.map(({ key }) => key)]).toEqual(['paused', ['f@human']]);
    expect(second.calls).toEqual(['w work', 'w post', 'w supervise', 'f commit', 'f post']);
    expect(() => answerRun(store, 'r', { key: 'w~2@human', value: 'approve' })).toThrow(/answered before|no question/);
    answerRun(store, 'r', { key: 'f', text: 'approve' });
    const third = models();
    const last = await runWith(third, PLAN, { store, resume: 'r' });
    expect([last.outcome, last.state['shout'], third.calls]).toEqual(['succeeded', 'three!', []]);
  });

  it('[S7] asks a supervisor again whose model failed, and does no work again', async () => {
    const plan = definePlan({
      name: 'one',
      nodes: [{ id: 'w', kind: 'agent', agent, prompt: ['Write.'], output: 'text', supervise: { by: 'model' } }],
    });
    const store = memoryStore();
    const supervise = (): never => {
      throw new Error('down');
    };
    const first = await runWith(new FakeModels({ post: DRIFT, supervise }), plan, { store, runId: 'r' });
    expect(first.outcome).toBe('failed');
    const again = new FakeModels({ post: DRIFT });
    const { outcome, state } = await runWith(again, plan, { store, resume: 'r' });
    expect([outcome, state['text'], again.calls]).toEqual(['succeeded', 'done', ['w supervise']]);
  });

  it('[addition 1] another version of a supervisor in code judges again, and nothing else is done again', async () => {
    let judged = 0;
    const strict = (version: string): Supervisor => ({
      version,
      reconcile: () => ({ triggers: ['always'], escalate: true }),
      supervise: () => {
        judged += 1;
        return { verdict: 'continue' };
      },
    });
    const plan = definePlan({
      name: 'one',
      nodes: [{ id: 'w', kind: 'agent', agent, prompt: ['Write.'], output: 'text', supervise: { by: 'model' } }],
    });
    const store = memoryStore();
    await runWith(models(), plan, { store, runId: 'r', supervisor: strict('1') });
    const same = models();
    await runWith(same, plan, { store, runId: 'same', fork: { run: 'r' }, supervisor: strict('1') });
    expect([judged, same.calls]).toEqual([1, []]);
    const other = models();
    await runWith(other, plan, { store, runId: 'other', fork: { run: 'r' }, supervisor: strict('2') });
    expect([judged, other.calls]).toEqual([2, []]);
  });
});
