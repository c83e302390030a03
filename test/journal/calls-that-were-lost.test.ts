import { expect, it } from 'vitest';
import type { Model } from '../../src/agent/model.js';
import { readRun } from '../../src/journal/overview.js';
import type { Store } from '../../src/journal/store.js';
import { definePlan } from '../../src/plan/builder.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';

const LOOK = { name: 'look', description: 'Looks.', input: { type: 'object' }, effect: 'read' } as const;

const { plan, bindings } = definePlan({
  name: 'asking',
  budget: { calls: 5, toolCalls: 5 },
  nodes: [
    {
      id: 'asks',
      kind: 'agent',
      prompt: 'Look',
      output: 'seen',
      agent: { models: ['test/hangs'], functions: [LOOK] },
    },
  ],
} as never);

const PLAN = { plan, bindings: { ...bindings, 'tool:asks/look': () => 'a room' } };

/** A model that calls a tool inside of its own call as often as is said, and then does not come to its end. */
function hanging(times: number, hangs: () => void): Model {
  return {
    id: 'test/hangs',
    async *stream(request) {
      for (let at = 0; at < times; at += 1) await request.dispatch?.({ id: `c${at}`, name: 'look', input: '{}' });
      hangs();
      await new Promise((resolve) => request.signal?.addEventListener('abort', resolve));
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
}

/** The record as it is when the process dies now. */
function afterDeath(store: Store): Store {
  const left = memoryStore();
  const lease = left.create({ id: 'r', name: 'asking', createdAt: 0 }, { id: 'x', host: 'elsewhere', pid: 1 }, 0);
  left.append(store.read('r').map(({ seq, text, sum }) => ({ lease, seq, text, sum })));
  return left;
}

it.each([0, 1, 3])('[15] a call whose process died counts, also after %d tools inside of it', async (times) => {
  const store = memoryStore();
  let handle: ReturnType<typeof run> | undefined;
  const record = await new Promise<Store>((resolve) => {
    const own = (): Model => hanging(times, () => resolve(afterDeath(store)));
    handle = run(PLAN, { store, runId: 'r', models: { env: {}, noProbe: true, providers: { test: own } } });
  });
  handle?.cancel();
  await handle?.result;
  const { status, modelCalls, unpricedCalls } = readRun(record, 'r');
  expect({ status, modelCalls, unpricedCalls }).toEqual({ status: 'interrupted', modelCalls: 1, unpricedCalls: 1 });
});
