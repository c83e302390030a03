import { describe, expect, test } from 'vitest';
import { END, graph } from 'skein/graph';

/** The state of a run that succeeded. */
async function stateOf<S extends object>(run: Promise<{ readonly success: boolean; readonly state: S }>): Promise<S> {
  const { success, state } = await run;
  expect(success).toBe(true);
  return state;
}

const PAGE = 'one pattern, then another pattern';
const get = async (url: string): Promise<string> => (url === 'https://example.com' ? PAGE : '');
const llm = async (prompt: string): Promise<string> => `answer to: ${prompt}`;

describe('15.1 a linear pipeline', () => {
  const functions = () =>
    graph<{ url: string }>()
      .node('fetch', ({ url }) => get(url))
      .node('extract', ({ fetch }) => fetch.match(/pattern/g) ?? [])
      .node('summarize', ({ extract }) => llm(`Summarize: ${extract.join(' ')}`))
      .setEntry('fetch')
      .setExit('summarize');

  interface State {
    url: string;
    page: string;
    found: string[];
    summary: string;
  }

  const stateGraph = () =>
    graph<State>()
      .addNode('fetch', async ({ url }) => ({ page: await get(url) }))
      .addNode('extract', ({ page }) => ({ found: page.match(/pattern/g) ?? [] }))
      .addNode('summarize', async ({ found }) => ({ summary: await llm(`Summarize: ${found.join(' ')}`) }))
      .addEdge('fetch', 'extract')
      .addEdge('extract', 'summarize')
      .setEntry('fetch')
      .setExit('summarize');

  const summary = 'answer to: Summarize: pattern pattern';

  test('with functions whose parameters name what they need', async () => {
    const result = await functions().run({ url: 'https://example.com' });
    expect(result).toMatchObject({
      success: true,
      outcome: 'succeeded',
      error: undefined,
      answer: summary,
      answerKey: 'summarize',
      nodesRun: ['fetch', 'extract', 'summarize'],
      iterations: 3,
    });
    expect(result.state).toEqual({
      url: 'https://example.com',
      fetch: PAGE,
      extract: ['pattern', 'pattern'],
      summarize: summary,
    });
  });

  test('as an explicit state graph', async () => {
    const state = await stateOf(stateGraph().run({ url: 'https://example.com' }));
    expect(state).toEqual({ url: 'https://example.com', page: PAGE, found: ['pattern', 'pattern'], summary });
  });

  test('both are the same shape', () => {
    expect(functions().edges.map(({ from, to }) => [from, to])).toEqual(
      stateGraph().edges.map(({ from, to }) => [from, to]),
    );
  });
});

describe('15.2 parallel fan-out and a join', () => {
  /** Three searches that can only end once all three have begun. */
  function meeting() {
    const log: string[] = [];
    let release: () => void = () => undefined;
    const all = new Promise<void>((resolve) => {
      release = resolve;
    });
    const search = async (name: string, query: string): Promise<string> => {
      log.push(`${name} begins`);
      if (log.length === 3) release();
      await all;
      log.push(`${name} ends`);
      return `${name}: ${query}`;
    };
    return { log, search };
  }

  const answer = 'answer to: wikipedia: looms, docs: looms, sums: looms';
  const began = ['wikipedia begins', 'docs begins', 'sums begins'];

  test('with functions: one search is the entry, the others start with it', async () => {
    const { log, search } = meeting();
    const flow = graph<{ query: string }>()
      .node('searchWikipedia', ({ query }) => search('wikipedia', query))
      .node('searchLocalDocs', ({ query }) => search('docs', query))
      .node('calculator', ({ query }) => search('sums', query))
      .node('synthesize', ({ searchWikipedia, searchLocalDocs, calculator }) =>
        llm([searchWikipedia, searchLocalDocs, calculator].join(', ')),
      )
      .setEntry('searchWikipedia')
      .setExit('synthesize');
    expect((await stateOf(flow.run({ query: 'looms' }))).synthesize).toBe(answer);
    expect(log.slice(0, 3)).toEqual(began);
    expect(flow.dryRun().levels).toEqual([['searchWikipedia', 'searchLocalDocs', 'calculator'], ['synthesize']]);
  });

  test('as an explicit state graph', async () => {
    interface State {
      query: string;
      wikipedia: string;
      docs: string;
      sums: string;
      answer: string;
    }
    const { log, search } = meeting();
    const flow = graph<State>({ answerKey: 'answer' })
      .addNode('searchWikipedia', async ({ query }) => ({ wikipedia: await search('wikipedia', query) }))
      .addNode('searchLocalDocs', async ({ query }) => ({ docs: await search('docs', query) }))
      .addNode('calculator', async ({ query }) => ({ sums: await search('sums', query) }))
      .addNode('synthesize', async ({ wikipedia, docs, sums }) => ({
        answer: await llm([wikipedia, docs, sums].join(', ')),
      }));
    for (const from of ['searchWikipedia', 'searchLocalDocs', 'calculator']) flow.addEdge(from, 'synthesize');
    flow.setEntry('searchWikipedia').setExit('synthesize');
    const result = await flow.run({ query: 'looms' });
    expect(result.answer).toBe(answer);
    expect(log.slice(0, 3)).toEqual(began);
  });
});

