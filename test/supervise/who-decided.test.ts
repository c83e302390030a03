import { describe, expect, it } from 'vitest';
import { SkeinError, answerRun, definePlan, memoryStore, readRun, supervisor } from 'skein';
import type { RunOptions, StepNote, Store } from 'skein';
import { goal, sequence, workflow } from 'skein/tree';
import { chainSum, FIRST_SUM } from '../../src/journal/codec.js';
import { linesOf, storeWith } from '../engine/recorded/in-process.js';
import { FakeModels, runWith } from './support.js';

const agent = { name: 'a', instructions: ['Write.'], models: ['fake/own'], tools: [] };
const supervise = { by: 'human' } as const;
const ONE = definePlan({
  name: 'one',
  nodes: [{ id: 'w', kind: 'agent', agent, prompt: ['Write.'], output: 'text', supervise }],
});
const BOTH = definePlan({
  name: 'both',
  nodes: [
    { id: 'w', kind: 'agent', agent, prompt: ['Write.'], output: 'text', supervise, onError: 'continue' },
    { id: 'open', kind: 'ask', question: ['Go?'], output: 'go' },
  ],
});
const approves: RunOptions['answer'] = () => Promise.resolve('approve');

const decided = (notes: readonly StepNote[]): readonly StepNote[] =>
  notes.filter(({ kind }) => kind === 'approval.decided');
const judged = (store: Store, run = 'r'): unknown =>
  readRun(store, run).steps.find(({ path }) => path === 'w')?.supervision;
const by = (answeredBy: string): object => ({ by: 'human', answeredBy, corrections: 0, accepted: true });

/** A run that stands at its questions. */
async function paused(): Promise<Store> {
  const store = memoryStore();
  expect((await runWith(new FakeModels(), ONE, { store, runId: 'r' })).outcome).toBe('paused');
  return store;
}

/** What a process that died has left of it, with lines as they are `edited`. */
function leftOf(store: Store, edited: (line: string) => string = (line) => line): Store {
  const lines = linesOf(store, 'r').filter((line) => !/"t":"(?:end|log)"/.test(line));
  const text = lines.map(edited).join('\n');
  return storeWith('r', [{ seq: 0, text, sum: chainSum(FIRST_SUM, 'r', 0, text) }], store);
}

describe('who decided about a step that a person supervises', () => {
  it('[addition 11] is the program for a function, with a store and without, and the same on a replay and in a fork', async () => {
    const decision = { kind: 'approval.decided', verdict: 'approve', by: 'code' };
    const alone = await runWith(new FakeModels(), ONE, { answer: approves });
    expect(decided(alone.notes)).toEqual([decision]);
    const store = memoryStore();
    const first = await runWith(new FakeModels(), ONE, { store, runId: 'r', answer: approves });
    expect([decided(first.notes), judged(store)]).toEqual([[decision], by('code')]);
    const left = leftOf(store);
    const again = await runWith(new FakeModels(), ONE, { store: left, resume: 'r' });
    expect([decided(again.notes), judged(left)]).toEqual([[decision], by('code')]);
    const fork = await runWith(new FakeModels(), ONE, { store, runId: 'f', fork: { run: 'r' } });
    expect(decided(fork.notes)).toEqual([decision]);
  });

  it.each(['terminal', 'command', 'code'] as const)(
    '[addition 11] is %s where it was answered so, for the resumed run, its result and its overview',
    async (from) => {
      const store = await paused();
      answerRun(store, 'r', { value: 'revise: shorter', by: 'command' });
      await runWith(new FakeModels(), ONE, { store, resume: 'r' });
      answerRun(store, 'r', { value: 'approve', by: from });
      const end = await runWith(new FakeModels(), ONE, { store, resume: 'r' });
      expect(decided(end.notes)).toEqual([
        { kind: 'approval.decided', verdict: 'revise', by: 'command' },
        { kind: 'approval.decided', verdict: 'approve', by: from },
      ]);
      expect(judged(store)).toEqual({ by: 'human', answeredBy: from, corrections: 1, accepted: true });
    },
  );

  it('[addition 12] stands in the checkpoint, and in the events of a tree', async () => {
    const kept: unknown[] = [];
    const told: unknown[] = [];
    const flow = workflow('one').add(sequence('s').steps(goal('w', 'Write.').superviseByHuman()));
    const { outcome } = await flow.execute(
      {
        model: 'fake/own',
        supervisor: supervisor(),
        human: approves,
        checkpoints: (_name, checkpoint) => void kept.push(checkpoint),
        telemetry: (event) => void (event.name === 'approval.decided' && told.push(event)),
      },
      {},
      { models: new FakeModels().options },
    );
    expect(outcome).toBe('succeeded');
    expect(kept).toMatchObject([{ path: 'w', attempts: [{ human: { verdict: 'approve', by: 'code' } }] }]);
    expect(told).toMatchObject([{ goal: 'w', verdict: 'approve', by: 'code' }]);
  });

  it('is not known of a record that does not say it', async () => {
    const store = memoryStore();
    await runWith(new FakeModels(), ONE, { store, runId: 'r', answer: approves });
    const older = leftOf(store, (line) => line.replace(',"by":"code"', ''));
    const end = await runWith(new FakeModels(), ONE, { store: older, resume: 'r' });
    expect(decided(end.notes)).toEqual([{ kind: 'approval.decided', verdict: 'approve' }]);
    expect(judged(older)).toEqual({ by: 'human', corrections: 0, accepted: true });
  });
});

