import { memoryStore } from 'skein';
import { graph, reducers } from 'skein/graph';
import { boom } from './behaviour.js';
import type { Behaviour } from './behaviour.js';

export const RETRIES: readonly Behaviour[] = [
  {
    feature: 'retryOn',
    from: 'pregel/retry.test.ts: delays that double',
    what: 'the wait before each attempt grows',
    verdict: 'same',
    async run() {
      let tries = 0;
      const call = graph<{ tone: string }>()
        .addNode('ring', () => ((tries += 1) < 4 ? boom('busy')() : { tone: 'free' }), {
          retry: { retries: 3, backoff: 'exponential', delayMs: 3 },
        })
        .setEntry('ring');
      const { events, state } = await call.run();
      const waits = events.filter(({ type }) => type === 'node_retry').map(({ metadata }) => metadata['delay_ms']);
      return [state.tone, waits];
    },
    gives: ['free', [3, 6, 12]],
  },
  {
    feature: 'retryOn',
    from: 'pregel.test.ts: a retry policy by default, an error of status 500 and one of 400',
    what: 'without more words a failure that may go away is tried again, and a mistake of the caller is not',
    verdict: 'same',
    async run() {
      const calls: string[] = [];
      const page = graph<{ address: string; text: string }>()
        .addNode(
          'get',
          ({ address }) => {
            calls.push(address);
            if (address === 'wrong') throw Object.assign(new Error('bad request'), { status: 400 });
            if (calls.length === 1) throw Object.assign(new Error('try later'), { status: 503 });
            return { text: `of ${address}` };
          },
          { retry: { delayMs: 1 } },
        )
        .setEntry('get');
      const good = await page.run({ address: 'right' });
      const bad = await page.run({ address: 'wrong' });
      return [good.state.text, bad.error?.message, calls];
    },
    gives: ['of right', 'bad request', ['right', 'right', 'wrong']],
  },
  {
    feature: 'retryOn',
    from: 'pregel/retry.test.ts: a function that says what is tried again',
    what: 'a function decides by the failure whether there is another attempt',
    verdict: { differs: 'it sees what is recorded of the error, so that a resume decides as the first run did' },
    async run() {
      const calls: string[] = [];
      const call = (text: string) =>
        graph<{ tone: string }>()
          .addNode(
            'ring',
            () => {
              calls.push(text);
              return boom(text)();
            },
            { retry: { retries: 2, delayMs: 1, on: ({ message }) => message.includes('engaged') } },
          )
          .setEntry('ring');
      await call('engaged').run();
      await call('no such number').run();
      return calls;
    },
    gives: ['engaged', 'engaged', 'engaged', 'no such number'],
  },
  {
    feature: 'retryOn',
    from: 'timeout.test.ts: a timeout is tried again, and each attempt has its own time',
    what: 'an attempt that took too long is tried again, with the whole time',
    verdict: 'same',
    async run() {
      let tries = 0;
      const slow = graph<{ done: string }>()
        .addNode(
          'slow',
          async () => {
            tries += 1;
            if (tries === 1) await new Promise(() => undefined);
            return { done: `attempt ${tries}` };
          },
          { timeoutMs: 30, retry: { retries: 1, delayMs: 1 } },
        )
        .setEntry('slow');
      return (await slow.run()).state.done;
    },
    gives: 'attempt 2',
  },
  {
    feature: 'retryOn',
    from: 'python_port/checkpoint.test.ts: pending writes of a parallel node, with a retry policy',
    what: 'what a parallel node wrote is kept while another uses up its attempts, and is not done again on a resume',
    verdict: { differs: 'a resume makes the last attempt again; those before it stay used' },
    async run() {
      const calls = { oats: 0, milk: 0 };
      const bowl = graph<{ grams: number }>({ reducers: { grams: reducers.add } })
        .addNode('table', () => null)
        .addNode('oats', () => {
          calls.oats += 1;
          return { grams: 40 };
        })
        .addNode('milk', () => ((calls.milk += 1) < 4 ? boom('sour')() : { grams: 200 }), {
          retry: { retries: 1, delayMs: 1 },
        })
        .addEdge('table', 'oats')
        .addEdge('table', 'milk')
        .setEntry('table');
      const store = memoryStore();
      const first = await bowl.run({ grams: 1 }, { store });
      const second = await bowl.run({}, { store, resume: first.runId });
      const third = await bowl.run({}, { store, resume: first.runId });
      return [[first, second, third].map(({ state }) => state.grams), calls];
    },
    gives: [[41, 41, 241], { oats: 1, milk: 4 }],
  },
  {
    feature: 'retryOn',
    from: 'pregel.test.ts: a dynamic interrupt in a node with a retry policy',
    what: 'a question is not tried again',
    verdict: 'same',
    async run() {
      let calls = 0;
      const desk = graph<{ may: string }>()
        .addNode(
          'ask',
          async (_state, step) => {
            calls += 1;
            return { may: await step.ask({ text: 'May I?' }) };
          },
          { retry: 5 },
        )
        .setEntry('ask');
      const { outcome } = await desk.run({}, { store: memoryStore() });
      return [outcome, calls];
    },
    gives: ['paused', 1],
  },
];
