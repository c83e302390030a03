import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Books, PRICES } from './support/books.js';
import { served } from './support/served.js';
import { makeProject, skein, startSkein } from './support/skein.js';

const LIST = `budget: { day: { calls: 8 } }
models:
  m: { provider: openai, model: books }
agents:
  translator: { model: m, instruction: You translate. }
workflow:
${['one', 'two', 'three', 'four', 'five', 'six'].map((id) => `  - { id: ${id}, type: agent, name: translator, prompt: "Text ${id}" }`).join('\n')}
`;
const RUN = ['exec', 'flow.yaml', 'go', '--prices', 'prices.yaml', '--no-audit'];

async function begin(text: string) {
  const books = await Books.open({ translate: 'Der Laden' });
  const cwd = await makeProject({ 'flow.yaml': text, 'prices.yaml': PRICES });
  return { books, cwd, env: books.env, [Symbol.asyncDispose]: () => books[Symbol.asyncDispose]() };
}

it('two processes on one day never make more calls together than it allows', { timeout: 180_000 }, async () => {
  await using project = await begin(LIST);
  const { books } = project;
  const ends = await Promise.all([skein(RUN, project), skein(RUN, project)]);
  expect(books.billed).toHaveLength(8);
  expect(ends.map(({ code }) => code)).toContain(6);
  const short = ends.find(({ code }) => code === 6);
  expect(short?.stderr).toContain('the budget of the day is used up: 8 calls of 8 calls spent');
  expect(short?.stderr).toContain('resume the run tomorrow, or raise day in the budget of the workflow');

  const again = await served(RUN, project);
  expect([again.code, books.billed.length]).toEqual([6, 8]);
  await writeFile(join(project.cwd, 'flow.yaml'), LIST.replace('calls: 8', 'calls: 9'));
  expect((await served(['resume', '-1'], project)).code).toBe(6);
  expect(books.billed).toHaveLength(9);
});

it('a call under way when its process is killed counts for the day, once', { timeout: 180_000 }, async () => {
  await using project = await begin(LIST);
  const { books } = project;
  books.troubles.set('translate', ['hangs']);
  const hung = new Promise<void>((resolve) => (books.onHang = resolve));
  const killed = startSkein(RUN, project);
  await hung;
  killed.child.kill('SIGKILL');
  await killed.ended;
  expect((await served(['resume', '-1'], project)).code).toBe(0);
  expect(books.billed).toHaveLength(6);
  expect((await served(RUN, project)).code).toBe(6);
  expect(books.billed).toHaveLength(7);
});

it('[15] the commands at the end of a run that has used up the day give it more, and continue it', async () => {
  await using project = await begin(LIST);
  await served(RUN, project);
  const { stderr } = await served(RUN, project);
  const [, id = ''] = /recorded as run (\w+)/.exec(stderr) ?? [];
  const raise = `skein budget ${id} +8-calls --of 'day'`;
  expect(stderr).toContain(
    `next: raise the budget for this run alone, then continue where it stopped\n  ${raise}\n  skein resume ${id}`,
  );
  expect((await served(['budget', id, '+8-calls', '--of', 'day'], project)).code).toBe(0);
  expect((await served(['resume', id], project)).code).toBe(0);
  expect(project.books.billed).toHaveLength(12);
});

it('is refused where nothing is recorded, and says what to do', async () => {
  await using project = await begin(LIST);
  const end = await served([...RUN, '--no-store'], project);
  expect(end.code).toBe(1);
  expect(end.stderr).toMatch(/limits what its runs spend on a calendar day, and this run is not recorded/);
  expect(end.stderr).toContain('leave out --no-store');
  expect(project.books.billed).toEqual([]);
});

it('[15] skein budget shows what is left of the day and of the thread beside the run, and raises them for it', async () => {
  const limits = '{ calls: 100, day: { calls: 8 }, thread: { calls: 90 } }';
  await using project = await begin(LIST.replace('{ day: { calls: 8 } }', limits));
  const { books } = project;
  const says = async (...words: string[]): Promise<string> => (await served(words, project)).stdout;
  await served([...RUN, '--thread', 'letters'], project);
  expect((await served(RUN, project)).code).toBe(6);
  const day = 'the budget of the day: 8 calls of 8 calls spent\n';
  expect(await says('budget', '-1')).toBe(`${day}the budget of the run: 2 calls of 100 calls spent\n`);
  expect(await says('budget', '-2')).toBe(
    `${day}the budget of the thread: 6 calls of 90 calls spent\nthe budget of the run: 6 calls of 100 calls spent\n`,
  );

  expect(await says('budget', '-1', '+2-calls', '--of', 'day')).toContain('the day: 8 calls of 10 calls spent');
  expect((await served(['resume', '-1'], project)).code).toBe(6);
  expect(books.billed).toHaveLength(10);
  expect((await served(RUN, project)).stderr).toContain('10 calls of 8 calls spent');

  await served([...RUN, '--mock'], project);
  expect(await says('budget', '-1')).toBe('the budget of the run: 6 calls of 100 calls spent\n');
});
