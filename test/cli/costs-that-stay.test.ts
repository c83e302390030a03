import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { usdText } from '../../src/events/cost-text.js';
import { addUsd } from '../../src/events/cost.js';
import { Books, PRICES } from './support/books.js';
import { documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const FLOW = `models:
  m: { provider: openai, model: books, max_tokens: 20 }
agents:
  writer: { model: m, instruction: You write. }
  signer: { model: m, instruction: You sign. }
workflow:
  - { id: write, type: agent, name: writer }
  - { id: sign, type: agent, name: signer }
`;
const RUN = ['exec', 'flow.yaml', 'go', '--prices', 'prices.yaml', '--no-audit'];

async function begin(answers: Readonly<Record<string, string>> = {}, flow = FLOW) {
  const books = await Books.open({ write: 'A text', sign: 'Signed', ...answers });
  const cwd = await makeProject({ 'flow.yaml': flow, 'prices.yaml': PRICES });
  const project = { cwd, env: books.env };
  const says = async (...words: string[]) => documentOf(await served([...words, '--json'], project));
  return { books, ...project, project, says, [Symbol.asyncDispose]: () => books[Symbol.asyncDispose]() };
}

it('[15] a new table of prices changes no sum of calls that were made; those that follow are counted by it', async () => {
  await using own = await begin();
  const { books, cwd, project, says } = own;
  books.troubles.set('sign', ['refuses', 'refuses', 'refuses']);
  expect((await served(RUN, project)).code).toBe(3);
  const before = books.usd();
  expect(before).toBeGreaterThan(0);
  await writeFile(join(cwd, 'prices.yaml'), 'models: { openai/*: { input: 1000, output: 2000 } }\n');
  expect(await says('show', '-1')).toMatchObject({ usd: before });
  expect(await says('runs', '--costs')).toMatchObject({ whole: { usd: before } });
  const { usd, before: paid } = await says('resume', '-1');
  const later = books.billed.slice(1).map(({ input, output }) => (input * 1_000 + output * 2_000) / 1e6);
  expect([[usd], paid]).toMatchObject([later, { usd: before }]);
  expect(await says('show', '-1')).toMatchObject({ usd: addUsd(before, Number(usd)) });
});

it('[15] compare says what each of two runs has cost', async () => {
  await using own = await begin();
  const { books, project } = own;
  await served(RUN, project);
  const first = books.usd();
  await served(RUN, project);
  const { stdout } = await served(['compare', '-2', '-1'], project);
  const [cost = ''] = stdout.split('\n').filter((line) => line.startsWith('cost'));
  expect(cost.split(/ {2,}/)).toEqual(['cost', usdText(first), usdText(addUsd(books.usd(), -first))]);
});

it('[bad input] a server that ignores the limit of output bills above the reservation: that is shown, and taken off what is left', async () => {
  await using own = await begin({ write: 'word '.repeat(4_000) }, `budget: 0.01\n${FLOW}`);
  const { books, project } = own;
  const end = await served(RUN, project);
  expect([end.code, books.billed.length]).toEqual([6, 1]);
  // What was billed, to the last billionth, is above the limit.
  expect(books.usd()).toBeGreaterThan(0.02);
  const shown = (await served(['budget', '-1'], project)).stdout;
  expect(shown).toBe(`the budget of the run: $${books.usd()} of $0.01 spent\n`);
  expect(end.stderr).toMatch(/the budget of the run is used up: \$0\.02\d* of \$0\.01 spent; what comes next may take/);
  expect(end.stderr).toContain(`; ${usdText(books.usd())}\n`);
  const less = await served(['resume', '-1', '--budget', '+0.01'], project);
  expect([less.code, books.billed.length]).toEqual([1, 1]);
  expect(less.stderr).toContain('a budget of $0.02 is less than the run has spent: $0.02');
  expect((await served(['resume', '-1', '--budget', '+0.05'], project)).code).toBe(0);
});

it('[bad input] under a budget in dollars, calls of unknown price are made with unpriced: allow, and said to be unknown', async () => {
  const flow = `budget: { usd: 0.01, unpriced: allow }\n${FLOW}`;
  await using own = await begin({}, flow);
  const { books, project } = own;
  const end = await served(['exec', 'flow.yaml', 'go', '--no-audit'], project);
  expect([end.code, books.billed.length]).toEqual([0, 2]);
  expect(end.stderr).toContain('; cost unknown\n');
  expect((await served(['budget', '-1'], project)).stdout).toBe('the budget of the run: $0.00 of $0.01 spent\n');
  await writeFile(join(own.cwd, 'flow.yaml'), `budget: 0.01\n${FLOW}`);
  const refused = await served(['exec', 'flow.yaml', 'go', '--no-audit'], project);
  expect([refused.code, books.billed.length]).toEqual([2, 2]);
  expect(refused.stderr).toContain('no-price: the price of openai/books is unknown');
});

it('[15] a thread that has spent its budget ends its next turn with 6; another thread goes on', async () => {
  await using own = await begin({}, `budget: { thread: { calls: 3 } }\n${FLOW}`);
  const { books, project } = own;
  const turn = async (thread: string) => await served([...RUN, '--thread', thread], project);
  expect((await turn('ada')).code).toBe(0);
  const short = await turn('ada');
  expect([short.code, books.billed.length]).toEqual([6, 3]);
  expect(short.stderr).toContain('the budget of the thread is used up: 3 calls of 3 calls spent');
  expect(short.stderr).toContain('raise thread in the budget of the workflow, and resume the run');
  expect((await turn('bob')).code).toBe(0);
});
