import { expect, test } from 'vitest';
import { readMoments, readRun } from '../../src/journal/overview.js';
import { definePlan } from '../../src/plan/builder.js';
import type { AgentInput } from '../../src/plan/builder-input.js';

import { memoryStore } from '../../src/stores/memory.js';
import { record } from './support/recorded-runs.js';

/** What is said of the ends of the step `look`, which is answered as the script says. */
async function ends(
  more: Partial<AgentInput<Readonly<Record<string, unknown>>>>,
  answers: readonly string[],
): Promise<readonly string[]> {
  const plan = definePlan({
    name: 'looking',
    nodes: [{ id: 'look', kind: 'agent', prompt: 'Look', output: 'seen', agent: { tools: [] }, ...more }],
  });
  const store = memoryStore();
  const script = { rules: [{ step: 'look', answers }] };
  const { id } = await record(store, plan, { models: { env: {}, noProbe: true, script } });
  expect(readRun(store, id).steps).toHaveLength(1);
  const moments = readMoments(store, id).filter(({ path, kind }) => path === 'look' && kind !== 'model');
  return moments.map(({ text }) => text.split(':', 1)[0] ?? '');
}

const NUMBER = { schema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } };
const ASKING_NUMBER = { agent: { tools: [], output: NUMBER } };

test('an answer that the step can not use is not told as its success', async () => {
  expect(await ends({ ...ASKING_NUMBER, onError: 'continue' }, ['{}', '{}'])).toEqual(['failed']);
  const checked = { tools: [], checks: [{ kind: 'bannedWords', words: ['bad'] }] } as const;
  expect(await ends({ agent: checked, onError: 'continue' }, ['bad', 'bad'])).toEqual(['did its work', 'failed']);
});

test('only the attempt that succeeds is told as a success', async () => {
  const told = await ends({ ...ASKING_NUMBER, retry: { retries: 1, delayMs: 0 } }, ['{}', '{}', '{"a":1}']);
  expect(told.map((text) => text.split(' ', 1)[0])).toEqual(['tries', 'succeeded']);
});

test('the work of a supervised step is not told as its success before it is judged', async () => {
  const told = await ends({ supervise: { by: 'model' } }, ['done']);
  expect(told).toContain('did its work');
  expect(told).not.toContain('succeeded');
  expect(told.at(-1)).toBe('is accepted');
});
