import { agent, agentNode, graph } from '../../../src/graph.js';
import { ownModels } from '../../graph/support-agents.js';

/** Has an agent answer in a conversation of 200,000 messages, and says how many it was sent. */
const { models, requests } = ownModels({ m: () => 'Yes.' });
const flow = graph<{ task: string; talk: readonly object[] }>({ reducers: { talk: 'extend' } })
  .node(
    'clerk',
    agentNode(agent({ name: 'clerk', model: 'own/m', instructions: 'You answer.' }), { conversation: 'talk' }),
  )
  .setEntry('clerk');
const talk = Array.from({ length: 100_000 }, (_, at) => [
  { role: 'user', text: `${at}?` },
  { role: 'assistant', text: 'Yes.', toolCalls: [] },
]);
const { outcome, error } = await flow.run({ task: 'And now?', talk: talk.flat() }, { models, events: false });
console.log(error?.message ?? outcome, requests[0]?.messages.length, 'messages');