describe('15.3 conditional branching', () => {
  const rag = (query: string): string[] => (query === 'nothing' ? [] : [`about ${query}`]);
  const found = 'answer to: about looms';
  const none = 'no results found';

  const functions = () =>
    graph<{ query: string }>()
      .node('search', ({ query }) => rag(query))
      .node('summarize', ({ search }) => llm(search.join()))
      .node('fallback', ({ query }) => (query === '' ? 'no query' : none))
      .route('search', ({ search }) => (search.length > 0 ? 'summarize' : 'fallback'))
      .setEntry('search')
      .setExit('summarize')
      .setExit('fallback');

  test('with functions: a node may read the result of the one that chose it', async () => {
    const flow = functions();
    const some = await flow.run({ query: 'looms' });
    expect(some.state.summarize).toBe(found);
    expect(some.nodesRun).toEqual(['search', 'summarize']);
    const nothing = await flow.run({ query: 'nothing' });
    expect(nothing.state.fallback).toBe(none);
    expect(nothing.nodesRun).toEqual(['search', 'fallback']);
    expect([some.answer, nothing.answer]).toEqual([found, none]);
  });

  test('with functions, and a route that says where it may lead', async () => {
    const flow = graph<{ query: string }>()
      .node('search', ({ query }) => rag(query))
      .node('summarize', ({ search }) => llm(search.join()))
      .node('fallback', () => none)
      .route('search', ({ search }) => (search.length > 0 ? 'yes' : 'no'), {
        map: { yes: 'summarize', no: 'fallback' },
      })
      .setEntry('search');
    expect((await flow.run({ query: 'looms' })).nodesRun).toEqual(['search', 'summarize']);
    const { nodesRun, census } = await flow.run({ query: 'nothing' });
    expect(nodesRun).toEqual(['search', 'fallback']);
    expect(census).toMatchObject({ succeeded: 2, skipped: 1 });
    expect(flow.dryRun().conditionalNodes).toEqual(['summarize', 'fallback']);
  });

  test('as an explicit state graph, with a map, with names, and with the end of the branch', async () => {
    interface State {
      query: string;
      docs: string[];
      answer: string;
    }
    const base = () =>
      graph<State>({ answerKey: 'answer' })
        .addNode('search', ({ query }) => ({ docs: rag(query) }))
        .addNode('summarize', async ({ docs }) => ({ answer: await llm(docs.join()) }))
        .addNode('fallback', () => ({ answer: none }))
        .setEntry('search')
        .setExit('summarize')
        .setExit('fallback');
    const mapped = base().addConditionalEdge('search', ({ docs }) => docs.length > 0, {
      true: 'summarize',
      false: 'fallback',
    });
    const named = base().addConditionalEdge('search', ({ docs }) => (docs.length > 0 ? 'summarize' : 'fallback'));
    for (const flow of [mapped, named]) {
      expect((await flow.run({ query: 'looms' })).answer).toBe(found);
      expect((await flow.run({ query: 'nothing' })).answer).toBe(none);
    }
    const ends = base().addConditionalEdge('search', ({ docs }) => (docs.length > 0 ? 'summarize' : END));
    const { state, success } = await ends.run({ query: 'nothing' });
    expect([success, state]).toEqual([true, { query: 'nothing', docs: [] }]);
  });
});
