import { getThread, memoryStore } from 'skein';
import { graph } from 'skein/graph';
import type { Behaviour } from './behaviour.js';

export const TASKS: readonly Behaviour[] = [
  {
    feature: 'functional API',
    from: 'func.test.ts: the value that was returned last is there in the next call',
    what: 'a function sees what it gave the time before, in the same conversation only',
    verdict: { differs: 'as a key of the state: there is no call for it' },
    async run() {
      const mirror = graph<{ now: string; said: { now: string; before: unknown } }>()
        .addNode('look', ({ now, said }) => ({ said: { now, before: said?.now } }))
        .setEntry('look');
      const store = memoryStore();
      const seen: unknown[] = [];
      for (const [thread, now] of [
        ['hall', 'a'],
        ['hall', 'b'],
        ['attic', 'c'],
        ['hall', 'd'],
      ] as const)
        seen.push((await mirror.run({ now }, { store, thread })).state.said?.before);
      return seen;
    },
    gives: [undefined, 'a', undefined, 'b'],
  },
  {
    feature: 'functional API',
    from: 'func.test.ts: a final value that is not the value that is kept',
    what: 'what a turn answers and what the next one begins with are two things',
    verdict: { differs: 'they are two keys: one is the answer, the other goes on' },
    async run() {
      const sum = graph<{ n: number; last?: number; total: number }>({ answerKey: 'total' })
        .addNode('add', ({ n, last = 0 }) => ({ total: n + last, last: n }))
        .setEntry('add');
      const store = memoryStore();
      const answers: string[] = [];
      for (const n of [2, 5, 7]) answers.push((await sum.run({ n }, { store, thread: 'till' })).answer);
      return [answers, getThread(store, 'till').state['last']];
    },
    gives: [['2', '7', '12'], 7],
  },
  {
    feature: 'functional API',
    from: 'func.test.ts: generators are no entrypoints and no tasks',
    what: 'a generator in place of a function',
    verdict: { differs: 'it is not found when it is added, but when it runs: what it gives is no update' },
    async run() {
      const list = graph<{ n: number }>()
        .addNode('list', function* () {
          yield 1;
        } as never)
        .setEntry('list');
      return (await list.run()).error?.code;
    },
    gives: 'SKEIN_BAD_UPDATE',
  },
];
