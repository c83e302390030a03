import { describe, expect, test } from 'vitest';
import { MemoryDurable } from '../../src/engine/durable/memory-durable.js';
import { startRun } from '../../src/engine/run.js';
import type { MapNode, Plan } from '../../src/plan/plan.js';
import { answerRun, memoryStore, run, SkeinError } from '../../src/index.js';
import { plan } from './plans.js';

interface Asking {
  readonly signal: AbortSignal;
  ask(question: object, how?: object): Promise<unknown>;
}

/** A map of which the items in `asking` ask, and the others work for some turns of the event loop. */
function mapped(asking: ReadonlySet<number>, more: Partial<MapNode> = {}) {
  const worked: number[] = [];
  const aborted: number[] = [];
  const inner = plan({
    nodes: ['work'],
    inputs: [{ channel: 'item', name: 'item', required: true }],
    channels: ['out'],
  });
  const each: MapNode = {
    kind: 'map',
    id: 'each',
    over: { channel: 'items' },
    item: 'item',
    plan: inner,
    result: 'out',
    output: 'all',
    maxItems: 100,
    ...more,
  };
  const work = async ({ item }: { item: number }, step: Asking): Promise<object> => {
    if (asking.has(item)) return { out: await step.ask({ text: `${item}?` }) };
    step.signal.addEventListener('abort', () => aborted.push(item));
    for (let turn = 0; turn < 3; turn += 1) await new Promise((next) => setImmediate(next));
    worked.push(item);
    return { out: item };
  };
  const whole: Plan = plan({ nodes: [each], inputs: [{ channel: 'items', name: 'items', required: true }] });
  return { plan: whole, bindings: { 'each/work': work }, worked, aborted };
}

describe('items of a map beside one that waits for an answer that nobody can give', () => {
  test('come to their end before the run pauses; each that waits is paused, none is aborted', async () => {
    const { plan: whole, bindings, worked, aborted } = mapped(new Set([0, 2]));
    const { result } = startRun(whole, { inputs: { items: [0, 1, 2, 3, 4] }, bindings });
    const { outcome, census, questions } = await result;
    expect([outcome, worked, aborted]).toEqual(['paused', [1, 3, 4], []]);
    expect(census).toMatchObject({ succeeded: 3, paused: 3, cancelled: 0 });
    expect(questions.map(({ question }) => question)).toEqual(['0?', '2?']);
  });

  test('also where few are open at once: those behind it run, and when all wait, the next ones are opened', async () => {
    const { plan: whole, bindings, worked } = mapped(new Set([0, 5, 6]), { concurrency: 2 });
    const { result } = startRun(whole, { inputs: { items: [0, 1, 2, 3, 4, 5, 6, 7] }, bindings });
    const { outcome, census, questions } = await result;
    expect([outcome, worked]).toEqual(['paused', [1, 2, 3, 4, 7]]);
    expect(census).toMatchObject({ succeeded: 5, paused: 4, cancelled: 0 });
    expect(questions.map(({ question }) => question)).toEqual(['0?', '5?', '6?']);
  });

  test('and where whoever is asked says that nobody can answer', async () => {
    const { plan: whole, bindings, worked, aborted } = mapped(new Set([1]));
    const answer = (): Promise<never> => Promise.reject(new SkeinError('SKEIN_QUESTION', 'there is no one'));
    const durable = new MemoryDurable('r', { answer });
    const { outcome } = await startRun(whole, { inputs: { items: [0, 1, 2] }, bindings, durable }).result;
    expect([outcome, worked, aborted]).toEqual(['paused', [0, 2], []]);
  });

  test.each([{}, { concurrency: 1 }, { concurrency: 2 }])('with a store as without one: %j', async (more) => {
    const asking = new Set([0, 2]);
    const census = async (options: object): Promise<unknown> => {
      const { plan: whole, bindings } = mapped(asking, more);
      const ended = await run({ plan: whole, bindings }, { inputs: { items: [0, 1, 2, 3] }, ...options }).result;
      return [ended.outcome, ended.census, ended.questions.map(({ path }) => path)];
    };
    const recorded = await census({ store: memoryStore() });
    expect(recorded).toEqual(await census({}));
    expect(recorded).toMatchObject(['paused', { paused: 3, succeeded: 2 }, ['each[0]/work', 'each[2]/work']]);
  });

  test('all of a list are asked in one session, however few are open at once; one resume takes all answers', async () => {
    const { plan: whole, bindings } = mapped(new Set([0, 1, 2, 3, 4]), { concurrency: 2 });
    const store = memoryStore();
    const { runId, questions } = await run({ plan: whole, bindings }, { store, inputs: { items: [0, 1, 2, 3, 4] } })
      .result;
    expect(questions).toHaveLength(5);
    for (const { key, path } of questions) answerRun(store, runId, { key, value: `to ${path}` });
    const { outcome, state } = await run({ plan: whole, bindings }, { store, resume: runId }).result;
    expect([outcome, state['all']]).toEqual(['succeeded', [0, 1, 2, 3, 4].map((at) => `to each[${at}]/work`)]);
  });
});

describe('a question beside other steps in memory', () => {
  test('waits no longer than its limit while others work', async () => {
    const asks = async (_: unknown, step: Asking): Promise<object> => ({
      answer: await step.ask({ text: 'Well?' }, { expires: 1, default: 'none' }),
    });
    const works = (): Promise<object> => new Promise((done) => setTimeout(() => done({}), 30));
    const both = plan({ nodes: ['asks', 'works'], channels: ['answer'] });
    const { outcome, state } = await startRun(both, { bindings: { asks, works } }).result;
    expect([outcome, state['answer']]).toEqual(['succeeded', 'none']);
  });
});
