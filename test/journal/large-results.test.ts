import { expect, it } from 'vitest';
import { definePlan } from '../../src/plan/builder.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';

it('[XR8] a result whose JSON has 600 MB fails its step with a typed error that says what to do', async () => {
  // Each character takes six in JSON.
  const plan = definePlan({
    name: 'large',
    nodes: [{ id: 'a', run: () => ({ text: '\u0001'.repeat(100_000_000) }) }],
    edges: [],
  });
  const { outcome, error } = await run(plan, { store: memoryStore(), models: { env: {} } }).result;
  expect([outcome, error?.code, error?.hint]).toEqual([
    'failed',
    'SKEIN_NOT_JSON',
    'write it to a file, and return the name of that',
  ]);
  expect(error?.message).toBe("the result of 'a' can't be recorded: its JSON has more than 512 MB");
});
