import { expect, test } from 'vitest';
import { memoryStore } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels, resultsIn } from './support-agents.js';

test('a resume counts the tool calls that it makes as spent, and those that it takes from the record as saved', async () => {
  const seen: unknown[] = [];
  const look = tool({
    name: 'look',
    effect: 'read',
    inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
    execute: ({ n }) => {
      seen.push(n);
      return `saw ${String(n)}`;
    },
  });
  const { models } = ownModels({
    m: (request) => {
      const results = resultsIn(request);
      return results.length === 2 ? results.join() : { calls: [['look', { n: results.length }]] };
    },
  });
  const flow = graph<{ task: string }>()
    .node('a', agentNode(agent({ name: 'x', model: 'own/m', tools: [look] }), { taskParam: 'task' }))
    .setEntry('a');
  const store = memoryStore();
  const whole = await flow.run({ task: 'Look twice.' }, { store, runId: 'r', models });
  expect([whole.spent.toolCalls, whole.saved.toolCalls]).toEqual([2, 0]);
  // Killed after any record, also between the start of a call and its end.
  for (const { batches } of prefixesOf('r', store.read('r'))) {
    seen.length = 0;
    const cut = storeWith('r', batches, store);
    const { spent, saved } = await flow.run({}, { store: cut, resume: 'r', models });
    expect([spent.toolCalls, saved.toolCalls]).toEqual([seen.length, 2 - seen.length]);
  }
});
