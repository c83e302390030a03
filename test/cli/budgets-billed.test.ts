import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Books } from './support/books.js';
import { documentOf, makeProject, runFolder, startSkein } from './support/skein.js';
import { served } from './support/served.js';

/** Only what comes out is billed, and it is all that a call may give: a call costs $0.001, and reserves as much. */
const PRICES = 'date: 2026-11-23\nmodels:\n  openai/*: { input: 0, output: 10 }\n';
const ANSWER = 'word'.repeat(100);
const WORKER = `import { existsSync } from 'node:fs';
import { definePlan } from 'skein';
import { agent, agentNode, graph } from 'skein/graph';
const worker = (name) => agentNode(agent({ name, model: 'openai/books', instructions: 'You work.', settings: { maxOutputTokens: 100 } }));
`;
const mapOf = (count: number) => `${WORKER}
const work = graph<{ file: string }>({ name: 'one' }).node('read', worker('read')).setEntry('read').compile();
export default definePlan({
  name: 'scan',
  channels: { files: 'last', all: 'last' },
  nodes: [
    { id: 'list', output: 'files', run: () => Array.from({ length: ${count} }, (_, at) => 'f' + at) },
    { id: 'each', kind: 'map', over: { channel: 'files' }, item: 'task', plan: work, result: 'read', output: 'all', maxItems: 100 },
  ],
  edges: [['list', 'each']],
});
`;

async function begin(flow: string) {
  const books = await Books.open({ work: ANSWER });
  const cwd = await makeProject({ 'flow.ts': flow, 'prices.yaml': PRICES });
  return {
    books,
    cwd,
    options: { cwd, env: books.env },
    /** Dollars that the server has billed. */
    usd: () => books.billed.reduce((sum, { output }) => sum + output, 0) / 100_000,
    [Symbol.asyncDispose]: () => books[Symbol.asyncDispose](),
  };
}

const RUN = ['run', 'flow.ts', '--prices', 'prices.yaml'];

describe('[15] a map of 100 with money for 37, billed by a server', () => {
  it('keeps 37 results, aborts nothing, and ends with 6; the resume makes the other 63 calls', async () => {
    await using project = await begin(mapOf(100));
    const { books, options, usd } = project;
    const first = await served([...RUN, '--budget', '0.037', '--json'], options);
    expect(first.code, first.stderr).toBe(6);
    expect([books.billed.length, usd()]).toEqual([37, 0.037]);
    expect(documentOf(first)).toMatchObject({
      outcome: 'out_of_budget',
      usd: 0.037,
      census: { succeeded: 38, failed: 0, cancelled: 0 },
      error: {
        message: 'the budget of the run is used up: $0.037 of $0.037 spent; what comes next may take $0.001',
      },
    });
    const rest = await served(['resume', '-1', '--budget', '+0.063', '--json'], options);
    expect(rest.code, rest.stderr).toBe(0);
    expect([books.billed.length, usd()]).toEqual([100, 0.1]);
    expect(documentOf(rest)).toMatchObject({ usd: 0.063, before: { usd: 0.037 }, modelCalls: 63 });
    expect(documentOf(await served(['show', '-1', '--json'], options))).toMatchObject({ usd: 0.1, modelCalls: 100 });
  });
});

describe('[15] a run that goes on', () => {
  it('with an amount: what has a plus comes on top, what has none replaces the limit, and less than is spent is refused', async () => {
    await using project = await begin(mapOf(10));
    const { books, options } = project;
    expect((await served([...RUN, '--budget', '0.003'], options)).code).toBe(6);
    const less = await served(['resume', '-1', '--budget', '0.002'], options);
    expect([less.code, books.billed.length]).toEqual([1, 3]);
    expect(less.stderr).toContain('a budget of $0.002 is less than the run has spent: $0.003');
    expect(less.stderr).toContain('give more than that, or an amount that comes on top of the limit, such as +0.50');
    expect((await served(['resume', '-1', '--budget', '0.005'], options)).code).toBe(6);
    expect(books.billed.length).toBe(5);
    expect((await served(['resume', '-1', '--budget', '+0.001'], options)).code).toBe(6);
    expect(books.billed.length).toBe(6);
    expect((await served(['resume', '-1', '--budget', '+0.50'], options)).code).toBe(0);
    expect(books.billed.length).toBe(10);
  });

  it('while it waits: another process raises its budget', async () => {
    await using project = await begin(`${WORKER}
export default graph<{ task: string }>({ name: 'live' })
  .node('begin', () => 'go')
  .node('one', worker('one'))
  .node('two', worker('two'))
  .node('slow', async ({ begin }) => {
    while (!existsSync('enough')) await new Promise((next) => setTimeout(next, 20));
    return 'slept';
  })
  .addEdge('begin', 'slow')
  .addEdge('begin', 'one')
  .addEdge('one', 'two')
  .setEntry('begin');
`);
    const { books, cwd, options } = project;
    const running = startSkein([...RUN, '--input', 'task=x', '--budget', '0.0015', '--verbose'], {
      ...options,
      input: '',
    });
    await running.seen('[two] waits for the budget of the run: $0.001 of $0.0015 spent; it may take $0.001');
    const raised = await served(['budget', '-1', '+0.50'], options);
    expect([raised.code, raised.stdout]).toEqual([0, expect.stringContaining('of $0.5015 spent')]);
    while (books.billed.length < 2) await new Promise((next) => setTimeout(next, 20));
    await writeFile(join(cwd, 'enough'), '');
    const end = await running.ended;
    expect(end.code, end.stderr).toBe(0);
    expect(books.billed.length).toBe(2);
    const folder = await runFolder(cwd);
    const streams = [...folder].filter(([name]) => name.endsWith('stream.jsonl')).map(([, text]) => text);
    const waited = '"limit":"run","measure":"usd","spent":0.001,"reserved":0,"of":0.0015,"wanted":0.001';
    const told = streams.filter((text) => text.includes('"budget.waiting"') && text.includes(waited));
    expect(told).toEqual([expect.stringContaining('"budget.admitted"')]);
  });
});
