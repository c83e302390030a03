import { agent, agentNode, graph, reducers } from 'skein/graph';

interface State {
  topic: string;
  task: string;
  draft: string;
  verdict: string;
  /** What the critic said, round by round. */
  remarks?: string[];
}

const writer = agent({ name: 'writer', instructions: 'You write one sentence, and mind the remarks.' });
const critic = agent({ name: 'critic', instructions: 'Answer OK, or say what is wrong with the sentence.' });

/** A state graph: nodes that write keys of the state, edges, a reducer, and a choice that goes back or on. `page` is a function of what it names. */
export default graph<State>({
  name: 'graph-loop',
  inputs: ['topic'],
  reducers: { remarks: reducers.append },
  maxSteps: 12,
  budget: '24-calls, 100k-tokens',
})
  .addNode('task', ({ topic, remarks = [] }) => ({ task: [`One sentence about ${topic}.`, ...remarks].join('\n') }))
  .addNode('write', agentNode(writer), { output: 'draft', budget: '12-calls' })
  .addNode('review', agentNode(critic, { taskParam: 'draft' }), { output: 'verdict' })
  .addNode('note', ({ verdict }) => ({ remarks: verdict }))
  .node('page', ({ draft, remarks }) => `${draft} (${remarks?.length ?? 0} sent back)`)
  .addEdge('task', 'write')
  .addEdge('write', 'review')
  .addConditionalEdge('review', ({ verdict }) => (verdict === 'OK' ? 'page' : 'note'), {
    page: 'page',
    note: 'note',
  })
  .addEdge('note', 'task')
  .setEntry('task')
  .setExit('page');
