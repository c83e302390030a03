import { expect, test } from 'vitest';
import { readHistory } from '../../../src/journal/session.js';
import { definePlan } from '../../../src/plan/builder.js';
import { run } from '../../../src/runtime.js';
import { memoryStore } from '../../../src/stores/memory.js';
import type { Store } from '../../../src/journal/store.js';
import { SkeinError } from '../../../src/base/errors.js';
import { linesOf } from './in-process.js';

const flaky = (attempts: number[]) =>
  definePlan({
    name: 'flaky',
    nodes: [
      {
        id: 'x',
        output: 'x',
        retry: { retries: 3, backoff: 'fixed', delayMs: 5, jitter: 1, on: 'any' },
        run(_state, { attempt }) {
          attempts.push(attempt);
          if (attempt < 4) throw new Error('not yet');
          return attempt;
        },
      },
    ],
  });

test('a resume that can not read the record gives the run back: nobody has to wait for its lease to end', async () => {
  const inner = memoryStore();
  const workflow = flaky([]);
  await run(workflow, { store: inner, runId: 'r' }).result;
  let broken = true;
  const store: Store = new Proxy(inner, {
    get(target, name: keyof Store) {
      const method = target[name] as (...values: unknown[]) => unknown;
      return (...values: unknown[]) => {
        if (name === 'append' && broken) throw new SkeinError('SKEIN_STORE', 'the disk is full');
        return method.apply(target, values);
      };
    },
  });
  await expect(run(workflow, { store, resume: 'r' }).result).rejects.toThrow('the disk is full');
  broken = false;
  // Another process, which lives: a lease that is good would keep it out.
  const lease = store.lease('r', { id: 'other', host: 'elsewhere', pid: 7 }, Date.now());
  expect(lease.fence).toBe(3);
  expect(store.run('r')).toMatchObject({ id: 'r' });
});

test('a fork draws the random numbers of its parent: delays that were waited for are not waited for again', async () => {
  const attempts: number[] = [];
  const workflow = flaky(attempts);
  const store = memoryStore();
  await run(workflow, { store, runId: 'r' }).result;
  expect(linesOf(store, 'r').filter((line) => line.includes('"t":"timer"'))).toHaveLength(3);
  const fork = await run(workflow, { store, runId: 'f', fork: { run: 'r' } }).result;
  expect([fork.outcome, fork.state['x'], attempts]).toEqual(['succeeded', 4, [1, 2, 3, 4]]);
  expect(linesOf(store, 'f').filter((line) => line.includes('"t":"timer"'))).toEqual([]);
  expect(readHistory(store, 'f').begin.seed).toBe('r');
});

test('a workflow that has nothing to do with a run is not run under its name; an edited one is', async () => {
  const store = memoryStore();
  const one = definePlan({ name: 'one', nodes: [{ id: 'a', output: 'a', run: () => 1 }] });
  const other = definePlan({ name: 'other', nodes: [{ id: 'b', output: 'b', run: () => 2 }] });
  const renamed = definePlan({ name: 'renamed', nodes: [{ id: 'a', output: 'a', run: () => 3 }] });
  await run(one, { store, runId: 'r' }).result;
  const before = linesOf(store, 'r').length;
  await expect(run(other, { store, resume: 'r' }).result).rejects.toThrow("has no step in common with 'other'");
  expect(linesOf(store, 'r').length).toBe(before);
  expect(store.run('r')?.outcome).toBe('succeeded');
  expect((await run(renamed, { store, resume: 'r' }).result).state).toEqual({ a: 3 });
});
