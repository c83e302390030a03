import { describe, expect, test } from 'vitest';
import { memoryStore } from 'skein';
import { graph, type StepEnd } from 'skein/graph';
import type { NodePolicies } from '../../src/notations/graph/policies.js';

interface State {
  round: number;
  facts?: string;
  checked?: StepEnd;
  seen: string[];
}

/** Two branches and a join, three times: the end of the first branch is skipped, or fails. */
const rounds = (policies: NodePolicies<State>, fails: boolean) =>
  graph<State>()
    .addNode('start', ({ round }) => ({ round: round + 1 }))
    .addNode('facts', ({ round }) => ({ facts: `facts ${round}` }))
    .addNode(
      'check',
      () => {
        if (fails) throw new Error('no connection');
        return {};
      },
      { ending: 'checked', ...policies },
    )
    .addNode('other', () => null)
    .addNode('join', ({ facts, checked, seen }) => ({ seen: [...seen, `${facts}, ${checked?.status}`] }))
    .addNode('done', () => null)
    .addEdge('start', 'facts')
    .addEdge('start', 'other')
    .addEdge('facts', 'check')
    .addEdge('check', 'join')
    .addEdge('other', 'join')
    .addConditionalEdge('join', ({ round }) => (round < 3 ? 'start' : 'done'), { start: 'start', done: 'done' })
    .setEntry('start');

describe('[XG1] S3: a join that waits for all edges sees what ran on a path that ended', () => {
  test.each<[string, NodePolicies<State>, boolean]>([
    ['skipped', { when: () => false }, false],
    ['failed', { onError: 'continue' }, true],
  ])('in a loop, where the end of the path %s', async (status, policies, fails) => {
    const store = memoryStore();
    const first = await rounds(policies, fails).run({ round: 0, seen: [] }, { store });
    expect(first.error).toBeUndefined();
    const wanted = [1, 2, 3].map((round) => `facts ${round}, ${status}`);
    expect([first.state.facts, first.state.seen]).toEqual(['facts 3', wanted]);
    const again = await rounds(policies, fails).run({}, { store, resume: first.runId });
    const forked = await rounds(policies, fails).run({}, { store, fork: { run: first.runId } });
    const alone = await rounds(policies, fails).run({ round: 0, seen: [] });
    for (const { state } of [again, forked, alone]) expect(state).toEqual(first.state);
  });

  test('what follows the join overwrites it', async () => {
    const flow = graph<{ draft?: string; seen?: string }>()
      .addNode('start', () => null)
      .addNode('draft', () => ({ draft: 'a draft' }))
      .addNode('polish', () => ({}), { when: () => false })
      .addNode('other', () => null)
      .addNode('join', ({ draft }) => ({ seen: draft ?? 'nothing' }))
      .addNode('final', ({ draft }) => ({ draft: `${draft}, final` }))
      .addEdge('start', 'draft')
      .addEdge('start', 'other')
      .addEdge('draft', 'polish')
      .addEdge('polish', 'join')
      .addEdge('other', 'join')
      .addEdge('join', 'final')
      .setEntry('start');
    const { state, error } = await flow.run();
    expect(error).toBeUndefined();
    expect(state).toEqual({ draft: 'a draft, final', seen: 'a draft' });
  });
});
