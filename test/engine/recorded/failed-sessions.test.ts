import { expect, test } from 'vitest';
import type { Model } from '../../../src/agent/index.js';
import { SkeinError } from '../../../src/base/errors.js';
import { definePlan } from '../../../src/plan/builder.js';
import type { NodeInput, StateOf } from '../../../src/plan/builder-input.js';
import { run } from '../../../src/runtime.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { linesOf, prefixesOf, storeWith } from './in-process.js';

/** A model that counts its calls, and fails for some prompts as long as it is told to. */
function countingModel(): { model: Model; calls: string[]; broken: Set<string> } {
  const calls: string[] = [];
  const broken = new Set<string>();
  const model: Model = {
    id: 'count/one',
    async *stream({ caller }) {
      calls.push(caller.path);
      await new Promise((next) => setImmediate(next));
      if (broken.has(caller.path)) throw new SkeinError('SKEIN_MODEL_FAILED', `no answer for ${caller.path}`);
      yield { type: 'text', text: `said ${caller.path}` };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
  return { model, calls, broken };
}

function agents(onError: 'continue' | 'fail'): ReturnType<typeof definePlan> {
  const ids = Array.from({ length: 102 }, (_, at) => `a${at}`);
  const nodes = ids.map((id): NodeInput<StateOf> => {
    const agent = { tools: [], instructions: 'You answer.' };
    return { id, kind: 'agent', prompt: `Do ${id}`, agent, output: id, onError };
  });
  return definePlan({ name: 'many', nodes });
}

test('J3: 102 parallel agents of which 2 fail: resuming calls the model exactly twice', async () => {
  const { model, calls, broken } = countingModel();
  const store = memoryStore();
  const models = { env: {}, noProbe: true, override: 'count/one', providers: { count: () => model } };
  for (const id of ['a40', 'a101']) broken.add(id);
  const first = await run(agents('continue'), { store, runId: 'r', models }).result;
  expect([first.outcome, first.census.degraded, first.census.succeeded]).toEqual(['degraded', 2, 100]);
  expect(new Set(calls).size).toBe(102);
  calls.length = 0;
  broken.clear();
  const second = await run(agents('continue'), { store, resume: 'r', models }).result;
  expect(calls.toSorted()).toEqual(['a101', 'a40']);
  expect([second.outcome, second.state['a40'], second.state['a0']]).toEqual(['succeeded', 'said a40', 'said a0']);
  expect([second.reused, second.ran]).toEqual([100, 2]);
  calls.length = 0;
  const third = await run(agents('continue'), { store, resume: 'r', models }).result;
  expect([third.outcome, calls]).toEqual(['succeeded', []]);
  expect([third.reused, third.ran]).toEqual([102, 0]);
});

/** A step that fails a few times and writes down its attempts. */
function flaky(attempts: number[], good: () => number) {
  return definePlan({
    name: 'flaky',
    nodes: [
      {
        id: 'x',
        output: 'x',
        retry: { retries: 2, backoff: 'fixed', delayMs: 1, on: 'any' },
        run: (_state, { attempt }) => {
          attempts.push(attempt);
          if (attempts.length < good()) throw new Error(`attempt ${attempt}`);
          return attempt;
        },
      },
    ],
  });
}

test('J3: attempts go on after a crash; after a session that failed the last one is tried again', async () => {
  const attempts: number[] = [];
  let good = 99;
  const workflow = flaky(attempts, () => good);
  const store = memoryStore();
  const first = await run(workflow, { store, runId: 'r' }).result;
  expect([first.outcome, attempts]).toEqual(['failed', [1, 2, 3]]);

  // As if it had been killed after the second failure was recorded.
  const crashed = prefixesOf('r', store.read('r')).find(
    ({ lines }) => lines.filter((line) => line.includes('"t":"done"') && line.includes('"error"')).length === 2,
  );
  attempts.length = 0;
  const afterCrash = await run(workflow, { store: storeWith('r', crashed?.batches ?? []), resume: 'r' }).result;
  expect([afterCrash.outcome, attempts]).toEqual(['failed', [3]]);

  attempts.length = 0;
  good = 1;
  const afterFailure = await run(workflow, { store, resume: 'r' }).result;
  expect([afterFailure.outcome, afterFailure.state['x'], attempts]).toEqual(['succeeded', 3, [3]]);
  expect(linesOf(store, 'r').filter((line) => line.includes('"t":"end"'))).toHaveLength(2);
});
