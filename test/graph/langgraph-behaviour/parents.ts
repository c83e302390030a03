import { graph, reducers, workflowNode } from 'skein/graph';
import type { Behaviour } from './behaviour.js';

interface Case {
  plea: string;
  ruling: string;
  log: string[];
}

/** A lower court: it hears a case, and says where it belongs. */
const court = () =>
  graph<Case & { heard: boolean }>({ inputs: ['plea'], reducers: { log: reducers.extend } })
    .addNode('hear', () => ({ heard: true, log: ['heard'] }))
    .addNode('rule', ({ plea }) => ({ ruling: plea === 'guilty' ? 'close' : 'appeal', log: ['ruled'] }))
    .addEdge('hear', 'rule')
    .setEntry('hear');

/** The graph around it, in which two nodes may follow. */
const system = () =>
  graph<Case>({ reducers: { log: reducers.extend } })
    .addNode('court', workflowNode(court(), 'court', { taskParam: null, writes: { ruling: 'ruling', log: 'log' } }))
    .addNode('close', () => ({ log: ['closed'] }))
    .addNode('appeal', () => ({ log: ['appealed'] }))
    .addConditionalEdge('court', ({ ruling }) => ruling, { close: 'close', appeal: 'appeal' })
    .setEntry('court');

export const PARENTS: readonly Behaviour[] = [
  {
    feature: 'Command.PARENT',
    from: 'pregel.test.ts: a parent command as the documentation has it, to either of two nodes',
    what: 'an inner graph decides which node of the graph around it follows',
    verdict: { differs: 'it leaves its decision in a key, by which the graph around it chooses: both can be read' },
    async run() {
      const runs = [await system().run({ plea: 'guilty' }), await system().run({ plea: 'not guilty' })];
      return runs.map(({ nodesRun }) => nodesRun);
    },
    gives: [
      ['court', 'close'],
      ['court', 'appeal'],
    ],
  },
  {
    feature: 'Command.PARENT',
    from: 'pregel.test.ts: a parent command that only updates',
    what: 'an inner graph writes a key of the graph around it that is not its answer',
    verdict: { differs: 'the node says which keys; no command is needed' },
    async run() {
      const { ruling, log } = (await system().run({ plea: 'guilty', log: ['filed'] })).state;
      return [ruling, log];
    },
    gives: ['close', ['filed', 'heard', 'ruled', 'closed']],
  },
  {
    feature: 'Command.PARENT',
    from: 'pregel.test.ts: parent commands with keys that the parent does not have',
    what: 'a key that only the inner graph has does not come out of it',
    verdict: 'same',
    async run() {
      return Object.keys((await system().run({ plea: 'guilty' })).state).toSorted();
    },
    gives: ['log', 'plea', 'ruling'],
  },
  {
    feature: 'Command.PARENT',
    from: 'pregel.test.ts: a parent command from a graph inside of an inner graph',
    what: 'a graph two levels down writes a key of the graph in the middle, which goes on by it',
    verdict: { differs: 'each level says by name what it hands on' },
    async run() {
      const child = graph<{ plea: string; name: string; seen: string }>({ inputs: ['plea'] })
        .addNode('ask', workflowNode(court(), 'ask', { taskParam: null, writes: { ruling: 'name' } }))
        .addNode('greet', ({ name }) => ({ seen: `to ${name}` }))
        .addEdge('ask', 'greet')
        .setEntry('ask');
      const outer = graph<{ plea: string; seen: string }>()
        .addNode('child', workflowNode(child, 'child', { taskParam: null, writes: { seen: 'seen' } }))
        .setEntry('child');
      return (await outer.run({ plea: 'guilty' })).state.seen;
    },
    gives: 'to close',
  },
  {
    feature: 'Command.PARENT',
    from: 'pregel.test.ts: a parent command and an update of the same key inside',
    what: 'an inner graph writes a key twice that the graph around it takes',
    verdict: { differs: 'the last value arrives, once: the key needs no reducer for it' },
    async run() {
      const inner = graph<{ name: string }>({ inputs: ['name'] })
        .addNode('first', () => ({ name: 'Rex' }))
        .addNode('second', ({ name }) => ({ name: `${name} the second` }))
        .addEdge('first', 'second')
        .setEntry('first');
      const outer = graph<{ name: string; greeting: string }>()
        .addNode('naming', workflowNode(inner, 'naming', { taskParam: null, writes: { name: 'name' } }))
        .addNode('greet', ({ name }) => ({ greeting: `Hello ${name}` }))
        .addEdge('naming', 'greet')
        .setEntry('naming');
      return (await outer.run({ name: 'nobody' })).state.greeting;
    },
    gives: 'Hello Rex the second',
  },
];
