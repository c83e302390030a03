import { describe, expect, it } from 'vitest';
import { END, graph } from '../../src/graph.js';
import { definePlan, run } from '../../src/index.js';
import { SkeinError } from '../../src/base/errors.js';

type Loose = Record<string, unknown>;

/** Codes and hints of what is wrong with a graph. */
function problemsOf(flow: { compile(): unknown }): readonly { code: string; hint?: string }[] {
  try {
    flow.compile();
    return [];
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    return (error.details as { problems: readonly { code: string; hint?: string }[] }).problems;
  }
}

const wiping = () =>
  graph<Loose>()
    .addNode('look', () => null)
    .addNode('decide', () => null)
    .addNode('log', () => ({ logged: true }))
    .addNode('wipe', () => ({ wiped: true }))
    .addNode('report', ({ wiped = false }) => ({ report: wiped }))
    .addEdge('look', 'decide')
    .addEdge('look', 'log')
    .addEdge('log', 'report')
    .addEdge('wipe', 'report')
    .setEntry('look');

describe('a node that a route may choose', () => {
  it.each<[string, Readonly<Record<string, string>> | undefined]>([
    ['with a map', { wipe: 'wipe' }],
    ['without a map', undefined],
  ])('[XG1] does not start by itself where another needs it, %s', async (_, map) => {
    const flow = wiping().addConditionalEdge('decide', (s) => (s['risky'] === true ? 'wipe' : END), map);
    const calm = await flow.run({ risky: false });
    expect([calm.outcome, calm.state['wiped'], calm.state['report']]).toEqual(['succeeded', undefined, false]);
    expect(calm.nodesRun.toSorted()).toEqual(['decide', 'log', 'look', 'report']);
    const risky = await flow.run({ risky: true });
    expect([risky.outcome, risky.state['report']]).toEqual(['succeeded', true]);
    expect(risky.nodesRun.toSorted()).toEqual(['decide', 'log', 'look', 'report', 'wipe']);
  });

  it.each<[string, (state: { risky: boolean }) => string]>([
    ['single quotes', ({ risky }) => (risky ? 'wipe' : END)],
    // What a template without anything to fill in says is as plain as a text in quotes.
    ['a template', ({ risky }) => (risky ? `wipe` : END)],
    [
      'several statements',
      ({ risky }) => {
        // A slash that divides, a pattern, and a comment that names 'log'.
        const half = 4 / 2 / 1;
        if (/wip/.test('x') || half < 2 || !risky) return END;
        return 'wipe';
      },
    ],
  ])('[XG1] is seen in the source of .route: %s', async (_, router) => {
    const flow = graph<{ risky: boolean; wipe?: string }>()
      .node('look', () => 'seen')
      .node('decide', ({ look }) => look)
      .node('log', ({ look }) => look)
      .node('wipe', () => 'wiped')
      .node('report', ({ log, wipe }: { log: string; wipe?: string }) => `${log} ${wipe ?? 'kept'}`)
      .route('decide', router)
      .setEntry('look');
    expect((await flow.run({ risky: false })).state).toMatchObject({ report: 'seen kept' });
    expect((await flow.run({ risky: true })).state).toMatchObject({ report: 'seen wiped' });
  });

  it('[XG1] does not start by itself in a plan written by hand', async () => {
    const plan = (choose: ((state: Loose) => string) | 'result', decide: () => unknown = () => undefined) =>
      definePlan<Loose>({
        name: 'wiping',
        inputs: [{ name: 'risky', required: false }],
        nodes: [
          { id: 'look', run: () => undefined },
          { id: 'decide', run: decide },
          { id: 'log', output: 'log', run: () => 'logged' },
          { id: 'wipe', output: 'wiped', run: () => true },
          { id: 'report', output: 'report', run: (state) => state['wiped'] ?? false },
        ],
        edges: [
          ['look', 'decide'],
          ['look', 'log', 'report'],
          ['wipe', 'report'],
        ],
        routes: [{ from: 'decide', choose }],
        entry: 'look',
      });
    const byRouter = await run(
      plan((state) => (state['risky'] === true ? 'wipe' : END)),
      { inputs: { risky: false } },
    ).result;
    expect([byRouter.outcome, byRouter.state['wiped']]).toEqual(['succeeded', undefined]);
    const byResult = await run(plan('result', () => (Date.now() < 0 ? 'wipe' : undefined))).result;
    expect([byResult.outcome, byResult.state['wiped']]).toEqual(['succeeded', undefined]);
  });

  it('[XG1] that its router does not name is a problem that says what to declare', () => {
    const names = { bad: 'wipe' };
    const flow = wiping().addConditionalEdge('decide', (s) => (s['risky'] === true ? names.bad : END));
    expect(problemsOf(flow)).toMatchObject([
      {
        code: 'ambiguous-start',
        hint: 'declare the targets of the route after "decide", or add an edge that leads to "wipe"',
      },
    ]);
  });
});

