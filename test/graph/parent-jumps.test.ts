import { expect, test } from 'vitest';
import { memoryStore } from 'skein';
import { goto, graph, workflowNode } from 'skein/graph';

const review = () =>
  graph<{ task: string; note: string }>({ inputs: ['task'] })
    .addNode(
      'look',
      ({ task }) => goto(task === 'good' ? 'publish' : 'discard', { note: `it is ${task}` }, { parent: true }),
      {
        gotoParent: ['publish', 'discard'],
      },
    )
    .setEntry('look');

const flow = (targets: readonly string[] = ['publish', 'discard']) =>
  graph<{ task: string; why: string; end: string }>()
    .addNode('review', workflowNode(review(), 'review', { writes: { note: 'why' } }), { goto: targets })
    .addNode('publish', ({ why }) => ({ end: `published: ${why}` }))
    .addNode('discard', ({ why }) => ({ end: `discarded: ${why}` }))
    .setEntry('review');

test('[XG11] a node inside says where the graph around goes on, and only there', async () => {
  const store = memoryStore();
  const good = await flow().run({ task: 'good' }, { store });
  expect([good.state.end, good.nodesRun]).toEqual(['published: it is good', ['review', 'publish']]);
  const again = await flow().run({}, { store, resume: good.runId });
  expect(again.state).toEqual(good.state);
  expect((await flow().run({ task: 'bad' })).state.end).toBe('discarded: it is bad');
  expect(flow().toMermaid()).toContain('-.->');
});

test('[XG11] targets are declared on both sides, and nothing is around a run', async () => {
  expect(() => flow(['publish']).compile()).toThrow(/may continue at "discard"[\s\S]*goto: \['publish', 'discard'\]/);
  const alone = await review().run({ task: 'good' });
  expect([alone.outcome, alone.error?.code]).toEqual(['failed', 'SKEIN_BAD_ROUTE']);
  expect(alone.error?.message).toContain('no workflow is around');
});
