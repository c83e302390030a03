import { goto, graph, reducers, workflowNode } from 'skein/graph';
import { codeOf } from './behaviour.js';
import type { Behaviour } from './behaviour.js';

interface Case {
  plea: string;
  ruling: string;
  log: string[];
}

/** A lower court: it hears a case, and says where the graph around it goes on. */
const court = () =>
  graph<Case & { heard: boolean }>({ inputs: ['plea'], reducers: { log: reducers.extend } })
    .addNode('hear', () => ({ heard: true, log: ['heard'] }))
    .addNode(
      'rule',
      ({ plea }) => {
        const ruling = plea === 'guilty' ? 'close' : 'appeal';
        return goto(ruling, { ruling, log: ['ruled'] }, { parent: true });
      },
      { gotoParent: ['close', 'appeal'] },
    )
    .addEdge('hear', 'rule')
    .setEntry('hear');

const written = { taskParam: null, writes: { ruling: 'ruling', log: 'log' } } as const;

/** The graph around it, in which two nodes may follow. */
const system = () =>
  graph<Case>({ reducers: { log: reducers.extend } })
    .addNode('court', workflowNode(court(), 'court', written), { goto: ['close', 'appeal'] })
    .addNode('close', ({ ruling }) => ({ log: [`${ruling}d`] }))
    .addNode('appeal', ({ ruling }) => ({ log: [`${ruling}ed`] }))
    .setEntry('court');

export const PARENTS: readonly Behaviour[] = [
  {
    feature: 'Command.PARENT',
    from: 'pregel.test.ts: a parent command as the documentation has it, to either of two nodes',
    what: 'a node of an inner graph decides which node of the graph around it follows',
    verdict: 'same',
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
    from: 'pregel.test.ts: a parent command with an update and a node to go to',
    what: 'what it gives with its decision is there for the node that follows',
    verdict: { differs: 'it writes its own state; `writes` of its node says which keys come out of it' },
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
    from: 'pregel.test.ts: a parent command as the documentation has it, with `ends` of the node around',
    what: 'a jump to a node that the graph around does not expect',
    verdict: { differs: 'it is found before the run: targets stand on both sides' },
    async run() {
      return codeOf(() =>
        graph<Case>({ reducers: { log: reducers.extend } })
          .addNode('court', workflowNode(court(), 'court', written), { goto: ['close'] })
          .addNode('close', () => null)
          .setEntry('court')
          .compile(),
      );
    },
    gives: 'SKEIN_DEFINITION',
  },
  {
    feature: 'Command.PARENT',
    from: 'pregel.test.ts: a parent command from a graph inside of an inner graph',
    what: 'a node two levels down leads the graph in the middle, and not the outermost one',
    verdict: 'same',
    async run() {
      const middle = workflowNode(system(), 'middle', { taskParam: 'plea', writes: { log: 'log' } });
      const outer = graph<{ plea: string; log: string[] }>({ reducers: { log: reducers.extend } })
        .addNode('middle', middle)
        .addNode('after', () => ({ log: ['after'] }))
        .addEdge('middle', 'after')
        .setEntry('middle');
      return (await outer.run({ plea: 'guilty' })).state.log;
    },
    gives: ['heard', 'ruled', 'closed', 'after'],
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
