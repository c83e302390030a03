import { expect, it } from 'vitest';
import { answerRun, cancelRun, definePlan, memoryStore, run } from 'skein';

it('[XR8] an answer to a cancelled run is refused; once it is resumed, its question is open again', async () => {
  const plan = definePlan({ name: 'p', nodes: [{ id: 'ok', kind: 'ask', output: 'ok', question: 'Go on?' }] });
  const store = memoryStore();
  const { runId, outcome } = await run(plan, { store }).result;
  expect([outcome, cancelRun(store, runId)]).toEqual(['paused', 'cancelled']);
  expect(() => answerRun(store, runId, { value: 'yes' })).toThrow('the run is cancelled');
  expect((await run(plan, { store, resume: runId }).result).outcome).toBe('paused');
  answerRun(store, runId, { value: 'yes' });
  expect((await run(plan, { store, resume: runId }).result).state).toMatchObject({ ok: 'yes' });
});
