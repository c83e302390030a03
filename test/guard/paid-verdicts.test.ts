import { describe, expect, it } from 'vitest';
import { memoryStore, run } from 'skein';
import type { RunOptions } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import { billing, dollars, PRICES } from '../budget/billed.js';
import { doneKeys, prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { tell } from './support/figures.js';

const SAFE = '{"verdict":"safe","reason":""}';
const ALLOW = '{"verdict":"allow","reason":"","input":""}';
const DENY = '{"verdict":"deny","reason":"","input":""}';

/** One process: two calls of a tool that sends, of which the reviewer refuses the second; then the answer. */
function process(numbers: readonly number[] = [1, 2]) {
  const sent: unknown[] = [];
  const judged: string[] = [];
  const send = tool({
    name: 'send',
    inputSchema: { type: 'object', properties: { nr: { type: 'integer' } } },
    effect: 'idempotent',
    execute: ({ nr }) => (sent.push(nr), `sent ${String(nr)}`),
  });
  const own = billing({
    say: ({ caller: { phase, turn }, messages }) => {
      const isFirst = /nr\W+1\b/.test(JSON.stringify(messages));
      if (phase !== undefined) judged.push(`${phase} ${isFirst ? 1 : 2}`);
      if (phase === 'screen') return SAFE;
      if (phase === 'review') return isFirst ? ALLOW : DENY;
      return turn < 3 ? { calls: [['send', { nr: numbers[turn - 1] }]] } : 'Done.';
    },
  });
  const flow = graph<{ task: string }>({ security: 'paranoid', sends: [{ tool: 'send', free: ['nr'] }] })
    .node('worker', agentNode(agent({ name: 'worker', model: 'own/m', tools: [send] }), { taskParam: 'task' }))
    .node('after', ({ worker }) => worker.length)
    .compile();
  const options: RunOptions = { models: own.models, prices: PRICES };
  return { flow, options, own, sent, judged };
}

const WHOLE = ['screen 1', 'review 1', 'screen 2', 'review 2'];
const inputs = { task: 'Go.' };

describe('what models say of calls is paid for once', () => {
  it('a finished run, resumed, asks no model, and a fork takes what was said', async () => {
    const store = memoryStore();
    const first = process();
    const result = await run(first.flow, { ...first.options, inputs, store, runId: 'r' }).result;
    expect([result.outcome, first.judged, first.sent]).toEqual(['succeeded', WHOLE, [1]]);
    for (const again of [{ resume: 'r' }, { fork: { run: 'r' } }] as const) {
      const later = process();
      const { outcome, state } = await run(later.flow, { ...later.options, store, ...again }).result;
      expect([outcome, state, later.judged, later.sent]).toEqual(['succeeded', result.state, [], []]);
    }
  });

  it('a run that is killed at any record, also between verdict and call, pays for what is missing and decides the same', async () => {
    const store = memoryStore();
    const calm = process();
    const wanted = await run(calm.flow, { ...calm.options, inputs, store, runId: 'r' }).result;
    const prefixes = prefixesOf('r', store.read('r'));
    let between = 0;
    for (const prefix of prefixes) {
      const done = doneKeys(prefix.lines);
      const known = done.filter((key) => /@(?:screen|review)#\d/.test(key)).length;
      if (known > 0 && known < WHOLE.length + 1 && !done.includes('worker@tool#1.1')) between += 1;
      const again = process();
      const copy = storeWith('r', prefix.batches, store);
      const result = await run(again.flow, { ...again.options, store: copy, resume: 'r' }).result;
      expect([prefix.name, result.outcome, result.state]).toEqual([prefix.name, 'succeeded', wanted.state]);
      expect([prefix.name, again.judged]).toEqual([prefix.name, WHOLE.slice(known)]);
      expect([prefix.name, again.sent.includes(2)]).toEqual([prefix.name, false]);
      expect(result.spent.usd + result.saved.usd).toBeCloseTo(wanted.spent.usd, 12);
    }
    expect(prefixes.length).toBeGreaterThan(12);
    expect(between).toBeGreaterThan(0);
    tell({
      what: 'killed between a verdict and its call, resumed',
      n: prefixes.length,
      forbidden: 0,
      goal: 'the same decisions',
    });
  });

  it('its calls count in costs and in budgets like those of agents', async () => {
    const paid = process();
    const result = await run(paid.flow, { ...paid.options, inputs }).result;
    expect(paid.own.asked.length).toBe(3 + WHOLE.length);
    expect(result.spent.usd).toBeCloseTo(dollars(paid.own), 12);
    expect(result.spent.modelCalls).toBe(3 + WHOLE.length);
    for (const [budget, most] of [
      ['2-calls', 2],
      ['3-calls', 3],
      ['6-calls', 6],
    ] as const) {
      const poor = process();
      const store = memoryStore();
      const { outcome } = await run(poor.flow, { ...poor.options, inputs, budget, store, runId: 'r' }).result;
      expect([budget, outcome, poor.own.asked.length]).toEqual([budget, 'out_of_budget', most]);
      const rich = process();
      const raised = await run(rich.flow, { ...rich.options, store, resume: 'r', budget: '+5-calls' }).result;
      expect([budget, raised.outcome, rich.own.asked.length]).toEqual([budget, 'succeeded', 7 - most]);
      // No call is made for which a verdict could not be paid.
      expect(poor.sent.length).toBe(most >= 3 ? 1 : 0);
    }
  });

  it('[G9] none is kept for another call: the same call, made twice, is looked at twice', async () => {
    const { flow, options, own, judged } = process([1, 1]);
    const { outcome } = await run(flow, { ...options, inputs }).result;
    expect([outcome, judged]).toEqual(['succeeded', ['screen 1', 'review 1', 'screen 1', 'review 1']]);
    expect(own.asked.length).toBe(3 + 4);
  });
});
