// flow.ts
import { agent, agentNode, graph } from 'skein/graph';

const expert = agent({ name: 'expert', instructions: 'You explain things to newcomers.' });

export default graph<{ topic: string }>({ name: 'flow' })
  .node('question', ({ topic }) => `Explain ${topic} in one line.`)
  .node('text', agentNode(expert, { taskParam: 'question' }))
  .node('checked', ({ text }) => (text.includes('\n') ? 'too long' : `one line: ${text}`))
  .setEntry('question');
