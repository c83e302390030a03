import { describe, expect, it } from 'vitest';
import { END, goto, graph } from '../../src/graph.js';

describe('a node that a route chooses, and that reads what ran before', () => {
  const judged = () =>
    graph<{ topic: string; good: boolean }>()
      .node('draft', ({ topic }) => `About ${topic}`)
      .node('judge', ({ draft, good }) => good && draft !== '')
      .node('publish', ({ draft }) => `published ${draft}`)
      .node('discard', () => 'discarded')
      .setEntry('draft');

  it.each<[string, readonly string[] | undefined]>([
    ['with declared targets', ['publish', 'discard']],
    ['without them', undefined],
  ])('[XG15] runs only when it is chosen, %s', async (_, targets) => {
    const options = targets === undefined ? {} : { targets };
    const flow = judged().route('judge', ({ judge }) => (judge ? 'publish' : 'discard'), options);
    expect((await flow.run({ topic: 'looms', good: false })).nodesRun).toEqual(['draft', 'judge', 'discard']);
    const { nodesRun, state } = await flow.run({ topic: 'looms', good: true });
    expect(nodesRun).toEqual(['draft', 'judge', 'publish']);
    expect(state.publish).toBe('published About looms');
  });

  it('[XG15] runs only when a map or a jump leads to it', async () => {
    const byMap = judged().route('judge', ({ judge }) => judge, { map: { true: 'publish', false: 'discard' } });
    expect((await byMap.run({ topic: 'x', good: false })).nodesRun).toEqual(['draft', 'judge', 'discard']);
    const byJump = graph<{ good: boolean }>()
      .node('draft', () => 'text')
      .node('judge', ({ draft, good }) => goto(good ? 'publish' : END, draft), { goto: ['publish'] })
      .node('publish', ({ draft }) => `published ${draft}`);
    expect((await byJump.run({ good: false })).nodesRun).toEqual(['draft', 'judge']);
    expect((await byJump.run({ good: true })).state.publish).toBe('published text');
  });

  it('[XG15] waits for what it reads where it has to run before its route can choose it again', async () => {
    const flow = graph<{ topic: string; draft?: string }>()
      .node('facts', ({ topic }) => [topic])
      .node('draft', ({ facts, draft = '' }) => `${draft}${facts.join()}.`)
      .node('judge', ({ draft }) => draft.length)
      .node('publish', ({ draft, facts }) => `${draft} of ${facts.length}`)
      .route('judge', ({ judge }) => (judge < 6 ? 'draft' : 'publish'), { targets: ['draft', 'publish'] })
      .setEntry('facts');
    const { nodesRun, state } = await flow.run({ topic: 'ab' });
    expect(nodesRun).toEqual(['facts', 'draft', 'judge', 'draft', 'judge', 'publish']);
    expect(state.publish).toBe('ab.ab. of 1');
  });

  it('[XG15] and reads what does not run before it is refused', () => {
    const flow = graph<{ good: boolean }>()
      .node('judge', ({ good }) => good)
      .node('facts', () => ['x'])
      .node('publish', ({ facts }) => facts.join())
      .route('judge', ({ judge }) => (judge ? 'publish' : END), { targets: ['publish'] })
      .setEntry('judge');
    expect(() => flow.compile()).toThrow(/not-upstream: "publish" reads "facts"[^]*add an edge from "facts"/);
  });
});
