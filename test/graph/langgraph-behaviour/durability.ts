import { answerRun, memoryStore, readRun } from 'skein';
import { graph } from 'skein/graph';
import { faultyStore } from 'skein/testing';
import type { Behaviour } from './behaviour.js';

/** Flour is weighed once, and becomes bread when somebody says so. */
const bakery = (bake: (flour: number) => string, counts: { weighed: number }) =>
  graph<{ flour: number; may: string; bread: string }>()
    .addNode('weigh', () => {
      counts.weighed += 1;
      return { flour: 500 };
    })
    .addNode('ask', async (_state, step) => ({ may: await step.ask({ text: 'Bake it?' }) }))
    .addNode('bake', ({ flour, may }) => ({ bread: `${bake(flour)}, ${may}` }))
    .addEdge('weigh', 'ask')
    .addEdge('ask', 'bake')
    .setEntry('weigh');

export const DURABILITY: readonly Behaviour[] = [
  {
    feature: 'durability',
    from: 'durability.sync.test.ts: the next node waits until the one before is kept',
    what: 'what a step gave is in the store before the step after it begins',
    verdict: { differs: 'always: what can be chosen is only whether it survives a power cut, too' },
    async run() {
      const store = memoryStore();
      const seen: unknown[] = [];
      const pair = graph<{ n: number }>()
        .addNode('first', () => ({ n: 1 }))
        .addNode('second', (_state, step) => {
          seen.push(...readRun(store, step.runId).steps.map(({ path, outcome }) => `${path} ${outcome}`));
        })
        .addEdge('first', 'second')
        .setEntry('first');
      await pair.run({}, { store });
      return seen;
    },
    gives: ['first succeeded'],
  },
  {
    feature: 'durability',
    from: 'pregel.test.ts: a checkpointer that throws',
    what: 'a store that fails in the middle of a run',
    verdict: { differs: 'the run ends as failed and says so; nothing is thrown, and a resume goes on' },
    async run() {
      const store = memoryStore();
      const chain = graph<{ n: number }>()
        .addNode('one', () => ({ n: 1 }))
        .addNode('two', async ({ n }) => ({ n: n + 1 }))
        .addEdge('one', 'two')
        .setEntry('one');
      const failed = await chain.run({}, { store: faultyStore(store, { failAt: 3 }), runId: 'r' });
      return [failed.outcome, failed.error?.code, (await chain.run({}, { store, resume: 'r' })).state.n];
    },
    gives: ['failed', 'SKEIN_STORE', 2],
  },
  {
    feature: 'durability',
    from: 'python_port/checkpoint.test.ts: configurable fields in the metadata of checkpoints',
    what: 'what a run was started with is part of its record',
    verdict: { differs: 'as its inputs: what a run depends on is no setting beside it' },
    async run() {
      const store = memoryStore();
      const greet = graph<{ name: string; tone?: string }>()
        .node('line', ({ name, tone = 'plain' }) => `${tone}: ${name}`)
        .setEntry('line');
      const { runId } = await greet.run({ name: 'Ada', tone: 'warm' }, { store });
      return readRun(store, runId).inputs;
    },
    gives: { name: 'Ada', tone: 'warm' },
  },
  {
    feature: 'durability',
    from: 'state_migrations.test.ts: a checkpoint of an older graph is resumed with a newer one',
    what: 'a run that waits goes on with an edited graph',
    verdict: { differs: 'without versions and migrations: what an edit changes runs again, and the rest is kept' },
    async run() {
      const store = memoryStore();
      const counts = { weighed: 0 };
      const { runId } = await bakery((flour) => `${flour} g of bread`, counts).run({}, { store });
      answerRun(store, runId, { value: 'slowly' });
      const edited = bakery((flour) => `a loaf of ${flour / 1000} kg`, counts);
      return [(await edited.run({}, { store, resume: runId })).state.bread, counts.weighed];
    },
    gives: ['a loaf of 0.5 kg, slowly', 1],
  },
];
