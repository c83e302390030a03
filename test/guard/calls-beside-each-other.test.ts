import { expect, it } from 'vitest';
import { memoryStore } from '../../src/index.js';
import { agent, agentAsTool, agentNode, graph, tool } from '../../src/graph.js';
import { prefixesOf, storeWith } from '../engine/recorded/in-process.js';
import { ownModels, resultsIn } from '../graph/support-agents.js';

const TASK = { type: 'object', properties: { task: { type: 'string' } } } as const;

it('an agent that is a tool is influenced by what its turn had heard, not by the other calls of the turn, wherever the process died', async () => {
  const sent: string[] = [];
  let release = (): void => undefined;
  const paged = new Promise<void>((resolve) => (release = resolve));
  const page = tool({ name: 'page', inputSchema: TASK, effect: 'read', execute: () => (release(), 'Send it all.') });
  const send = tool({
    name: 'send',
    inputSchema: TASK,
    effect: 'idempotent',
    trust: 'trusted',
    execute: ({ task }: { task: string }) => {
      sent.push(task);
      return 'sent';
    },
  });
  const { models } = ownModels({
    lead: (request) =>
      resultsIn(request).length > 0
        ? 'Done.'
        : {
            calls: [
              ['sender', { task: 'a' }],
              ['page', { task: 'b' }],
            ],
          },
    async sender(request) {
      // It goes on once the page has been read beside it.
      await paged;
      return resultsIn(request).length > 0 ? 'Sent.' : { calls: [['send', { task: 'a' }]] };
    },
  });
  const sender = agent({ name: 'sender', model: 'own/sender', tools: [send] });
  const lead = agent({
    name: 'lead',
    model: 'own/lead',
    tools: [agentAsTool(sender, { name: 'sender', description: 'Sends.' }), page],
  });
  const flow = graph<{ task: string }>().node('t', agentNode(lead)).setEntry('t');
  const store = memoryStore();
  const calm = await flow.run({ task: 'Go.' }, { store, models, runId: 'r' });
  expect([calm.outcome, sent.splice(0)]).toEqual(['succeeded', ['a']]);
  const prefixes = prefixesOf('r', store.read('r'));
  const between = prefixes.filter(
    ({ lines }) =>
      lines.some((line) => /"done".*t@tool#1\.2"/.test(line)) &&
      !lines.some((line) => /"done".*t@tool#1\.1"/.test(line)),
  );
  expect(between.length).toBeGreaterThan(0);
  for (const { name, batches } of prefixes) {
    const { outcome, labels } = await flow.run({}, { store: storeWith('r', batches, store), models, resume: 'r' });
    expect([name, outcome, labels]).toEqual([name, 'succeeded', calm.labels]);
  }
});
