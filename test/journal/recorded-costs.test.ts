import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Model } from '../../src/agent/model.js';
import type { Cost, SkeinEvent, Usage } from '../../src/events/event.js';
import { readRun } from '../../src/journal/overview.js';
import { definePlan } from '../../src/plan/builder.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';

const PLAN = definePlan({
  name: 'billed',
  nodes: [
    { id: 'look', kind: 'agent', prompt: 'Look', output: 'seen', agent: { models: ['test/billed'] } },
    { id: 'end', kind: 'task', output: 'end', run: () => 'over' },
  ],
  edges: [['look', 'end']],
});
const USAGE: Usage = { inputTokens: 100, outputTokens: 10, cachedTokens: 40, cacheWriteTokens: 50 };

/** A model whose provider says what it billed. */
function billed(cost?: Cost): Model {
  return {
    id: 'test/billed',
    async *stream() {
      await Promise.resolve();
      yield { type: 'text', text: 'all is well' };
      yield { type: 'finish', reason: 'stop', usage: USAGE, ...(cost === undefined ? {} : { cost }) };
    },
  };
}

function modelsOf(cost?: Cost) {
  return { env: {}, noProbe: true, providers: { test: () => billed(cost) } };
}

it('[15] a call is recorded with its cost and its writes to a cache', async () => {
  const store = memoryStore();
  const told: SkeinEvent[] = [];
  const listeners = [(event: SkeinEvent): void => void told.push(event)];
  await run(PLAN, { store, runId: 'r', models: modelsOf({ usd: 0.000_012_5 }), listeners }).result;
  const notes = told.flatMap((event) => (event.type === 'step.note' ? [event.note] : []));
  expect(notes.find(({ kind }) => kind === 'model.ended')).toMatchObject({ usage: USAGE, cost: { usd: 0.000_012_5 } });
  const whole = { usage: USAGE, usd: 0.000_012_5, unpricedCalls: 0, modelCalls: 1 };
  expect(readRun(store, 'r')).toMatchObject({ ...whole, models: [{ model: 'test/billed', usd: 0.000_012_5 }] });
  expect(readRun(store, 'r').steps[0]).toMatchObject(whole);
});

it('[15] a turn that was recorded without a cost is unpriced', async () => {
  const store = memoryStore();
  await run(PLAN, { store, runId: 'r', models: modelsOf() }).result;
  expect(readRun(store, 'r')).toMatchObject({ usage: USAGE, usd: 0, unpricedCalls: 1 });
});

it('[15] a recording keeps what a call cost; answered from it, nobody is billed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skein-costs-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const record = join(folder, 'r.jsonl');
  await run(PLAN, { models: { ...modelsOf({ usd: 0.25 }), record } }).result;
  const store = memoryStore();
  await run(PLAN, { store, runId: 'r', models: { ...modelsOf(), replay: record } }).result;
  expect(readRun(store, 'r')).toMatchObject({ usage: USAGE, usd: 0.25, pretendedUsd: 0.25 });
});
