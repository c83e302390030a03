import { describe, expect, it } from 'vitest';
import { memoryStore, readRun } from 'skein';
import { agent, agentAsTool, agentNode, graph } from 'skein/graph';
import type { SkeinEvent } from 'skein';
import { readCosts } from '../../src/journal/run-costs.js';
import { ownModels } from '../graph/support-agents.js';

const asking = (name: string, ...tools: readonly ReturnType<typeof agentAsTool>[]) =>
  agent({ name, instructions: `You are ${name}.`, model: 'own/m', tools: [...tools] });
const writer = asking('writer');
const boss = asking('boss', agentAsTool(writer, { name: 'writer', description: 'Writes.' }));

/** What a function, each item of a list, and an agent used as a tool have asked a model; the last node fails as long as `state.broken`. */
function flowOf(state: { broken: boolean }) {
  let tries = 0;
  return graph<{ words: string[] }>({ name: 'inside' })
    .node(
      'once',
      async ({ words }, step) => {
        const { answer } = await writer.run(words.join(' '), step.runOptions);
        tries += 1;
        if (tries === 1) throw new Error('the first attempt fails after its call');
        return answer;
      },
      { retry: { retries: 1, delayMs: 1, on: () => true } },
    )
    .map('each', { over: 'words', item: 'word' }, async ({ word }, step) => {
      return (await writer.run(word, step.runOptions)).answer;
    })
    .node('led', agentNode(boss, { taskParam: 'once' }))
    .node('last', ({ each, led }) => {
      if (state.broken) throw new Error('not yet');
      return [...each, led].length;
    });
}

const { models, requests } = ownModels({
  m: ({ messages, tools }) => {
    const isNew = messages.at(-1)?.role === 'user';
    return tools.length > 0 && isNew ? { calls: [['writer', { task: 'Write.' }]] } : 'Said.';
  },
});

describe('the calls of runs that functions and tools have started', () => {
  it('are saved once the step is reused: by a resume, a fork and a fork of that, and paid for by the run that made them', async () => {
    const store = memoryStore();
    const state = { broken: true };
    const flow = flowOf(state);
    const told: SkeinEvent[] = [];
    const first = await flow.run({ words: ['a', 'b'] }, { store, models });
    expect([first.outcome, first.error?.message]).toEqual(['failed', 'not yet']);
    // Two of the function, of which one was in vain, one for each item, two of the agent and one of its tool.
    expect([first.spent.modelCalls, first.saved.modelCalls, requests.length]).toEqual([7, 0, 7]);
    state.broken = false;
    const resumed = await flow.run(
      {},
      { store, models, resume: first.runId, listeners: [(event) => told.push(event)] },
    );
    expect([resumed.outcome, resumed.spent.modelCalls, resumed.saved.modelCalls]).toEqual(['succeeded', 0, 6]);
    const forked = await flow.run(
      { words: ['a', 'b'] },
      { store, models, fork: { run: first.runId, forget: ['each'] } },
    );
    expect([forked.outcome, forked.spent.modelCalls, forked.saved.modelCalls]).toEqual(['succeeded', 2, 4]);
    const again = await flow.run({ words: ['a', 'b'] }, { store, models, fork: { run: forked.runId } });
    expect([again.outcome, again.spent.modelCalls, again.saved.modelCalls]).toEqual(['succeeded', 0, 6]);
    expect([first, forked, again].map(({ runId }) => readRun(store, runId).modelCalls)).toEqual([7, 2, 0]);
    expect(readCosts(store).whole.modelCalls).toBe(9);
    const inner = told.filter((event) => event.type === 'step.note' && event.note.kind === 'inner.call');
    expect(inner.map(({ path, replayed }) => `${path} ${replayed}`).toSorted()).toEqual([
      'each[0]/each true',
      'each[1]/each true',
      'led true',
      'once true',
    ]);
  });
});
