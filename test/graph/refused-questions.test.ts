import { describe, expect, it } from 'vitest';
import { memoryStore, readRun } from 'skein';
import { graph } from 'skein/graph';
import { z } from 'zod';

/** As functions ask that no compiler has seen. */
type Ask = (...args: readonly unknown[]) => Promise<unknown>;

const WRONG: readonly (readonly [string, readonly unknown[]])[] = [
  ['a text in place of a question', ['Publish?', { choices: ['yes'] }]],
  ['nothing', []],
  ['a question without text', [{ choices: ['yes'] }]],
  ['a text that is not one', [{ text: 7 }]],
  ['choices that are not a list', [{ text: 'Publish?', choices: 'yes' }]],
  ['choices that are not texts', [{ text: 'Publish?', choices: [1, 2] }]],
  ['a name that is not a text', [{ text: 'Publish?' }, { name: 7 }]],
  ['an empty name', [{ text: 'Publish?' }, '']],
];

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

  it('fails, and its record can be read: a schema that is not JSON', async () => {
    const store = memoryStore();
    const flow = graph()
      .node('page', (_state, step) => (step.ask as Ask)({ text: 'Publish?', schema: z.string() }), { inputs: [] })
      .setEntry('page');
    const { outcome, runId } = await flow.run({}, { store });
    expect(outcome).toBe('failed');
    expect(readRun(store, runId).status).toBe('failed');
  });
});
