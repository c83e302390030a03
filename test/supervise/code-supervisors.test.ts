import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, run, supervisor } from 'skein';
import type { SuperviseRequest, Supervisor } from 'skein';
import { DRIFT, FakeModels, runWith } from './support.js';

const agent = { name: 'a', instructions: ['Write.'], models: ['fake/own'], tools: [] };
const PLAN = definePlan({
  name: 'one',
  nodes: [{ id: 'w', kind: 'agent', agent, prompt: ['Write.'], output: 'text', supervise: { by: 'model' } }],
});

/** A supervisor of which only one method is of interest. */
const code = (supervise: (request: SuperviseRequest) => unknown): Supervisor => ({
  reconcile: (_, { deviations }) => ({ triggers: deviations, escalate: true }),
  supervise: supervise as Supervisor['supervise'],
});

describe('a supervisor in code', () => {
  it('sees goal, promise, assessment, triggers and the whole output, and its verdict counts', async () => {
    const requests: SuperviseRequest[] = [];
    const work = 'x'.repeat(50_000);
    const judge = code((request) => {
      requests.push(request);
      return requests.length === 1 ? { verdict: 'reorient', correction: 'shorter' } : { verdict: 'continue' };
    });
    const models = new FakeModels({ post: DRIFT, work });
    const { outcome, notes } = await runWith(models, PLAN, { supervisor: judge });
    expect([outcome, models.of('work').length, models.of('supervise').length]).toEqual(['succeeded', 2, 0]);
    expect(requests[0]).toEqual({
      path: 'w',
      goal: 'Write.',
      commitment: expect.objectContaining({ interpretation: 'write it' }) as unknown,
      assessment: expect.objectContaining({ metCommitment: false }) as unknown,
      triggers: ['too long'],
      output: work,
    });
    expect(requests[1]).toMatchObject({ correction: 'shorter' });
    expect(notes).toContainEqual({ kind: 'supervision.reconcile', triggers: ['too long'], escalate: true });
    expect(notes).toContainEqual({ kind: 'supervision.verdict', verdict: 'continue', reason: '' });
  });

  it.each([
    ['a verdict that does not exist', { verdict: 'x' }, 'agent w: supervise phase: unknown supervision verdict "x"'],
    ['prose', 'looks good', 'agent w: supervise phase: unknown supervision verdict "looks good"'],
    ['nothing', undefined, 'agent w: supervise phase: unknown supervision verdict "undefined"'],
  ])('[S7] [decision 7] that gives %s fails the step', async (_, given, message) => {
    const { outcome, state, error } = await runWith(new FakeModels(), PLAN, { supervisor: code(() => given) });
    expect([outcome, state, error?.message]).toEqual(['failed', {}, message]);
  });

  it('[S7] that throws fails the step, in either method, and the work is not done again', async () => {
    const throws = (): never => {
      throw new Error('the judge is ill');
    };
    const models = new FakeModels();
    const first = await runWith(models, PLAN, { supervisor: code(throws) });
    expect(first.error?.message).toBe('agent w: supervise phase: the judge is ill');
    const second = await runWith(models, PLAN, { supervisor: { reconcile: throws, supervise: throws } });
    expect(second.error?.message).toBe('agent w: supervise phase: the judge is ill');
    expect(models.of('work')).toHaveLength(2);
  });

  it('[S12] whose reconcile gives something else fails the step', async () => {
    const odd = { reconcile: () => ['drift'], supervise: () => ({ verdict: 'continue' }) } as unknown as Supervisor;
    const { error } = await runWith(new FakeModels(), PLAN, { supervisor: odd });
    expect(error?.message).toBe(
      'agent w: supervise phase: reconcile of a supervisor must return { triggers, escalate }',
    );
  });

  it('[bad input] that never answers fails the step when its time is over, with and without a store', async () => {
    const judge = { ...code(() => new Promise(() => undefined)), timeoutMs: 30 };
    for (const option of [{}, { store: memoryStore() }]) {
      const models = new FakeModels();
      const { outcome, error } = await runWith(models, PLAN, { supervisor: judge, ...option });
      expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_TIMEOUT']);
      expect(error?.message).toBe('agent w: supervise phase: it took longer than 30 ms');
      expect(models.of('work')).toHaveLength(1);
    }
  });

  it('that answers in time leaves no timer: a question behind it pauses the run at once', async () => {
    const judge = code(() => Promise.resolve({ verdict: 'ask_human', question: 'Well?' }));
    const store = memoryStore();
    const { outcome, questions } = await runWith(new FakeModels(), PLAN, { supervisor: judge, store });
    expect([outcome, questions.length]).toEqual(['paused', 1]);
  });

  it('that never answers is left when the run is cancelled; so is a model', async () => {
    for (const option of [{ supervisor: code(() => new Promise(() => undefined)) }, {}]) {
      const models = new FakeModels({
        post: DRIFT,
        supervise: ({ signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
      });
      const handle = run(PLAN, {
        models: models.options,
        ...option,
        listeners: [
          (event) => {
            if (event.type === 'step.note' && event.note.kind === 'supervision.reconcile')
              setTimeout(() => handle.cancel('enough'), 10);
          },
        ],
      });
      const { outcome, census } = await handle.result;
      expect([outcome, census.cancelled]).toEqual(['cancelled', 1]);
    }
  });
});

describe('supervisor({ model })', () => {
  it('[S13] asks its model; one that a node names wins, and the model of the step stands in for none', async () => {
    const asked = async (option: Supervisor | undefined, supervise: object = {}): Promise<unknown> => {
      const models = new FakeModels({ post: DRIFT });
      const plan = definePlan({
        name: 'one',
        nodes: [{ id: 'w', kind: 'agent', agent, prompt: ['Write.'], supervise: { by: 'model', ...supervise } }],
      });
      const options = option === undefined ? {} : { supervisor: option };
      await runWith(models, plan, options);
      return models.of('supervise')[0]?.model;
    };
    expect(await asked(supervisor({ model: 'fake/judge' }))).toBe('fake/judge');
    expect(await asked(supervisor({ model: 'fake/judge' }), { model: 'fake/nearer' })).toBe('fake/nearer');
    expect(await asked(supervisor())).toBe('fake/own');
    expect(await asked(undefined)).toBe('fake/own');
  });

  it('lends its methods: with another reconcile its model still judges', async () => {
    const models = new FakeModels({ supervise: '{"verdict":"halt","reason":"never"}' });
    const picky = { ...supervisor(), reconcile: () => ({ triggers: ['picky'], escalate: true }) };
    const { error } = await runWith(models, PLAN, { supervisor: picky });
    expect(error?.message).toBe('agent w: halted by supervision: never');
    expect(models.of('supervise')[0]?.prompt).toContain('- picky');
  });

  it('is checked before anything runs', () => {
    expect(() => supervisor({ model: ' ' })).toThrow(/must be the name of a model/);
    expect(() => run(PLAN, { supervisor: {} as Supervisor })).toThrow(/needs the methods reconcile and supervise/);
    const never = { ...code(() => undefined), timeoutMs: 0 };
    expect(() => run(PLAN, { supervisor: never })).toThrow(/timeoutMs above 0/);
    const request = {} as SuperviseRequest;
    expect(() => supervisor().supervise(request)).toThrow(/only a run can do/);
  });
});
