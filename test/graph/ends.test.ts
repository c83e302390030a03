import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { type GraphEvent, endNode, graph, workflowNode } from 'skein/graph';

interface State {
  readonly tests: string;
  readonly published?: string;
}

const gate = (calls: string[] = []) =>
  graph<State>()
    .addNode('check', ({ tests }) => ({ tests: tests.trim() }))
    .addNode('stop', endNode({ status: 'failed', reason: 'The tests say: {{ tests }}' }))
    .addNode('publish', () => {
      calls.push('publish');
      return { published: 'yes' };
    })
    .addConditionalEdge('check', ({ tests }) => (tests === 'passed' ? 'publish' : 'stop'), {
      publish: 'publish',
      stop: 'stop',
    })
    .setEntry('check');

describe('[addition 9] endNode', () => {
  it('fails the run with its reason, and does nothing where it is not reached', async () => {
    const failed = await gate().run({ tests: 'two failed ' });
    expect([failed.outcome, failed.error?.code, failed.error?.message]).toEqual([
      'failed',
      'SKEIN_ENDED',
      'The tests say: two failed',
    ]);
    expect(failed.state.tests).toBe('two failed');
    expect((await gate().run({ tests: 'passed' })).state.published).toBe('yes');
  });

  it('stays ended when the run is resumed, in a graph that is recorded', async () => {
    const store = memoryStore();
    const calls: string[] = [];
    const flow = gate(calls);
    const first = await flow.run({ tests: 'no' }, { store });
    const again = await flow.run({}, { store, resume: first.runId });
    expect([again.outcome, again.error?.code, calls]).toEqual(['failed', 'SKEIN_ENDED', []]);
  });

  it('ends an inner graph only, and that failure may be allowed', async () => {
    const outer = graph<{ tests: string; inner?: unknown; after?: string }>()
      .addNode('inner', workflowNode(gate(), 'gate', { answerKey: 'published' }), { onError: 'continue' })
      .addNode('last', () => ({ after: 'last' }), { join: 'settled' })
      .addEdge('inner', 'last')
      .setEntry('inner');
    const { outcome, state } = await outer.run({ tests: 'no' });
    expect([outcome, state.after]).toEqual(['degraded', 'last']);
  });

  it('takes part in the order of functions that name what they need', async () => {
    const flow = graph<{ topic: string }>()
      .node('facts', ({ topic }) => `about ${topic}`)
      .node('stop', endNode({ reason: 'We know {{ facts }}' }));
    const store = memoryStore();
    const { runId, outcome, state, events } = await flow.run({ topic: 'looms' }, { store });
    expect([outcome, state.facts]).toEqual(['succeeded', 'about looms']);
    const reasons = (given: readonly GraphEvent[]) =>
      given.filter(({ type }) => type === 'node_end').map(({ node, metadata }) => [node, metadata['reason']]);
    const expected = [
      ['facts', undefined],
      ['stop', 'We know about looms'],
    ];
    expect(reasons(events)).toEqual(expected);
    expect(reasons((await flow.run({}, { store, resume: runId })).events)).toEqual(expected);
  });

  it('refuses a status that does not exist', () => {
    expect(() => endNode({ status: 'done' as never })).toThrow('the status "done" does not exist');
  });
});
