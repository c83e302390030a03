import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/journal/store.js';
import { definePlan } from '../../src/plan/builder.js';
import { run } from '../../src/runtime.js';
import { memoryStore } from '../../src/stores/memory.js';

const STEPS = 1_000;

/** A store, and how often it gave each batch away. */
function watched(inner: Store): { store: Store; given: () => ReadonlyMap<number, number>; blobs: () => number } {
  const given = new Map<number, number>();
  let blobs = 0;
  const store = new Proxy(inner, {
    get(target, name: keyof Store) {
      const method = target[name] as (...values: unknown[]) => unknown;
      return (...values: unknown[]) => {
        const result = method.apply(target, values);
        if (name === 'blob') blobs += 1;
        if (name === 'read') {
          for (const { seq } of result as ReturnType<Store['read']>) given.set(seq, (given.get(seq) ?? 0) + 1);
        }
        return result;
      };
    },
  });
  return { store, given: () => given, blobs: () => blobs };
}

describe('a run of 1,000 steps that is resumed', () => {
  it('[XF5] reads each batch of its journal once, and its plan once', async () => {
    let broken = true;
    const ids = Array.from({ length: STEPS + 1 }, (_, at) => `s${at}`);
    const body = (id: string) => () => {
      if (broken && id === ids.at(-1)) throw new Error('stopped');
      return { text: id };
    };
    const workflow = definePlan({
      name: 'chain',
      nodes: ids.map((id) => ({ id, kind: 'task', output: 'last', run: body(id) })),
      edges: [ids],
    });
    const inner = memoryStore();
    const first = await run(workflow, { store: inner, runId: 'r' }).result;
    expect(first.outcome).toBe('failed');
    const batches = inner.read('r').length;
    expect(batches).toBeGreaterThan(STEPS);
    broken = false;
    const { store, given, blobs } = watched(inner);
    const { outcome, ran, reused } = await run(workflow, { store, resume: 'r' }).result;
    expect([outcome, ran, reused]).toEqual(['succeeded', 1, STEPS]);
    expect(given().size).toBe(batches);
    expect([...given().values()].filter((times) => times !== 1)).toEqual([]);
    expect(blobs()).toBe(1);
  });
});
