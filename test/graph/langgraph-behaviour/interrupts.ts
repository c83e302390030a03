import { answerRun, memoryStore, readRun } from 'skein';
import { END, graph, reducers, workflowNode } from 'skein/graph';
import { codeOf } from './behaviour.js';
import type { Behaviour } from './behaviour.js';

interface Trip {
  place: string;
  log: string[];
}

const trip = () => graph<Trip>({ reducers: { log: reducers.append } });

export const INTERRUPTS: readonly Behaviour[] = [
  {
    feature: 'interrupt',
    from: 'python_port/interrupt.test.ts: a dynamic interrupt that is answered',
    what: 'a node asks for one input and not for another; the answer is what the question gives',
    verdict: 'same',
    async run() {
      const plan = trip()
        .addNode('book', async ({ place }, step) => ({
          log: place === 'Rome' ? await step.ask({ text: 'By train?' }) : 'by bus',
        }))
        .setEntry('book');
      const store = memoryStore();
      const home = await plan.run({ place: 'Bonn' }, { store });
      const away = await plan.run({ place: 'Rome' }, { store });
      answerRun(store, away.runId, { value: 'yes, by train' });
      const done = await plan.run({}, { store, resume: away.runId });
      return [home.state.log, away.outcome, done.state.log];
    },
    gives: [['by bus'], 'paused', ['yes, by train']],
  },
  {
    feature: 'interrupt',
    from: 'python_port/interrupt.test.ts: a dynamic interrupt without a checkpointer',
    what: 'a question, and neither a store nor somebody who answers',
    verdict: { differs: 'nothing is thrown: the run is paused, and its error says what is missing' },
    async run() {
      const plan = trip()
        .addNode('book', async (_state, step) => ({ log: await step.ask({ text: 'By train?' }) }))
        .setEntry('book');
      const { outcome, error } = await plan.run({});
      return [outcome, error?.code];
    },
    gives: ['paused', 'SKEIN_QUESTION'],
  },
  {
    feature: 'interrupt',
    from: 'pregel.test.ts: two interrupts in one node',
    what: 'a node asks twice: one question after the other, and the first answer is kept',
    verdict: 'same',
    async run() {
      const plan = trip()
        .addNode('pack', async (_state, step) => {
          const coat = await step.ask({ text: 'Which coat?' });
          const shoes = await step.ask({ text: 'Which shoes?' });
          return { log: `${coat}, ${shoes}` };
        })
        .setEntry('pack');
      const store = memoryStore();
      const { runId } = await plan.run({}, { store });
      const asked = readRun(store, runId).questions.map(({ question }) => question);
      answerRun(store, runId, { value: 'blue' });
      await plan.run({}, { store, resume: runId });
      asked.push(...readRun(store, runId).questions.map(({ question }) => question));
      answerRun(store, runId, { value: 'brown' });
      return [asked, (await plan.run({}, { store, resume: runId })).state.log];
    },
    gives: [['Which coat?', 'Which shoes?'], ['blue, brown']],
  },
  {
    feature: 'interrupt',
    from: 'python_port/interrupt-multi.test.ts: one resume value for two interrupts',
    what: 'one answer, and a second question in the same node',
    verdict: { differs: 'each question needs an answer of its own: what somebody said to one is no answer to another' },
    async run() {
      const plan = trip()
        .addNode('pack', async (_state, step) => ({
          log: `${await step.ask({ text: 'Which coat?' })}, ${await step.ask({ text: 'Which shoes?' })}`,
        }))
        .setEntry('pack');
      const store = memoryStore();
      const { runId } = await plan.run({}, { store });
      answerRun(store, runId, { value: 'blue' });
      const { outcome } = await plan.run({}, { store, resume: runId });
      return [outcome, readRun(store, runId).questions.map(({ question }) => question)];
    },
    gives: ['paused', ['Which shoes?']],
  },
  {
    feature: 'interrupt',
    from: 'python_port/interrupt.test.ts: a node is not cancelled when another one is interrupted',
    what: 'what runs beside a node that asks comes to its end, and is not run again',
    verdict: 'same',
    async run() {
      let drives = 0;
      const plan = trip()
        .addNode('begin', () => null)
        .addNode('drive', async () => {
          drives += 1;
          await new Promise((resolve) => setTimeout(resolve, 5));
          return { log: 'drove' };
        })
        .addNode('ask', async (_state, step) => ({ log: await step.ask({ text: 'A break?' }) }))
        .addEdge('begin', 'drive')
        .addEdge('begin', 'ask')
        .setEntry('begin');
      const store = memoryStore();
      const paused = await plan.run({}, { store });
      const still = await plan.run({}, { store, resume: paused.runId });
      answerRun(store, paused.runId, { value: 'no break' });
      const { state } = await plan.run({}, { store, resume: paused.runId });
      return [paused.state.log, still.outcome, state.log, drives];
    },
    gives: [['drove'], 'paused', ['drove', 'no break'], 1],
  },
  {
    feature: 'interrupt',
    from: 'pregel.test.ts: an interrupt inside a subgraph that is resumed',
    what: 'a question of an inner graph pauses the run, and the nodes before it are not run again',
    verdict: 'same',
    async run() {
      let looked = 0;
      const inner = graph<{ task: string }>().node('sign', ({ task }, step) => step.ask({ text: `Sign ${task}?` }));
      const outer = graph<{ task: string }>()
        .node('look', () => (looked += 1))
        .node('signed', workflowNode<string>(inner, 'signed'))
        .node('file', ({ look, signed }) => `${look}: ${signed}`)
        .addEdge('look', 'signed')
        .setEntry('look');
      const store = memoryStore();
      const { runId } = await outer.run({ task: 'the form' }, { store });
      const [pause] = readRun(store, runId).questions;
      answerRun(store, runId, { key: pause?.path ?? '', value: 'signed' });
      return [pause?.path, (await outer.run({}, { store, resume: runId })).state.file];
    },
    gives: ['signed/sign', '1: signed'],
  },
  {
    feature: 'interrupt',
    from: 'pregel.test.ts: several interrupts at once, and a deferred node after them',
    what: 'three nodes ask at once: one pause with three questions, and the join waits for all',
    verdict: 'same',
    async run() {
      const plan = trip()
        .addNode('begin', () => null)
        .addNode('ann', async (_state, step) => ({ log: await step.ask({ text: 'Ann?' }) }))
        .addNode('bob', async (_state, step) => ({ log: await step.ask({ text: 'Bob?' }) }))
        .addNode('cleo', async (_state, step) => ({ log: await step.ask({ text: 'Cleo?' }) }))
        .addNode('go', ({ log }) => ({ place: `${log.length} go` }));
      for (const name of ['ann', 'bob', 'cleo']) plan.addEdge('begin', name).addEdge(name, 'go');
      plan.setEntry('begin');
      const store = memoryStore();
      const { runId } = await plan.run({}, { store });
      const asked = readRun(store, runId).questions.map(({ question }) => question);
      for (const key of ['cleo', 'ann', 'bob']) answerRun(store, runId, { key, value: `${key} yes` });
      const { state } = await plan.run({}, { store, resume: runId });
      return [asked, state.log, state.place];
    },
    gives: [['Ann?', 'Bob?', 'Cleo?'], ['ann yes', 'bob yes', 'cleo yes'], '3 go'],
  },
  {
    feature: 'interrupt',
    from: 'interrupt.test.ts: an answer that does not match the schema of the question',
    what: 'an answer of another shape is refused when it is given, and a better one is taken',
    verdict: 'same',
    async run() {
      const schema = { type: 'object', properties: { seats: { type: 'integer' } }, required: ['seats'] };
      const plan = graph<{ order: unknown }>()
        .addNode('order', async (_state, step) => ({ order: await step.ask({ text: 'How many?', schema }) }))
        .setEntry('order');
      const store = memoryStore();
      const { runId } = await plan.run({}, { store });
      const refused = codeOf(() => answerRun(store, runId, { value: { seats: 'two' } }));
      answerRun(store, runId, { value: { seats: 2 } });
      return [refused, (await plan.run({}, { store, resume: runId })).state.order];
    },
    gives: ['SKEIN_ANSWER', { seats: 2 }],
  },
  {
    feature: 'interrupt',
    from: 'interrupt.test.ts: the other tasks go on when one answer is invalid',
    what: 'a bad answer to one of two questions does nothing to the other one',
    verdict: 'same',
    async run() {
      const sent: string[] = [];
      const plan = graph<{ log: unknown[] }>({ reducers: { log: reducers.append } })
        .addNode('begin', () => null)
        .addNode('post', async (_state, step) => {
          await step.ask({ text: 'Post it?', choices: ['yes', 'no'] });
          sent.push('card');
          return { log: 'posted' };
        })
        .addNode('weigh', async (_state, step) => {
          return { log: await step.ask({ text: 'Grams?', schema: { type: 'integer' } }) };
        })
        .addEdge('begin', 'post')
        .addEdge('begin', 'weigh')
        .setEntry('begin');
      const store = memoryStore();
      const { runId } = await plan.run({}, { store });
      answerRun(store, runId, { key: 'post', value: 'yes' });
      const refused = codeOf(() => answerRun(store, runId, { key: 'weigh', value: 'many' }));
      const half = await plan.run({}, { store, resume: runId });
      answerRun(store, runId, { key: 'weigh', value: 20 });
      const { state } = await plan.run({}, { store, resume: runId });
      return [refused, half.state.log, state.log, sent];
    },
    gives: ['SKEIN_ANSWER', ['posted'], ['posted', 20], ['card']],
  },
  {
    feature: 'interrupt',
    from: 'pregel.test.ts: a static breakpoint, and an update with the resume',
    what: 'a stop before a node where somebody may change the state',
    verdict: { differs: 'a node that asks stands there: the stop is part of the graph, and the answer is the change' },
    async run() {
      const plan = trip()
        .addNode('check', async ({ place }, step) => ({
          place: await step.ask({ text: `Where to, if not ${place}?` }),
        }))
        .addNode('go', ({ place }) => ({ log: `to ${place}` }))
        .addEdge('check', 'go')
        .setEntry('check');
      const store = memoryStore();
      const { runId } = await plan.run({ place: 'Rome' }, { store });
      answerRun(store, runId, { value: 'Oslo' });
      return (await plan.run({}, { store, resume: runId })).state.log;
    },
    gives: ['to Oslo'],
  },
  {
    feature: 'interrupt',
    from: 'pregel.test.ts: a resume without a checkpointer',
    what: 'a resume without a store',
    verdict: 'same',
    async run() {
      const plan = trip()
        .addNode('go', () => null)
        .setEntry('go');
      const thrown: unknown = await plan.run({}, { resume: 'r1' }).catch((error: unknown) => error);
      return thrown instanceof Error && 'code' in thrown ? thrown.code : thrown;
    },
    gives: 'SKEIN_USAGE',
  },
  {
    feature: 'time travel',
    from: 'time_travel.test.ts: a replay from before an interrupt',
    what: 'a step that asked is run again: it asks again, the old answer is gone, and what ran before it is kept',
    verdict: 'same',
    async run() {
      let starts = 0;
      const plan = trip()
        .addNode('begin', () => ({ log: `start ${(starts += 1)}` }))
        .addNode('ask', async (_state, step) => ({ log: await step.ask({ text: 'Where to?' }) }))
        .addNode('go', () => ({ log: 'gone' }))
        .addEdge('begin', 'ask')
        .addEdge('ask', 'go')
        .setEntry('begin');
      const store = memoryStore();
      const { runId } = await plan.run({}, { store });
      answerRun(store, runId, { value: 'Rome' });
      const first = await plan.run({}, { store, resume: runId });
      const again = await plan.run({}, { store, fork: { run: runId, from: 'ask' } });
      answerRun(store, again.runId, { value: 'Oslo' });
      const second = await plan.run({}, { store, resume: again.runId });
      return [first.state.log, again.outcome, second.state.log];
    },
    gives: [['start 1', 'Rome', 'gone'], 'paused', ['start 1', 'Oslo', 'gone']],
  },
  {
    feature: 'time travel',
    from: 'time_travel.test.ts: a replay with a subgraph that asks twice',
    what: 'inside of an inner graph: the second question again, and the first answer stays',
    verdict: 'same',
    async run() {
      const inner = graph<{ task: string }>()
        .node('one', ({ task }, step) => step.ask({ text: `${task} one?` }))
        .node('two', ({ one }, step) => step.ask({ text: `${one}, and two?` }));
      const outer = graph<{ task: string }>().node('both', workflowNode(inner, 'both', { projectState: true }));
      const store = memoryStore();
      const { runId } = await outer.run({ task: 'say' }, { store });
      answerRun(store, runId, { value: 'a' });
      await outer.run({}, { store, resume: runId });
      answerRun(store, runId, { value: 'b' });
      await outer.run({}, { store, resume: runId });
      const again = await outer.run({}, { store, fork: { run: runId, from: 'both/two' } });
      return readRun(store, again.runId).questions.map(({ path, question }) => [path, question]);
    },
    gives: [['both/two', 'a, and two?']],
  },
  {
    feature: 'time travel',
    from: 'python_port/checkpoint.test.ts: a run from a checkpoint in the middle of a loop',
    what: 'a loop is gone on with from one of its rounds, with what the rounds before it wrote',
    verdict: { differs: 'in a run of its own: the history of the first one is not written on' },
    async run() {
      let rolls = 0;
      const dice = graph<{ sum: number; rolled: number[] }>({
        reducers: { sum: reducers.add, rolled: reducers.append },
      })
        .addNode('roll', () => {
          rolls += 1;
          return { sum: rolls, rolled: rolls };
        })
        .addConditionalEdge('roll', ({ sum }) => (sum < 6 ? 'roll' : END))
        .setEntry('roll');
      const store = memoryStore();
      const { runId, state } = await dice.run({ sum: 0 }, { store });
      const other = await dice.run({}, { store, fork: { run: runId, from: 'roll#2' } });
      return [state.rolled, other.state.rolled, readRun(store, runId).steps.length];
    },
    gives: [[1, 2, 3], [1, 4, 5], 3],
  },
];
