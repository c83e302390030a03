import { expect, test } from 'vitest';
import { answerRun, definePlan, memoryStore, run } from '../../src/index.js';
import type { RunOptions } from '../../src/index.js';
import { agent, graph } from '../../src/graph.js';
import { openPack } from '../../src/machine.js';
import type { OpenPackOptions } from '../../src/machine.js';
import { packOf } from '../machine/support/talking.js';

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

const INSIDE: readonly (readonly [options: object, what: string, hint: string])[] = [
  [{ permissions: { denny: ['shell'] } }, 'permissions has no option "denny"', 'did you mean "deny"?'],
  [{ settings: { temprature: 1 } }, 'settings has no option "temprature"', 'did you mean "temperature"?'],
  [{ mcpServers: { s: { comand: 'x' } } }, 'mcpServers.s has no option "comand"', 'did you mean "command"?'],
  [{ until: { round: 2 } }, 'until has no option "round"', 'did you mean "rounds"?'],
];

test.each(INSIDE)('%j of an agent is refused', (options, what, hint) => {
  const make = () => agent({ name: 'a', model: 'mock/echo', ...options });
  expect(make).toThrow(expect.objectContaining({ code: 'SKEIN_DEFINITION' }));
  expect(make).toThrow(`${what}\n    hint: ${hint}`);
});

test('a misspelt option of a retry is refused', () => {
  const flow = graph().node('a', () => 1, { retry: { retris: 1 } as never });
  expect(() => flow.compile()).toThrow('nodes[0].retry has no option "retris"\n    hint: did you mean "retries"?');
});

test.each([
  [{ models: { overide: 'mock/echo' } }, 'models has no option "overide"'],
  [{ listeners: [5] }, 'listeners are a list of functions, not a list'],
  [{ supervisor: {} }, 'the supervisor of a run needs the methods reconcile and supervise'],
  [{ validators: { tone: 'kind' } }, 'the validator "tone" must be a function'],
])('%j is refused where a pack is opened', async (options, message) => {
  const opened = openPack(packOf({ a: { terminal: true } }), options as OpenPackOptions);
  await expect(opened).rejects.toMatchObject({
    code: 'SKEIN_USAGE',
    message: expect.stringContaining(message) as string,
  });
});
