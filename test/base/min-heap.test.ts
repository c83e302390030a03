import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MinHeap } from '../../src/base/collections.js';

test('items come by their order, whatever order they were put in, also while others are taken', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined })), (steps) => {
      const heap = new MinHeap((item: number) => item);
      const slow: number[] = [];
      for (const step of steps) {
        if (step === undefined) expect(heap.take()).toBe(slow.shift());
        else {
          heap.put(step);
          slow.push(step);
          slow.sort((a, b) => a - b);
        }
        expect(heap.first).toBe(slow[0]);
      }
      for (const item of slow) expect(heap.take()).toBe(item);
      expect(heap.take()).toBe(undefined);
    }),
  );
});