describe('an answer that is not what was asked for', () => {
  it('[S10] of a function fails the step, and is asked again on a resume, also after another question left the run paused', async () => {
    const store = memoryStore();
    const models = new FakeModels();
    const answer: RunOptions['answer'] = ({ text }) =>
      text.startsWith('Review') ? Promise.resolve('yes') : Promise.reject(new SkeinError('SKEIN_QUESTION', 'later'));
    const first = await runWith(models, BOTH, { store, runId: 'r', answer });
    expect(first.outcome).toBe('paused');
    expect(JSON.stringify(first.events)).toMatch(/SKEIN_ANSWER.*"hint":"answer approve, reject, or revise:/);
    const asked: string[] = [];
    const again = await runWith(models, BOTH, {
      store,
      resume: 'r',
      answer: (question, key) => {
        asked.push(key);
        return Promise.resolve(question.text.startsWith('Review') ? 'approve' : 'go');
      },
    });
    expect([again.outcome, asked]).toEqual(['succeeded', ['open@answer', 'w@human']]);
    expect(models.of('work')).toHaveLength(1);
  });

  it('that is recorded after all does not count: it is asked again, and can be answered', async () => {
    const store = await paused();
    const [question] = readRun(store, 'r').questions;
    // Nothing of Skein does so; a store that an older version or another program wrote may hold it.
    store.answer('r', { key: 'w@human', id: question?.id ?? '', value: '"yes"', at: 1, by: 'command' });
    for (let round = 0; round < 2; round += 1) {
      const end = await runWith(new FakeModels(), ONE, { store, resume: 'r' });
      expect([end.outcome, end.questions.map(({ key }) => key)]).toEqual(['paused', ['w@human']]);
      expect(readRun(store, 'r').questions.map(({ key }) => key)).toEqual(['w@human']);
    }
    answerRun(store, 'r', { value: 'approve' });
    const end = await runWith(new FakeModels(), ONE, { store, resume: 'r' });
    expect([end.outcome, judged(store)]).toEqual(['succeeded', by('code')]);
  });

  it('that a record has as the outcome of the question does not count either', async () => {
    const store = memoryStore();
    const models = new FakeModels();
    await runWith(models, ONE, { store, runId: 'r', answer: approves });
    const older = leftOf(store, (line) => (line.includes('"w@human"') ? line.replace('"approve"', '"yes"') : line));
    expect(linesOf(older, 'r').join('\n')).toContain('"value":"yes"');
    const end = await runWith(models, ONE, { store: older, resume: 'r' });
    expect([end.outcome, end.questions.map(({ key }) => key)]).toEqual(['paused', ['w@human']]);
    expect(models.of('work')).toHaveLength(1);
  });
});
