import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SkeinError, definePlan, memoryStore, run } from 'skein';
import type { Store } from 'skein';
import { systemClock } from '../../src/base/clock.js';
import { LEASE_MS } from '../../src/journal/store.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Lets everything happen that needs no timer. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((done) => void setImmediate(done));
}

/** The timers of this test that are set: those of what other files of tests left behind in this thread don't count. */
function ownTimers(): ReadonlySet<() => void> {
  const test = new AsyncLocalStorage<boolean>();
  const own = new Set<() => void>();
  const real = { ...systemClock };
  test.enterWith(true);
  vi.spyOn(systemClock, 'setTimer').mockImplementation((ms, fire) => {
    const once = (): void => {
      own.delete(once);
      fire();
    };
    const takeBack = real.setTimer(ms, once);
    if (test.getStore() === true) own.add(once);
    return () => {
      own.delete(once);
      takeBack();
    };
  });
  return own;
}

/** Two steps, one after the other, and one beside them. The first and the one beside end when they are told to, the second when the run does, or at once. */
function twoSteps(holds: boolean) {
  const ends: (() => void)[] = [];
  const told = (): Promise<string> => new Promise((done) => ends.push(() => done('done')));
  const plan = definePlan({
    name: 'two',
    nodes: [
      { id: 'first', output: 'first', run: told },
      { id: 'beside', output: 'beside', run: told },
      {
        id: 'second',
        output: 'second',
        run: (_state, { signal }) =>
          holds
            ? new Promise((_, refuse) => {
                signal.addEventListener('abort', () => refuse(new Error('stopped')));
              })
            : 'done',
      },
    ],
    edges: [['first', 'second']],
  });
  return { plan, end: (at: number) => ends[at]?.() };
}

it('[J9] a run whose lease is found lost when it is to be renewed leaves nothing behind that keeps the process alive', async () => {
  const timers = ownTimers();
  const store = memoryStore();
  const { plan } = twoSteps(false);
  const { runId, result } = run(plan, { store });
  await rest();
  expect(timers.size).toBeGreaterThan(0);
  store.renew([{ runId, fence: store.run(runId)?.fence ?? 0 }], -LEASE_MS);
  store.lease(runId, { id: 'other', host: 'elsewhere', pid: 1 }, 0);
  vi.advanceTimersByTime(LEASE_MS);
  expect(await result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_LEASE' } });
  await rest();
  expect(timers.size).toBe(0);
});

it('[J5] a run goes on that wrote while another one waited for the store, and the other one ends first', async () => {
  const real = memoryStore();
  let locked = false;
  const store: Store = new Proxy(real, {
    get(target, name) {
      const own = Reflect.get(target, name) as unknown;
      if (typeof own !== 'function') return own;
      if (name !== 'append') return own.bind(target) as unknown;
      return (...given: Parameters<Store['append']>) => {
        if (locked) throw new SkeinError('SKEIN_STORE', 'locked', { retryable: true });
        return real.append(...given);
      };
    },
  });
  const [waits, writes] = [twoSteps(true), twoSteps(false)];
  const one = run(waits.plan, { store });
  const other = run(writes.plan, { store });
  await rest();
  locked = true;
  waits.end(0);
  await rest();
  writes.end(1);
  waits.end(1);
  await rest();
  writes.end(0);
  await rest();
  locked = false;
  one.cancel();
  expect((await one.result).outcome).toBe('cancelled');
  expect(await other.result).toMatchObject({ outcome: 'succeeded', state: { second: 'done' } });
});
