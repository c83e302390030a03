import { expect, it } from 'vitest';
import { definePlan, memoryStore, run } from 'skein';

it('lists of a thread that are as long as one another are not taken for one another', async () => {
  const store = memoryStore();
  const twice = definePlan({
    name: 'twice',
    channels: { left: 'append', right: 'append', seen: 'last' },
    nodes: [
      { id: 'read', writes: ['seen'], run: ({ left = [], right = [] }) => ({ seen: JSON.stringify([left, right]) }) },
      { id: 'add', writes: ['left', 'right'], run: () => ({ left: 'l', right: 'r' }) },
    ],
    edges: [['read', 'add']],
  });
  const turns = [];
  for (let at = 0; at < 3; at++) turns.push(await run(twice, { store, thread: 't' }).result);
  expect(turns.map(({ state }) => state['seen'])).toEqual(['[[],[]]', '[["l"],["r"]]', '[["l","l"],["r","r"]]']);
});
