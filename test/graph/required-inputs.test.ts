import { expect, it } from 'vitest';
import { END, graph } from 'skein/graph';

it('[23] an input is required when any node reads it without a default, whichever was added first', () => {
  const flow = graph<{ q: string | undefined; r?: string }>()
    .node('plain', ({ q }) => q)
    .node('defaulted', ({ q = 'x', r = 'y' }) => q + r)
    .node('both', ({ plain, defaulted }) => plain + defaulted)
    .setEntry('plain');
  expect(flow.dryRun().inputsRequired).toEqual(['q']);
});

it('[23] what a node reads behind one that may write anything is not required, also behind a route without targets', async () => {
  const flow = graph<Record<string, unknown>>()
    .addNode('write', () => ({ found: 5 }))
    .node('read', ({ found }) => found)
    .route('write', ({ go }) => (go === true ? 'read' : END))
    .setEntry('write');
  expect(flow.dryRun().inputsRequired).toEqual([]);
  expect((await flow.run({ go: true })).state['read']).toBe(5);
});
