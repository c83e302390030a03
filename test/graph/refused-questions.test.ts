import { describe, expect, it } from 'vitest';
import { memoryStore, readRun } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';
import { ownModels, resultsIn } from './support-agents.js';

/** As functions ask that no compiler has seen. */
type Ask = (...args: readonly unknown[]) => Promise<unknown>;

const WRONG: readonly (readonly [string, readonly unknown[]])[] = [
  ['a text in place of a question', ['Publish?', { choices: ['yes'] }]],
  ['nothing', []],
  ['a question without text', [{ choices: ['yes'] }]],
  ['a text that is not one', [{ text: 7 }]],
  ['choices that are not a list', [{ text: 'Publish?', choices: 'yes' }]],
  ['choices that are not texts', [{ text: 'Publish?', choices: [1, 2] }]],
  ['a schema with a reference that leads nowhere', [{ text: 'Publish?', schema: { $ref: '#/nowhere' } }]],
  ['a schema that has no JSON Schema', [{ text: 'Publish?', schema: { '~standard': { validate: () => ({}) } } }]],
  ['a schema that is not JSON', [{ text: 'Publish?', schema: 7 }]],
  ['evidence that is not JSON', [{ text: 'Publish?', evidence: { sum: 7n } }]],
  ['a name that is not a text', [{ text: 'Publish?' }, { name: 7 }]],
  ['an empty name', [{ text: 'Publish?' }, '']],
  ['a name of two lines', [{ text: 'Publish?' }, 'a\nb']],
  ['a name with half of a surrogate pair', [{ text: 'Publish?' }, '\ud800']],
];

/** An agent whose tool asks like that; its last turn repeats what the tool gave. */
function asking(...args: readonly unknown[]) {
  const { models } = ownModels({
    m: (request) => (request.caller.turn === 1 ? { calls: [['page', {}]] } : resultsIn(request).join()),
  });
  const page = tool({
    name: 'page',
    inputSchema: { type: 'object' },
    effect: 'read',
    execute: (_input, io) => (io.ask as Ask)(...args),
  });
  const flow = graph<{ task: string }>()
    .node('desk', agentNode(agent({ name: 'desk', model: 'own/m', tools: [page] })))
    .setEntry('desk');
  return { flow, models };
}

describe('a function that asks wrongly', () => {
  it.each(WRONG)('fails, and its record can be read: %s', async (_, args) => {
    const store = memoryStore();
    const flow = graph()
      .node('page', (_state, step) => (step.ask as Ask)(...args), { inputs: [] })
      .setEntry('page');
    const { outcome, error, runId } = await flow.run({}, { store });
    expect([outcome, error?.code]).toEqual(['failed', 'SKEIN_USAGE']);
    expect(error?.hint).toContain('ask(');
    expect(readRun(store, runId)).toMatchObject({ status: 'failed', questions: [] });
  });
});

describe('a tool that asks wrongly', () => {
  it.each(WRONG)('fails as a tool, the run can be read and has ended: %s', async (_, args) => {
    const store = memoryStore();
    const { flow, models } = asking(...args);
    const { outcome, answer, runId } = await flow.run({ task: 'x' }, { store, models });
    expect(outcome).toBe('succeeded');
    expect(answer).toMatch(
      /must be (an object with a text|a list of texts|a text of one line|JSON)|schema of a question can't be used/,
    );
    expect(readRun(store, runId)).toMatchObject({ status: 'succeeded', questions: [] });
  });
});
