import { answerRun, cancelRun, forkThread, getThread, memoryStore, readRun, updateThread } from 'skein';
import { graph, reducers } from 'skein/graph';
import { codeOf } from './behaviour.js';
import type { Behaviour } from './behaviour.js';

const ADA = { who: 'ada', why: 'she looked at it' };

/** A letter that a person must allow. */
const letter = () =>
  graph<{ text: string; may: string; sent: string }>()
    .addNode('ask', async ({ text }, step) => ({ may: await step.ask({ text: `Post "${text}"?` }) }))
    .addNode('post', ({ text, may }) => ({ sent: `${text} (${may})` }))
    .addEdge('ask', 'post')
    .setEntry('ask');

interface Note {
  id: string;
  text: string;
}

/** Notes by id: a later one takes the place of the earlier one. */
const byId = (kept: readonly Note[] = [], more: readonly Note[]): Note[] => [
  ...kept.filter(({ id }) => !more.some((note) => note.id === id)),
  ...more,
];

const notes = () =>
  graph<{ notes: Note[] }>({ reducers: { notes: byId } })
    .addNode('write', () => ({ notes: [{ id: 'n1', text: 'draft' }] }))
    .setEntry('write');

export const EDITS: readonly Behaviour[] = [
  {
    feature: 'updateState',
    from: 'pregel.test.ts: state graph packets, the message that is edited under its id',
    what: 'an edit of an entry with an id takes the place of the entry, where the reducer says so',
    verdict: 'same',
    async run() {
      const store = memoryStore();
      await notes().run({}, { store, thread: 'desk' });
      updateThread(store, 'desk', { notes: [{ id: 'n1', text: 'better' }] }, { ...ADA, workflow: notes().compile() });
      return getThread(store, 'desk').state;
    },
    gives: { notes: [{ id: 'n1', text: 'better' }] },
  },
  {
    feature: 'updateState',
    from: 'pregel.test.ts: state graph packets, an edit with a key that the state does not have',
    what: 'an unknown key in an edit',
    verdict: { differs: 'it is refused: a misspelt key that is dropped in silence is found too late' },
    async run() {
      const store = memoryStore();
      await notes().run({}, { store, thread: 'desk' });
      return codeOf(() => updateThread(store, 'desk', { note: [] }, ADA));
    },
    gives: 'SKEIN_INPUT',
  },
  {
    feature: 'updateState',
    from: 'pregel.test.ts: a branch at the start, an edit between the stop and the going on',
    what: 'an edit while a turn waits',
    verdict: {
      differs:
        'it is refused until the turn is over: what ran before saw the state without it. A fork with other inputs says what is to run again',
    },
    async run() {
      const store = memoryStore();
      const { runId } = await letter().run({ text: 'Hi' }, { store, thread: 'mail' });
      const refused = codeOf(() => updateThread(store, 'mail', { text: 'Hello' }, ADA));
      const other = await letter().run({ text: 'Hello' }, { store, fork: { run: runId }, answer: async () => 'yes' });
      return [refused, other.state.sent];
    },
    gives: ['SKEIN_THREAD', 'Hello (yes)'],
  },
  {
    feature: 'updateState',
    from: 'time_travel.test.ts: a fork of a checkpoint with an edit of the state',
    what: 'what a step gave is corrected afterwards, and the run goes on from there',
    verdict: { differs: 'in a run of its own; what depends on the value runs again, and nothing else' },
    async run() {
      const calls: string[] = [];
      const map = graph<{ place: string; miles: number; rain: boolean; trip: string }>()
        .addNode('measure', () => {
          calls.push('measure');
          return { miles: 12 };
        })
        .addNode('look', () => {
          calls.push('look');
          return { rain: true };
        })
        .addNode('plan', ({ miles, rain }) => ({ trip: `${miles} miles${rain ? ' in the rain' : ''}` }))
        .addEdge('measure', 'look')
        .addEdge('look', 'plan')
        .setEntry('measure');
      const store = memoryStore();
      const { runId } = await map.run({}, { store });
      const other = await map.run({}, { store, fork: { run: runId, set: { rain: false } } });
      return [other.state.trip, calls];
    },
    gives: ['12 miles', ['measure', 'look']],
  },
  {
    feature: 'updateState',
    from: 'pregel.test.ts: an interrupt, then an edit as the node __end__',
    what: 'a turn that waits is given up',
    verdict: { differs: 'it is cancelled by name, and does not count; nobody writes in the name of a node' },
    async run() {
      const store = memoryStore();
      const { runId } = await letter().run({ text: 'Hi' }, { store, thread: 'mail' });
      cancelRun(store, runId);
      const next = await letter().run({ text: 'Bye' }, { store, thread: 'mail', answer: async () => 'ok' });
      return [getThread(store, 'mail').turns.map(({ counts }) => counts), next.state.sent];
    },
    gives: [[false, true], 'Bye (ok)'],
  },
  {
    feature: 'updateState',
    from: 'pregel.test.ts: bulk updates that copy a thread step by step',
    what: 'a conversation is copied',
    verdict: { differs: 'by one call, after any of its turns; the copy says where it comes from' },
    async run() {
      const log = graph<{ said: string; lines: string[] }>({ reducers: { lines: reducers.append } })
        .addNode('keep', ({ said }) => ({ lines: said }))
        .setEntry('keep');
      const store = memoryStore();
      for (const said of ['one', 'two', 'three']) await log.run({ said }, { store, thread: 'first' });
      forkThread(store, 'first', 'second', { turn: 2 });
      await log.run({ said: 'other' }, { store, thread: 'second' });
      return [getThread(store, 'second').state['lines'], getThread(store, 'second').from];
    },
    gives: [['one', 'two', 'other'], { thread: 'first', turn: 2 }],
  },
  {
    feature: 'getState().next',
    from: 'python_port/interrupt.test.ts: a dynamic interrupt, the snapshot after it',
    what: 'a run that waits says at which node, and what it asks',
    verdict: { differs: 'as the open questions of the run, each with the path of its step' },
    async run() {
      const store = memoryStore();
      const { runId } = await letter().run({ text: 'Hi' }, { store });
      return readRun(store, runId).questions.map(({ path, question }) => [path, question]);
    },
    gives: [['ask', 'Post "Hi"?']],
  },
  {
    feature: 'getState().next',
    from: 'python_port/checkpoint.test.ts: pending writes, the snapshot after the failure',
    what: 'a run that failed says what is done and what a resume will do',
    verdict: { differs: 'as the outcomes of its steps: those that did not succeed run again' },
    async run() {
      const store = memoryStore();
      const pair = graph<{ a: number; b: number }>()
        .addNode('split', () => null)
        .addNode('good', () => ({ a: 1 }))
        .addNode('bad', () => {
          throw new Error('out of ink');
        })
        .addEdge('split', 'good')
        .addEdge('split', 'bad')
        .setEntry('split');
      const { runId } = await pair.run({}, { store });
      return readRun(store, runId).steps.map(({ path, outcome }) => `${path} ${outcome}`);
    },
    gives: ['split succeeded', 'good succeeded', 'bad failed'],
  },
  {
    feature: 'getState().next',
    from: 'pregel.test.ts: a branch at the start, the snapshot after the end',
    what: 'a run that is over has nothing next',
    verdict: 'same',
    async run() {
      const store = memoryStore();
      const { runId } = await letter().run({ text: 'Hi' }, { store });
      answerRun(store, runId, { value: 'yes' });
      await letter().run({}, { store, resume: runId });
      const { status, questions, census } = readRun(store, runId);
      return { status, waits: questions.length, left: census?.notRun };
    },
    gives: { status: 'succeeded', waits: 0, left: 0 },
  },
];
