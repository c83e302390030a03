import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../src/stores/memory.js';
import { complete } from '../../fault/support/session.js';
import { SHAPES } from '../../fault/support/shapes.js';
import { doneKeys, isDone, isTried, linesOf, memoryWorld, prefixesOf, storeWith } from './in-process.js';

/** Shapes in which one step follows the other: what follows a prefix is recorded in one order only. */
const ORDERED = new Set(['chain', 'loop']);

describe('J8: every beginning of a journal is one that a run can go on from', () => {
  test.each(Object.keys(SHAPES))('%s', async (name) => {
    const shape = SHAPES[name];
    if (shape === undefined) throw new Error(`no shape ${name}`);
    const calm = memoryWorld(name);
    const wanted = await complete(await shape(calm, 2), memoryStore(), { runId: 'calm' }, () => false);
    const first = memoryWorld(`${name} 1`);
    const store = memoryStore();
    const before = await complete(await shape(first, 1), store, { runId: 'r' }, () => false);
    expect([wanted.outcome, before.outcome]).toEqual(['succeeded', 'succeeded']);
    const all = linesOf(store, 'r');
    const prefixes = prefixesOf('r', store.read('r')).filter((_, at) => isTried(name, at));
    let reused = 0;
    for (const prefix of prefixes) {
      const world = memoryWorld(`${name} ${prefix.name}`);
      const copy = storeWith('r', prefix.batches, store);
      const recorded = doneKeys(prefix.lines);
      const built = await shape(world, 2);
      const result = await complete(built, copy, { resume: 'r' }, (key) => isDone(world, key));
      expect({ at: prefix.name, state: result.state, outcome: result.outcome }).toEqual({
        at: prefix.name,
        state: wanted.state,
        outcome: 'succeeded',
      });
      const changed = name === 'edited' ? /^(right|join)@/ : /^$/;
      const again = world.performed.filter((key) => recorded.includes(key) && !changed.test(key));
      expect({ at: prefix.name, again }).toEqual({ at: prefix.name, again: [] });
      expect(new Set(world.performed).size, prefix.name).toBe(world.performed.length);
      const received = world.received();
      expect(new Set(received).size, prefix.name).toBe(received.length);
      reused += recorded.length;
      const followed = doneKeys(linesOf(copy, 'r'));
      if (ORDERED.has(name)) expect(followed).toEqual(doneKeys(all));
    }
    expect(prefixes.length).toBeGreaterThan(5);
    expect(reused).toBeGreaterThan(10);
  });
});
