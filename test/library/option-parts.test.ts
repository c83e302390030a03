import { expect, test } from 'vitest';
import { answerRun, definePlan, memoryStore, run } from '../../src/index.js';
import type { RunOptions } from '../../src/index.js';
import { graph } from '../../src/graph.js';

const plan = definePlan({ name: 'p', nodes: [{ id: 'a', output: 'a', run: () => 1 }] });

const WRONG: readonly (readonly [options: object, message: string, hint: string])[] = [
  [{ concurrency: Number.NaN }, 'concurrency is a whole number from 1 up, not NaN', '{ concurrency: 4 }'],
  [{ concurrency: 'many' }, 'concurrency is a whole number from 1 up, not many', '{ concurrency: 4 }'],
  [{ concurrency: 0 }, 'concurrency is a whole number from 1 up, not 0', '{ concurrency: 4 }'],
  [{ budget: { call: 3 } }, 'a budget has no "call"', 'did you mean "calls"?'],
  [
    { budget: { day: { dollars: 3 } } },
    'a budget has no "dollars"',
    'keys of a budget are: usd, tokens, calls, toolCalls',
  ],
  [{ models: { scrpt: 's.yaml' } }, 'models has no option "scrpt"', 'did you mean "script"?'],
  [{ models: 'mock/echo' }, 'models is an object, not a text', 'models: { override:'],
  [{ fork: { run: 'r', frm: 'a' } }, 'fork has no option "frm"', 'did you mean "from"?'],
  [{ fork: 'r' }, 'fork is an object, not a text', "fork: { run: 'ID' }"],
  [{ listeners: () => undefined }, 'listeners are a list of functions, not a function', 'listeners: ['],
];

for (const [options, message, hint] of WRONG) {
  test(`an option that would have no effect is refused: ${message}`, async () => {
    const wrong = { store: memoryStore(), ...options } as RunOptions;
    expect(() => run(plan, wrong)).toThrow(
      expect.objectContaining({ code: 'SKEIN_USAGE', message, hint: expect.stringContaining(hint) as string }),
    );
    const flow = graph().node('a', () => 1);
    await expect(flow.run({}, wrong)).rejects.toMatchObject({ code: 'SKEIN_USAGE', message });
  });
}

test('an answer to an earlier visit names the questions that are open', async () => {
  const flow = graph<{ said: string }>()
    .addNode('judge', async (_state, step) => ({ said: await step.ask({ text: 'Good?' }) }))
    .addConditionalEdge('judge', () => 'judge', { judge: 'judge' })
    .setEntry('judge');
  const store = memoryStore();
  const { runId } = await flow.run({}, { store });
  answerRun(store, runId, { key: 'judge', value: 'again' });
  await flow.run({}, { store, resume: runId });
  expect(() => answerRun(store, runId, { key: 'judge', value: 'done' })).toThrow(
    expect.objectContaining({
      message: "'judge' was answered before",
      hint: 'the first answer counts; open: judge#2',
    }),
  );
});
