import { describe, expect, it } from 'vitest';
import { answerRun, getThread, memoryStore } from 'skein';
import { agent, agentNode, graph } from 'skein/graph';
import { ownModels } from '../graph/support-agents.js';

const writer = agent({ name: 'writer', model: 'own/m', instructions: 'You write.' });
const asking = graph<{ task: string }>({ name: 'asking' })
  .node('draft', agentNode(writer))
  .node('sure', async ({ draft }, step) => `${draft}, ${await step.ask({ text: 'Are you sure?' })}`)
  .node('final', agentNode(writer, { taskParam: 'sure' }))
  .setEntry('draft');

describe('a turn that waited for an answer, and that the next one continues first', () => {
  it('keeps its own budget: that of the next turn is for the next turn', async () => {
    const store = memoryStore();
    const { models } = ownModels({ m: () => 'said' });
    const thread = 'one';
    const first = await asking.run({ task: 'a' }, { store, thread, models });
    answerRun(store, first.runId, { value: 'yes' });
    const second = await asking.run({ task: 'b' }, { store, thread, models, budget: '1-calls' });
    expect(second.outcome).toBe('paused');
    expect(getThread(store, thread).turns[0]).toMatchObject({ status: 'succeeded', results: { final: 'said' } });
    answerRun(store, second.runId, { value: 'yes' });
    const { outcome } = await asking.run(undefined, { store, resume: second.runId, models });
    expect(outcome).toBe('out_of_budget');
  });

  it('keeps its own inputs as trusted as they were', async () => {
    const store = memoryStore();
    const { models } = ownModels({ m: ({ messages }) => JSON.stringify(messages.at(-1)) });
    const first = await asking.run({ task: 'mine' }, { store, thread: 'one', models });
    answerRun(store, first.runId, { value: 'yes' });
    const answer = () => Promise.resolve('no');
    const second = await asking.run({ task: 'theirs' }, { store, thread: 'one', models, untrusted: ['task'], answer });
    expect(second.labels?.['final']?.sources).toEqual(['input:task']);
    const { labels } = await asking.run(undefined, { store, resume: first.runId, models });
    expect(labels?.['final']).toBeUndefined();
  });
});
