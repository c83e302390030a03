import { describe, expect, it } from 'vitest';
import { memoryStore, readMoments, readRun, run } from 'skein';
import type { SkeinEvent } from 'skein';
import { liveLines } from '../../src/cli/view/live-lines.js';
import { RunLog, asSeen } from '../../src/cli/view/run-log.js';
import { createStyle } from '../../src/cli/view/style.js';
import { addUsd } from '../../src/events/cost.js';
import type { TaskStep } from '../../src/plan/builder-input.js';
import { usdText } from '../../src/events/cost-text.js';
import { definePlan } from '../../src/plan/builder.js';
import { Books } from '../cli/support/books.js';

const PRICES = { models: { 'openai/*': { input: 1.1, cached: 0.11, output: 4.3 } } };

const agent = (id: string, word: string) => ({
  id,
  kind: 'agent' as const,
  prompt: `Do ${id}.`,
  output: id,
  agent: { name: id, instructions: `You ${word}.`, tools: [], models: ['openai/books'] },
});

const PLAN = definePlan({
  name: 'spending',
  nodes: [agent('draft', 'draft'), agent('sign', 'sign')],
  edges: [['draft', 'sign']],
});

describe('[15] the result of a run', () => {
  it('says what this session spent and what was saved; the record has the whole, and the live view the same', async () => {
    await using books = await Books.open({ draft: 'A text', sign: 'Signed' });
    const store = memoryStore();
    const log = new RunLog(PLAN.plan);
    const told: SkeinEvent[] = [];
    const listeners = [
      (event: SkeinEvent): void => log.listen(asSeen(event)),
      (event: SkeinEvent): void => void told.push(event),
    ];
    const options = { store, prices: PRICES, models: { env: books.env, noProbe: true } };
    const first = await run(PLAN, { ...options, listeners }).result;
    expect(first).toMatchObject({
      outcome: 'succeeded',
      spent: { modelCalls: 2, usd: books.usd(), unpricedCalls: 0 },
      saved: { modelCalls: 0, usd: 0 },
    });
    expect(told.at(-1)).toMatchObject({ type: 'run.ended', spent: first.spent });
    const [head = ''] = liveLines(log, createStyle(false), { columns: 120, lines: 10, now: log.now, frame: 0 });
    expect(head).toContain(` tok · ${usdText(books.usd())}`);

    const billed = books.billed.length;
    const forked = await run(PLAN, { ...options, fork: { run: first.runId, forget: ['sign'] } }).result;
    expect(forked).toMatchObject({
      spent: { modelCalls: 1, usd: books.usd(billed) },
      saved: { modelCalls: 1, usd: books.usd(0, 1) },
    });
    expect(readRun(store, forked.runId)).toMatchObject({ usd: books.usd(billed), modelCalls: 1 });
    expect(readRun(store, first.runId)).toMatchObject({ usd: books.usd(0, billed), modelCalls: 2 });
  });

  it('counts a call that was cut off when its step took too long', async () => {
    await using books = await Books.open({ draft: 'A text', sign: 'Signed' });
    books.troubles.set('sign', ['hangs']);
    const [, sign] = PLAN.plan.nodes;
    if (sign === undefined) throw new Error('no such node');
    const plan = { ...PLAN.plan, nodes: [...PLAN.plan.nodes.slice(0, 1), { ...sign, timeoutMs: 500 }] };
    const failed: unknown[] = [];
    const listeners = [
      (event: SkeinEvent): void => {
        if (event.type === 'step.note' && event.note.kind === 'model.failed') failed.push(event.path, event.note);
      },
    ];
    const { outcome, spent } = await run(
      { ...PLAN, plan },
      { prices: PRICES, models: { env: books.env, noProbe: true }, listeners },
    ).result;
    expect([outcome, spent]).toMatchObject(['failed', { modelCalls: 2, failedModelCalls: 1, estimated: true }]);
    expect(spent.usd).toBeGreaterThan(books.usd());
    const reserved = { model: 'openai/books', usage: { outputTokens: 16_384 }, cost: { estimated: true } };
    const error = { code: 'SKEIN_CANCELLED', details: { spent: reserved } };
    expect(failed).toMatchObject(['sign', { turn: 1, model: 'openai/books', error }]);
  });
});

it('[15] calls of a run that a function or a tool starts are part of what its step and the run around it spend, also in the record', async () => {
  await using books = await Books.open({ draft: 'A text', sign: 'Signed' });
  const inner = definePlan({ name: 'inner', nodes: [agent('draft', 'draft')] });
  const outer = definePlan({
    name: 'outer',
    nodes: [
      {
        id: 'starts',
        output: 'starts',
        run: async (_: object, step: TaskStep) => (await run(inner, step.runOptions).result).outcome,
      },
      agent('sign', 'sign'),
    ],
    edges: [['starts', 'sign']],
  });
  const store = memoryStore();
  const models = { env: books.env, noProbe: true };
  const { runId, outcome, spent, state } = await run(outer, { store, prices: PRICES, models }).result;
  expect([outcome, state['starts'], books.billed.length]).toEqual(['succeeded', 'succeeded', 2]);
  expect(spent).toMatchObject({ modelCalls: 2, usd: books.usd(), unpricedCalls: 0 });
  const recorded = readRun(store, runId);
  expect(recorded).toMatchObject({ modelCalls: 2, usd: books.usd() });
  expect(recorded.steps[0]).toMatchObject({ path: 'starts', modelCalls: 1, usd: books.usd(0, 1) });
  const told = readMoments(store, runId).reduce((sum, { cost }) => addUsd(sum, cost?.usd ?? 0), 0);
  expect(told).toBe(books.usd());
});
