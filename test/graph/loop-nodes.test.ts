import { describe, expect, it } from 'vitest';
import { memoryStore } from 'skein';
import { agent, agentNode, graph, loopNode, workflowNode } from 'skein/graph';
import { ownModels } from './support-agents.js';

/** A round gives the next of these texts; `drafts` are those before. */
function roundOf(texts: readonly string[]) {
  return graph({ name: 'round' }).node('text', ({ drafts = [] }: { drafts?: readonly string[] }) =>
    texts.at(Math.min(drafts.length, texts.length - 1)),
  );
}

const CONVERGED = { until: { line: 'CONVERGED' }, collect: { drafts: 'text' } } as const;

describe('a workflow again and again as a node', () => {
  it('[A26] ends with a line of its answer, and keeps the round before', async () => {
    const round = roundOf(['one', 'not CONVERGED', 'CONVERGED']);
    const flow = graph()
      .node('polish', loopNode<string>(round, { ...CONVERGED, keep: 'before', maxRounds: 5 }))
      .node('shown', ({ polish }: { polish: string }) => `<${polish}>`);
    const { state, nodesRun } = await flow.run({});
    expect([state.shown, nodesRun]).toEqual(['<not CONVERGED>', ['polish', 'shown']]);
  });

  it('ends when a function of the state of a round and its number says so', async () => {
    const seen: unknown[] = [];
    const until = (state: Readonly<Record<string, unknown>>, round: number): boolean => {
      seen.push([round, state['text']]);
      return round === 2;
    };
    const flow = graph().node(
      'polish',
      loopNode(roundOf(['a', 'b', 'c']), { until, collect: { drafts: 'text' }, maxRounds: 5 }),
    );
    expect((await flow.run({})).state.polish).toBe('b');
    expect(seen).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
  });

  it('[A31] takes its rounds from the state, below its cap', async () => {
    const options = { ...CONVERGED, maxRounds: 4, rounds: 'most', onMaxRounds: 'continue' } as const;
    const flow = graph<{ most: unknown }>().node('polish', loopNode(roundOf(['a', 'b', 'c', 'd', 'e']), options));
    expect((await flow.run({ most: '3' })).state.polish).toBe('c');
    const { outcome, error } = await flow.run({ most: 5 });
    expect([outcome, error?.message]).toEqual([
      'failed',
      "the rounds of the loop 'polish': most is 5, more than the cap of 4",
    ]);
  });

  it('fails at its cap unless it says otherwise', async () => {
    const flow = graph().node('polish', loopNode(roundOf(['a']), { ...CONVERGED, maxRounds: 2 }));
    expect((await flow.run({})).error?.code).toBe('SKEIN_MAX_ROUNDS');
  });

  it('gives its inputs the values of the same names, and carries what it is told to', async () => {
    const round = graph<{ topic: string }>().node(
      'text',
      ({ topic, text = '' }: { topic: string; text?: string }) => `${text}${topic}`,
    );
    const until = (_state: object, count: number): boolean => count === 3;
    const flow = graph<{ topic: string }>().node('text', loopNode(round, { until, carry: ['text'], maxRounds: 3 }));
    expect((await flow.run({ topic: 'x' })).state.text).toBe('xxx');
  });

  it('tells its rounds as events of the graph, and they are recorded', async () => {
    const { models, requests } = ownModels({ m: ({ caller }) => `draft ${caller.path}` });
    const writer = agent({ name: 'writer', model: 'own/m', tools: [] });
    const round = graph<{ task: string }>().node('text', agentNode(writer));
    const until = (_state: object, count: number): boolean => count === 2;
    const flow = graph<{ task: string }>()
      .node('polish', loopNode(round, { until, maxRounds: 2 }))
      .node('inner', workflowNode(roundOf(['x']), 'inner', { taskParam: null, answerKey: 'text' }));
    const store = memoryStore();
    const first = await flow.run({ task: 'rain' }, { models, store });
    expect(
      first.events.filter(({ type }) => type === 'loop_round').map(({ node, metadata }) => [node, metadata]),
    ).toEqual([
      ['polish', { round: 1, change: 1 }],
      ['polish', { round: 2, change: 1 }],
    ]);
    const again = await flow.run({}, { models, store, resume: first.runId });
    expect([again.state.polish, requests.length]).toEqual(['draft polish#2/text', 2]);
  });

  it.each([
    ['no end', { maxRounds: 2 }, /bad-until: loopNode: until says neither a line nor a function/],
    ['a line that is not a text', { until: { line: 7 }, maxRounds: 2 }, /bad-until/],
    ['no cap', { until: { line: 'X' } }, /unbounded-loop/],
    ['a line of several lines', { until: { line: 'a\nb' }, maxRounds: 2 }, /until\[0\]\.line must be one line of text/],
  ])('[bad input] is refused with %s', (_, options, message) => {
    expect(() =>
      graph()
        .node('polish', loopNode(roundOf(['a']), options as never))
        .compile(),
    ).toThrow(message);
  });
});
