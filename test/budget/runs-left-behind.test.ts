import { describe, expect, test } from 'vitest';
import { memoryStore, type RunOptions } from 'skein';
import { agent, agentNode, graph } from 'skein/graph';
import { ownModels } from '../graph/support-agents.js';

const inner = graph<{ t: string }>()
  .node('say', agentNode(agent({ name: 'speaker' }), { taskParam: 't' }))
  .setEntry('say');

type Inner = Promise<{ readonly outcome: string; readonly error?: { readonly code: string } | undefined }>;

/** A model whose calls end when they are let go. */
function heldModels() {
  const held: (() => void)[] = [];
  let free = false;
  const answer = async (): Promise<string> => {
    if (!free) await new Promise<void>((resolve) => held.push(resolve));
    return 'said';
  };
  const { models, asked } = ownModels({ a: answer });
  const letGo = (): void => {
    free = true;
    for (const go of held.splice(0)) go();
  };
  return { options: { models: { ...models, override: 'own/a' } }, asked, letGo };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe.each<readonly [string, () => RunOptions]>([
  ['without a store', () => ({})],
  ['with a store', () => ({ store: memoryStore() })],
])('runs that a function starts, and its budget: %s', (_, more) => {
  test('one that has not enough waits for those that hold it', async () => {
    const { options, asked, letGo } = heldModels();
    const outer = graph<{ said: string[] }>({ budget: '3-calls' })
      .addNode('all', async (_state, step) => {
        const runs = Array.from({ length: 6 }, (__, at) => inner.run({ t: `t${at}` }, step.runOptions));
        return { said: (await Promise.all(runs)).map(({ outcome }) => outcome) };
      })
      .setEntry('all');
    const ending = outer.run({}, { ...more(), ...options });
    await until(() => asked.length === 3);
    await new Promise((resolve) => setTimeout(resolve, 20));
    letGo();
    const { outcome, error } = await ending;
    expect([outcome, error?.message]).toEqual([
      'out_of_budget',
      'the budget of the run is used up: 3 calls of 3 calls spent; what comes next may take 1 call',
    ]);
  });

  test('one that waits when the function has ended is cancelled, and not forgotten', async () => {
    const { options, asked, letGo } = heldModels();
    const left: Inner[] = [];
    const outer = graph<{ done: boolean }>({ budget: '1-calls' })
      .addNode('leave', async (_state, step) => {
        for (const t of ['one', 'two']) left.push(inner.run({ t }, step.runOptions));
        await until(() => asked.length === 1);
        return { done: true };
      })
      .setEntry('leave');
    expect((await outer.run({}, { ...more(), ...options })).outcome).toBe('succeeded');
    const [, waiting] = left;
    expect(await waiting).toMatchObject({ outcome: 'cancelled', error: { code: 'SKEIN_CANCELLED' } });
    letGo();
    expect((await left[0])?.outcome).toBe('succeeded');
  });
});

test('a run that starts after the end of a recorded run around it spends nothing, and ends', async () => {
  const { options, asked, letGo } = heldModels();
  letGo();
  let start: (() => Inner) | undefined;
  const outer = graph<{ done: boolean }>({ budget: '9-calls' })
    .addNode('leave', (_state, step) => {
      start = () => inner.run({ t: 'late' }, step.runOptions);
      return { done: true };
    })
    .setEntry('leave');
  const { outcome, spent } = await outer.run({}, { store: memoryStore(), ...options });
  expect([outcome, spent.modelCalls]).toEqual(['succeeded', 0]);
  expect(await start?.()).toMatchObject({ outcome: 'cancelled', error: { code: 'SKEIN_CANCELLED' } });
  expect(asked).toEqual([]);
});
