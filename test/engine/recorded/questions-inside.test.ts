import { describe, expect, test } from 'vitest';
import { answerRun, definePlan, memoryStore, readRun, run } from '../../../src/index.js';
import type { Store } from '../../../src/index.js';

/** A function that asks twice at once, and counts how often it begins. */
function askingTwice() {
  const begun: number[] = [];
  const plan = definePlan({
    name: 'asking',
    nodes: [
      {
        id: 'both',
        output: 'both',
        run: async (_state, step) => {
          begun.push(begun.length + 1);
          const [one, two] = await Promise.all([
            step.ask({ text: 'One?' }, 'one'),
            step.ask({ text: 'Two?', choices: ['x', 'y'] }, 'two'),
          ]);
          return `${one} ${two}`;
        },
      },
    ],
  });
  return { plan, begun };
}

const open = (store: Store, runId: string): string[] => readRun(store, runId).questions.map(({ key }) => key);

describe('J10: functions that ask', () => {
  test('two questions at once are answered in two sessions, each is asked until it has its answer', async () => {
    const store = memoryStore();
    const { plan, begun } = askingTwice();
    const first = await run(plan, { store }).result;
    expect([first.outcome, open(store, first.runId)]).toEqual(['paused', ['both@ask:one', 'both@ask:two']]);
    answerRun(store, first.runId, { key: 'both@ask:two', value: 'y' });
    const second = await run(plan, { store, resume: first.runId }).result;
    expect([second.outcome, open(store, first.runId)]).toEqual(['paused', ['both@ask:one']]);
    answerRun(store, first.runId, { key: 'both', value: 'a' });
    const third = await run(plan, { store, resume: first.runId }).result;
    expect([third.outcome, third.state['both']]).toEqual(['succeeded', 'a y']);
    expect(begun).toEqual([1, 2, 3]);
    const again = await run(plan, { store, resume: first.runId }).result;
    expect([again.reused, again.ran, begun.length]).toEqual([1, 0, 3]);
  });

  test('an answer from elsewhere reaches a function that waits while something else runs', async () => {
    const store = memoryStore();
    let release: () => void = () => undefined;
    const busy = new Promise<void>((resolve) => {
      release = resolve;
    });
    const plan = definePlan({
      name: 'live',
      nodes: [
        { id: 'asks', output: 'asks', run: (_state, step) => step.ask({ text: 'Well?' }, 'q') },
        { id: 'works', output: 'works', run: async () => busy.then(() => 'done') },
      ],
    });
    const handle = run(plan, { store });
    await expect.poll(() => open(store, handle.runId), { timeout: 60_000 }).toEqual(['asks@ask:q']);
    answerRun(store, handle.runId, { value: 'yes' });
    await expect.poll(() => open(store, handle.runId), { timeout: 60_000 }).toEqual([]);
    release();
    const result = await handle.result;
    expect([result.outcome, result.state]).toEqual(['succeeded', { asks: 'yes', works: 'done' }]);
  });

  test('a step that is stopped from outside closes all of its questions', async () => {
    const store = memoryStore();
    const plan = definePlan({
      name: 'late',
      nodes: [
        {
          id: 'group',
          kind: 'call',
          outputs: {},
          onError: 'continue',
          plan: definePlan({
            name: 'inner',
            nodes: [
              { id: 'fails', run: async () => Promise.reject(new Error('no')) },
              {
                id: 'asks',
                run: async (_state, step) => Promise.all([step.ask({ text: 'A?' }), step.ask({ text: 'B?' })]),
              },
            ],
          }),
        },
      ],
    });
    const result = await run(plan, { store, answer: async () => new Promise(() => undefined) }).result;
    expect(result.outcome).toBe('degraded');
  });
});
