import { describe, expect, it } from 'vitest';
import { definePlan } from 'skein';
import type { Question, RunOptions } from 'skein';
import { DRIFT, FakeModels, runWith } from './support.js';

const agent = { name: 'a', instructions: ['Write.'], models: ['fake/own'], tools: [] };
const plan = (more: object = {}): ReturnType<typeof definePlan> =>
  definePlan({
    name: 'one',
    nodes: [{ id: 'w', kind: 'agent', agent, prompt: ['Write.'], output: 'text', supervise: { by: 'human' }, ...more }],
  });

/** Gives one answer after the other, and keeps the questions. */
function answers(...given: unknown[]): { readonly options: RunOptions; readonly questions: Question[] } {
  const questions: Question[] = [];
  const answer: RunOptions['answer'] = (question) => {
    questions.push(question);
    return Promise.resolve(given.shift());
  };
  return { options: { answer }, questions };
}

describe('a step that a person supervises', () => {
  it('[S9] [S10] is approved without being done again, and no supervisor is asked', async () => {
    const models = new FakeModels({ post: DRIFT });
    const { options, questions } = answers('approve');
    const { outcome, state, notes } = await runWith(models, plan(), options);
    expect([outcome, state['text']]).toEqual(['succeeded', 'done']);
    expect(models.calls).toEqual(['w commit', 'w work', 'w post']);
    expect(questions[0]?.text).toMatch(/^Supervision triggers: commitment_not_met, deviation:too long/);
    expect(notes).toContainEqual({ kind: 'approval.decided', verdict: 'approve', by: 'code' });
    expect(notes.find(({ kind }) => kind === 'approval.requested')).toBeDefined();
  });

  it('[S9] shows all of the output, and what was promised beside what was delivered', async () => {
    const work = Array.from({ length: 20_000 }, (_, at) => `line ${at}`).join('\n');
    const models = new FakeModels({ work });
    const { options, questions } = answers('approve');
    await runWith(models, plan(), options);
    expect(questions[0]?.text).toMatch(/^Review this step's output\./);
    expect(questions[0]?.evidence).toMatchObject({
      output: work,
      promised: { interpretation: 'write it', confidence: 'high' },
      delivered: { metCommitment: true, deviations: [] },
      goal: 'Write.',
    });
    // What the models see of it is cut in its middle.
    const shown = models.of('post')[0]?.prompt ?? '';
    expect(shown).toContain('line 0\n');
    expect(shown).toContain('line 19999');
    expect(shown).toContain('bytes are cut out here');
    expect(shown.length).toBeLessThan(40_000);
  });

  it.each([['revise: shorter'], [{ revise: 'shorter' }], ['  revise :  shorter\n']])(
    '[decision 7] %j has it done again, and the next attempt is shown again',
    async (revise) => {
      const models = new FakeModels({ work: ({ prompt }) => (prompt.includes('shorter') ? 'short' : 'long') });
      const { options, questions } = answers(revise, 'approve');
      const { state } = await runWith(models, plan(), options);
      expect(state['text']).toBe('short');
      expect(questions.map(({ evidence }) => (evidence as { output: string }).output)).toEqual(['long', 'short']);
    },
  );

  it('[addition 3] the corrections before the last are in the evidence', async () => {
    const models = new FakeModels();
    const { options, questions } = answers('revise: one', 'revise: two', 'approve');
    await runWith(models, plan(), options);
    expect(questions[2]?.evidence).toMatchObject({ correction: 'two', earlierCorrections: ['one'] });
    expect(models.of('work')[2]?.prompt).not.toContain('one');
  });

  it('[S10] [addition 2] is rejected for good: nothing tries again, and nothing goes on past it', async () => {
    const models = new FakeModels();
    const { options } = answers('reject');
    const retry = { retries: 3, delayMs: 0 };
    const { outcome, error, state } = await runWith(models, plan({ retry, onError: 'continue' }), options);
    expect([outcome, error?.code, error?.message, state]).toEqual([
      'failed',
      'SKEIN_REJECTED',
      'agent w: denied by human',
      {},
    ]);
    expect(models.of('work')).toHaveLength(1);
  });

  it.each([['yes'], ['ok, go on'], ['Approve it'], [''], ['revise:'], [{ revise: ' ' }], [{ approve: true }], [true]])(
    '[S10] %j is not an approval',
    async (given) => {
      const { options } = answers(given);
      const { outcome, state, error } = await runWith(new FakeModels(), plan(), options);
      expect([outcome, state, error?.code]).toEqual(['failed', {}, 'SKEIN_ANSWER']);
    },
  );

  it('[addition 1] takes no slot while the person thinks', async () => {
    const order: string[] = [];
    const two = definePlan({
      name: 'two',
      nodes: [
        { id: 'w', kind: 'agent', agent, prompt: ['Write.'], output: 'text', supervise: { by: 'human' } },
        { id: 'other', kind: 'task', run: () => (order.push('other'), {}) },
        { id: 'late', kind: 'task', run: () => (order.push('late'), {}) },
      ],
      edges: [['other', 'late']],
    });
    let free: (() => void) | undefined;
    const thinks = new Promise<void>((resolve) => (free = resolve));
    const { outcome } = await runWith(new FakeModels(), two, {
      concurrency: 1,
      listeners: [],
      answer: async () => {
        const timer = setInterval(() => order.includes('late') && free?.(), 5);
        await thinks;
        clearInterval(timer);
        return 'approve';
      },
    });
    expect([outcome, order]).toEqual(['succeeded', ['other', 'late']]);
  });

  it('[addition 3] what may be done once only is not done again unless a person says so', async () => {
    let done = 0;
    const once = definePlan({
      name: 'one',
      nodes: [
        {
          id: 'pay',
          kind: 'task',
          effect: 'once',
          run: () => ({ paid: (done += 1) }),
          supervise: { by: 'model', model: 'fake/own', instruction: ['Pay.'] },
        },
      ],
    });
    const models = (): FakeModels =>
      new FakeModels({ post: DRIFT, supervise: '{"verdict":"reorient","correction":"pay less"}' });
    const first = answers('approve');
    const { outcome } = await runWith(models(), once, first.options);
    expect([outcome, done]).toEqual(['succeeded', 1]);
    expect(first.questions[0]?.text).toMatch(/may be done once only.*pay less/);
    const second = answers('revise: pay less', 'approve');
    await runWith(models(), once, second.options);
    expect(done).toBe(3);
  });
});
