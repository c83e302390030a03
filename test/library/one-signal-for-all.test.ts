import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { definePlan, memoryStore, run } from 'skein';
import type { RunOptions } from 'skein';

/** A plan whose runs end when `open` is called, and only then. */
function held() {
  const opens: (() => void)[] = [];
  const body = (): Promise<number> => new Promise((resolve) => opens.push(() => resolve(1)));
  const plan = definePlan({ name: 'held', nodes: [{ id: 'a', output: 'k', run: body }] });
  return { plan, opens };
}

/** The signals that depend on a signal, which Node.js keeps in a set of its own. */
function dependents(signal: AbortSignal): number {
  const key = Object.getOwnPropertySymbols(signal).find((each) => String(each).includes('kDependantSignals'));
  const found: unknown = key === undefined ? undefined : Reflect.get(signal, key);
  return found instanceof Set ? found.size : 0;
}

const WAYS: readonly (readonly [string, (at: number) => RunOptions])[] = [
  ['without a store', () => ({})],
  ['with a store', () => ({ store: memoryStore() })],
  ['in a thread', (at) => ({ store: memoryStore(), thread: `t${at}` })],
];

describe('a signal that many runs share', () => {
  it.each(WAYS)('has one listener while they run, and none when they have ended: %s', async (_, more) => {
    const { plan, opens } = held();
    const { signal } = new AbortController();
    const runs = Array.from({ length: 20 }, (__, at) => run(plan, { signal, ...more(at) }).result);
    while (opens.length < runs.length) await new Promise((resolve) => setImmediate(resolve));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    opens.forEach((open) => open());
    expect((await Promise.all(runs)).map(({ outcome }) => outcome)).toEqual(runs.map(() => 'succeeded'));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(dependents(signal)).toBe(0);
  });

  it.each(WAYS)('cancels those that run, and not those that have ended: %s', async (_, more) => {
    const { plan, opens } = held();
    const controller = new AbortController();
    const [first, ...others] = [0, 1, 2].map((at) => run(plan, { signal: controller.signal, ...more(at) }).result);
    while (opens.length < 3) await new Promise((resolve) => setImmediate(resolve));
    opens[0]?.();
    expect((await first)?.outcome).toBe('succeeded');
    controller.abort(new Error('the server stops'));
    for (const { outcome, error } of await Promise.all(others)) {
      expect([outcome, error?.message]).toEqual(['cancelled', 'the server stops']);
    }
    const late = run(plan, { signal: controller.signal, ...more(3) }).result.then(({ error }) => error);
    expect(await late.catch((error: unknown) => error)).toMatchObject({ message: 'the server stops' });
  });
});
