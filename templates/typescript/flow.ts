// PROJECT
import { agent, agentNode, graph } from 'skein/graph';

const writer = agent({
  name: 'writer',
  instructions: "You write short, plain texts. You say what you don't know.",
});

// A function names what it needs: a node before it, or an input. What it gives is kept under the name of its node.
const flow = graph<{ topic: string }>({
  name: 'PROJECT',
  inputs: [{ name: 'topic', default: 'looms', description: 'What to write about' }],
})
  .node('task', ({ topic }) => `Write one paragraph about ${topic}.`)
  .node('text', agentNode(writer))
  .node('page', ({ topic, text }) => `${topic.toUpperCase()}: ${text}`)
  .setEntry('task');

export default flow;
