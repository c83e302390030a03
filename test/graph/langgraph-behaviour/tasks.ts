import { answerRun, getThread, memoryStore, readMoments } from 'skein';
import { graph, workflowNode } from 'skein/graph';
import type { Behaviour } from './behaviour.js';

/** Counts how often each part is done. */
function counter() {
  const done: Record<string, number> = {};
  return { done, note: (part: string): number => (done[part] = (done[part] ?? 0) + 1) };
}

export const TASKS: readonly Behaviour[] = [
  {
    feature: 'functional API',
    from: 'func.test.ts: a task and an entrypoint',
    what: 'a function that does one thing for each of its inputs, side by side',
    verdict: 'same',
    async run() {
      const { done, note } = counter();
      const tiles = graph<{ sizes: number[] }>()
        .node('tiles', ({ sizes }, step) => {
          note('function');
          return Promise.all(sizes.map((size) => step.run('cut', () => `${size}x${size}, ${note('cut')}`)));
        })
        .setEntry('tiles');
      return [(await tiles.run({ sizes: [4, 6] })).state.tiles, done];
    },
    gives: [['4x4, 1', '6x6, 2'], { function: 1, cut: 2 }],
  },
  {
    feature: 'functional API',
    from: 'nested-resume-task-replay.test.ts: a finished task is not run again after an interrupt',
    what: 'a part of a function that is done is not done again when the function starts anew for an answer',
    verdict: 'same',
    async run() {
      const { done, note } = counter();
      const order = graph<{ item: string }>()
        .node('order', async ({ item }, step) => {
          note('function');
          const stock = await step.run('look', () => `${item} ${note('look')}`);
          return `${stock}: ${await step.ask({ text: 'Buy?' })}`;
        })
        .setEntry('order');
      const outer = graph<{ task: string }>().node('sub', workflowNode(order, 'sub', { taskParam: 'task' }));
      const store = memoryStore();
      const { runId } = await outer.run({ task: 'tea' }, { store });
      answerRun(store, runId, { value: 'yes' });
      return [(await outer.run({}, { store, resume: runId })).state.sub, done];
    },
    gives: ['tea 1: yes', { function: 2, look: 1 }],
  },
  {
    feature: 'functional API',
    from: 'func.test.ts: several interrupts in an imperative loop',
    what: 'a loop of work and questions: each part is done once, each question asked once',
    verdict: 'same',
    async run() {
      const { done, note } = counter();
      const survey = graph<{ streets: string[] }>()
        .node('survey', async ({ streets }, step) => {
          const lines: string[] = [];
          for (const street of streets) {
            const houses = await step.run('count', () => street.length + note('count'));
            lines.push(`${houses} ${await step.ask({ text: `${street}: fine?` })}`);
          }
          return lines;
        })
        .setEntry('survey');
      const store = memoryStore();
      const { runId } = await survey.run({ streets: ['Elm', 'Oak', 'Fir'] }, { store });
      for (const value of ['a', 'b', 'c']) {
        answerRun(store, runId, { value });
        await survey.run({}, { store, resume: runId });
      }
      return [(await survey.run({}, { store, resume: runId })).state.survey, done];
    },
    gives: [['4 a', '5 b', '6 c'], { count: 3 }],
  },
  {
    feature: 'functional API',
    from: 'func.test.ts: a task that gives a falsy value',
    what: 'a part that gives false is done, too',
    verdict: 'same',
    async run() {
      const { done, note } = counter();
      const gate = graph<Record<string, unknown>>()
        .node(
          'gate',
          async (_state, step) => {
            const open = await step.run('look', () => note('look') > 5);
            return [open, await step.ask({ text: 'Open it?' })];
          },
          { inputs: [] },
        )
        .setEntry('gate');
      const store = memoryStore();
      const { runId } = await gate.run({}, { store });
      answerRun(store, runId, { value: 'no' });
      return [(await gate.run({}, { store, resume: runId })).state.gate, done];
    },
    gives: [[false, 'no'], { look: 1 }],
  },
  {
    feature: 'functional API',
    from: 'func.test.ts: a task with a retry policy',
    what: 'attempts of one part of a function',
    verdict: {
      differs: 'the function is tried again as a whole, and takes up the parts that are done: a policy is of a node',
    },
    async run() {
      const { done, note } = counter();
      const call = graph<Record<string, unknown>>()
        .node(
          'call',
          async (_state, step) => {
            const number = await step.run('look up', () => 4711 + note('look up'));
            return await step.run('ring', () => {
              if (note('ring') < 3) throw new Error('engaged');
              return `${number} answered`;
            });
          },
          { inputs: [], retry: { retries: 3, delayMs: 1 } },
        )
        .setEntry('call');
      return [(await call.run()).state.call, done];
    },
    gives: ['4712 answered', { 'look up': 1, ring: 3 }],
  },
  {
    feature: 'functional API',
    from: 'func.test.ts: a state graph is called from a task',
    what: 'a graph that a function runs by itself, as one of its parts',
    verdict: 'same',
    async run() {
      const { done, note } = counter();
      const shout = graph<{ word: string }>().node('loud', ({ word }) => `${word}!${note('graph')}`);
      const speech = graph<{ words: string[] }>()
        .node('speech', async ({ words }, step) => {
          const said: string[] = [];
          for (const word of words) {
            const { loud } = await step.run('shout', () => shout.runOrThrow({ word }, step.runOptions));
            said.push(String(loud));
          }
          said.push(await step.ask({ text: 'And then?' }));
          return said;
        })
        .setEntry('speech');
      const store = memoryStore();
      const { runId } = await speech.run({ words: ['hey', 'ho'] }, { store });
      answerRun(store, runId, { value: 'silence' });
      return [(await speech.run({}, { store, resume: runId })).state.speech, done];
    },
    gives: [['hey!1', 'ho!2', 'silence'], { graph: 2 }],
  },
  {
    feature: 'functional API',
    from: 'func.test.ts: tasks are streamed in order',
    what: 'what the parts of a function gave can be looked up',
    verdict: { differs: 'in the record of the run; the stream tells nodes, and what a function emits' },
    async run() {
      const soup = graph<{ pot: string }>()
        .node('soup', async ({ pot }, step) => {
          const cut = await step.run('cut', () => `${pot}, leek`);
          return await step.run('boil', () => `${cut}, hot`);
        })
        .setEntry('soup');
      const store = memoryStore();
      const { runId, state } = await soup.run({ pot: 'water' }, { store });
      const told = readMoments(store, runId).filter(({ kind }) => kind === 'step');
      return [state.soup, told.map(({ path, text }) => `${path} ${text}`)];
    },
    gives: ['water, leek, hot', ['soup cut done', 'soup boil done', 'soup succeeded']],
  },
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
