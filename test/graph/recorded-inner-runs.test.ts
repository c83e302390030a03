import { describe, expect, it } from 'vitest';
import { answerRun, memoryStore } from 'skein';
import type { RunOptions, Store } from 'skein';
import { agent, agentAsTool, agentNode, graph, tool, workflowNode } from 'skein/graph';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels, resultsIn } from './support-agents.js';

const AMOUNT = { type: 'object', properties: { amount: { type: 'number' } } } as const;

/** One process: an agent that pays, in two runs that a function starts, and what it did. */
function processOf(nodeOf: (payer: ReturnType<typeof agent>) => ReturnType<typeof flowOf>) {
  const paid: string[] = [];
  const keys: string[] = [];
  const pay = tool({
    name: 'pay',
    inputSchema: AMOUNT,
    effect: 'once',
    trust: 'trusted',
    execute: ({ amount }, io) => {
      paid.push(String(amount));
      keys.push(io.idempotencyKey);
      return `paid ${String(amount)}`;
    },
  });
  const { models, requests } = ownModels({
    m: (request) => {
      const results = resultsIn(request);
      const { messages } = request;
      const amount = Number(/\d+/.exec(JSON.stringify(messages.findLast(({ role }) => role === 'user')))?.[0]);
      return results.length > 0 ? results.join() : { calls: [['pay', { amount }]] };
    },
    lead: (request) => {
      const results = resultsIn(request);
      return results.length > 0 ? results.join() : { calls: [['payer', { task: 'Pay 7.' }]] };
    },
  });
  const flow = nodeOf(agent({ name: 'payer', model: 'own/m', tools: [pay] }));
  const session = (store: Store, options: Partial<RunOptions> = {}) => flow.run({}, { store, models, ...options });
  return { session, paid, keys, requests };
}

function flowOf(start: (step: { readonly runOptions: object }) => Promise<unknown>) {
  return graph().node('t', (_state, step) => start(step), { inputs: [] });
}

const STARTS = {
  'a function': (payer: ReturnType<typeof agent>) =>
    flowOf(async (step) => [
      (await payer.run('Pay 7.', step.runOptions)).answer,
      (await payer.run('Pay 8.', step.runOptions)).answer,
    ]),
  'a function, at once': (payer: ReturnType<typeof agent>) =>
    flowOf(async (step) =>
      (await Promise.all(['Pay 7.', 'Pay 8.'].map((text) => payer.run(text, step.runOptions)))).map(
        ({ answer }) => answer,
      ),
    ),
  'a graph inside a graph inside a function': (payer: ReturnType<typeof agent>) => {
    const inner = graph<{ text: string }>()
      .node('p', agentNode(payer, { taskParam: 'text' }))
      .setEntry('p');
    const outer = graph<{ text: string }>().node(
      'p',
      async ({ text }, step) => (await inner.runOrThrow({ text }, step.runOptions))['p'],
    );
    return flowOf(async (step) => [
      (await outer.runOrThrow({ text: 'Pay 7.' }, step.runOptions))['p'],
      (await outer.runOrThrow({ text: 'Pay 8.' }, step.runOptions))['p'],
    ]);
  },
  'an agent with an agent as a tool': (payer: ReturnType<typeof agent>) => {
    const lead = agent({
      name: 'lead',
      model: 'own/lead',
      tools: [agentAsTool(payer, { name: 'payer', description: 'Pays.' })],
    });
    return flowOf(async (step) => [
      (await lead.run('Go.', step.runOptions)).answer,
      (await payer.run('Pay 8.', step.runOptions)).answer,
    ]);
  },
  'items of a list': (payer: ReturnType<typeof agent>) =>
    graph()
      .node('words', () => ['Pay 7.', 'Pay 8.'], { inputs: [] })
      .map(
        't',
        { over: 'words', item: 'word' },
        async ({ word }, step) => (await payer.run(word, step.runOptions)).answer,
      ) as unknown as ReturnType<typeof flowOf>,
  'a called workflow': (payer: ReturnType<typeof agent>) =>
    graph().node(
      't',
      workflowNode(
        flowOf(async (step) => [
          (await payer.run('Pay 7.', step.runOptions)).answer,
          (await payer.run('Pay 8.', step.runOptions)).answer,
        ]),
        'called',
      ),
    ),
  'the second attempt of a function': (payer: ReturnType<typeof agent>) =>
    graph().node(
      't',
      async (_state, step) => {
        if (step.attempt === 1) throw new Error('at first');
        return [
          (await payer.run('Pay 7.', step.runOptions)).answer,
          (await payer.run('Pay 8.', step.runOptions)).answer,
        ];
      },
      { inputs: [], retry: { retries: 1, delayMs: 1, on: () => true } },
    ) as unknown as ReturnType<typeof flowOf>,
};

describe.each(Object.entries(STARTS))('runs that a step starts: %s', (_name, start) => {
  it('killed after any record, they make no recorded call again, and a call that may be made once is not repeated unasked', async () => {
    const whole = memoryStore();
    const first = processOf(start);
    const undisturbed = await first.session(whole, { runId: 'one' });
    expect([undisturbed.state['t'], first.paid.toSorted()]).toEqual([
      ['paid 7', 'paid 8'],
      ['7', '8'],
    ]);
    let asked = 0;
    for (const { name, batches, lines } of prefixesOf('one', whole.read('one'))) {
      const store = storeWith('one', batches, whole);
      const next = processOf(start);
      let result = await next.session(store, { resume: 'one' });
      for (; result.outcome === 'paused'; asked += 1) {
        for (const question of result.questions) {
          expect(question.question).toMatch(/may be done once only/);
          answerRun(store, 'one', { key: question.key, value: 'run it' });
        }
        result = await next.session(store, { resume: 'one' });
      }
      expect([name, result.outcome, result.state['t']]).toEqual([name, 'succeeded', ['paid 7', 'paid 8']]);
      const done = lines.filter((line) => line.includes('"t":"done"'));
      const calls = done.filter((line) => /model#\d/.test(line)).length;
      expect([name, next.requests.length]).toEqual([name, first.requests.length - calls]);
      const made = done.filter((line) => line.includes('tool#') && /p tool|payer tool/.test(line)).length;
      expect([name, next.paid.length, new Set(next.paid).size]).toEqual([name, 2 - made, 2 - made]);
      for (const key of next.keys) expect(first.keys).toContain(key);
    }
    expect(asked).toBeGreaterThan(0);
  });
});
