import { expect, test } from 'vitest';
import { agent, agentNode, graph } from 'skein/graph';
import { ownModels } from './support-agents.js';

test('a graph that is run by a function, or by itself for its invariants, has the models of the run around it', async () => {
  const { models, asked } = ownModels({ m: () => 'said' });
  const inner = graph<{ task: string }>({
    invariants: [{ predicate: ({ nodeCount }) => nodeCount < 2, message: 'one node' }],
  })
    .node('ask', agentNode(agent({ name: 'a', model: 'own/m' })))
    .setEntry('ask');
  const flow = graph<{ task: string }>()
    .node('watched', agentNode(inner.asAgent()))
    .node('byHand', async ({ watched }, step) => (await inner.run({ task: watched }, step.runOptions)).answer)
    .setEntry('watched');
  const { state } = await flow.run({ task: 'x' }, { models });
  expect([state, asked]).toEqual([{ task: 'x', watched: 'said', byHand: 'said' }, ['m: x', 'm: said']]);
});