describe('the loop of an agent and its tools', () => {
  interface State {
    messages: string[];
  }
  const loop = (map?: Readonly<Record<string, string>>) =>
    graph<State>({ reducers: { messages: 'extend' } })
      .addNode('agent', ({ messages }) => ({ messages: [messages.includes('result') ? 'done' : 'call'] }))
      .addNode('tools', () => ({ messages: ['result'] }))
      .addConditionalEdge('agent', ({ messages }) => (messages.at(-1) === 'call' ? 'tools' : END), map)
      .addEdge('tools', 'agent')
      .setEntry('agent');

  it.each<[string, Readonly<Record<string, string>> | undefined]>([
    ['without a map', undefined],
    ['with a map', { tools: 'tools', END }],
  ])('[XG1] [XG2] starts with the agent, %s', async (_, map) => {
    const { state, nodesRun, outcome, events } = await loop(map).run({ messages: ['hi'] });
    expect([outcome, state.messages]).toEqual(['succeeded', ['hi', 'call', 'result', 'done']]);
    expect(nodesRun).toEqual(['agent', 'tools', 'agent']);
    expect(events.filter(({ type }) => type === 'warning')).toEqual([]);
  });

  it('[XG2] an entry that waits for what does not lie behind it is still a problem', () => {
    const flow = graph<Loose>()
      .addNode('agent', () => null)
      .addNode('before', () => null)
      .addEdge('before', 'agent')
      .setEntry('agent');
    expect(problemsOf(flow)).toMatchObject([{ code: 'entry-waits' }]);
  });
});

describe('where there is no entry', () => {
  it('[XG13] the nodes that wait for nothing start, where all nodes name what they read', async () => {
    const flow = graph<{ query: string }>()
      .node('search', ({ query }) => [query])
      .node('read', ({ query }) => `read ${query}`)
      .node('both', ({ search, read }) => [...search, read]);
    expect((await flow.run({ query: 'x' })).state.both).toEqual(['x', 'read x']);
    expect(flow.dryRun().levels).toEqual([['search', 'read'], ['both']]);
  });

  it('[XG13] nor does what a route chooses', async () => {
    const flow = graph<{ query: string }>()
      .node('search', ({ query }) => query.length)
      .node('sum', ({ search }) => `${search} found`)
      .node('none', ({ query }) => `no ${query}`)
      .route('search', ({ search }) => (search > 0 ? 'sum' : 'none'));
    expect((await flow.run({ query: '' })).nodesRun).toEqual(['search', 'none']);
    expect((await flow.run({ query: 'x' })).nodesRun).toEqual(['search', 'sum']);
  });

  it('[XG13] a graph with nodes that take the whole state needs one', () => {
    const flow = graph<Loose>()
      .node('a', () => 1)
      .addNode('b', () => null);
    expect(problemsOf(flow)).toMatchObject([{ code: 'no-entry' }]);
  });
});
