import { describe, expect, test } from 'vitest';
import { Queue } from '../../src/base/collections.js';

describe('a queue', () => {
  test('gives what was put in, in that order, and undefined when it is empty', () => {
    const queue = new Queue<string>();
    expect(queue.take()).toBeUndefined();
    queue.put('a');
    queue.put('b');
    expect(queue.take()).toBe('a');
    queue.put('c');
    expect([queue.take(), queue.take(), queue.take()]).toEqual(['b', 'c', undefined]);
    queue.put('d');
    expect([queue.take(), queue.take()]).toEqual(['d', undefined]);
  });

  test('keeps the order while it is filled and emptied, however long it gets', () => {
    const queue = new Queue<number>();
    const taken: unknown[] = [];
    let put = 0;
    for (let round = 0; round < 3_000; round++) {
      for (let each = 0; each < 3; each++) queue.put((put += 1));
      taken.push(queue.take(), queue.take());
    }
    for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
    expect(taken).toEqual(Array.from({ length: put }, (_, at) => at + 1));
  });
});
