import { expect, it } from 'vitest';
import { longChecks } from '../../src/agent/loop/call-check.js';

/** Keeps the process busy for longer than a check may take without a turn of the event loop. */
function busy(): void {
  const end = Date.now() + 60;
  while (Date.now() < end);
}

it('[XS5] inputs of calls of one turn that are costly to check leave room for signals in between', async () => {
  const inOrder = longChecks();
  const order: string[] = [];
  const checks = Array.from({ length: 5 }, (_, at) =>
    inOrder(() => {
      busy();
      order.push(`check ${at}`);
      if (at === 2) throw new Error('no');
      return at;
    }),
  );
  setTimeout(() => order.push('timer'));
  const ends = await Promise.allSettled(checks);
  expect(ends.map((end) => (end.status === 'fulfilled' ? end.value : 'thrown'))).toEqual([0, 1, 'thrown', 3, 4]);
  expect(order.filter((one) => one !== 'timer')).toEqual(['check 0', 'check 1', 'check 2', 'check 3', 'check 4']);
  expect(order.indexOf('timer')).toBeLessThan(order.indexOf('check 4'));
});
