import { expect, it } from 'vitest';
import { served } from './support/served.js';
import { makeProject, skein } from './support/skein.js';

const items = Array.from({ length: 100 }, (_, at) => `f${at}.ts`);

const MODULE = `import { agent, agentNode, graph } from 'skein/graph';
import { definePlan } from 'skein';

const work = graph<{ file: string }>({ name: 'one' })
  .node('read', agentNode(agent({ name: 'read', model: 'openai/gpt-5-mini', settings: { maxOutputTokens: 100 } })))
  .setEntry('read')
  .compile();
export default definePlan({
  name: 'scan',
  channels: { files: 'last', all: 'last' },
  nodes: [
    { id: 'list', output: 'files', run: () => ${JSON.stringify(items)} },
    { id: 'each', kind: 'map', over: { channel: 'files' }, item: 'task', plan: work, result: 'read', output: 'all', maxItems: 100 },
  ],
  edges: [['list', 'each']],
});
`;

it('a map of 100 with money for 37, as processes: exit code 6 with the limit and what comes next; the resume runs 63', async () => {
  const cwd = await makeProject({ 'scan.ts': MODULE });
  const first = await skein(['run', 'scan.ts', '--mock', '--budget', '37-calls'], { cwd });
  expect(first.code).toBe(6);
  expect(first.stderr).toContain(
    'the budget of the run is used up: 37 calls of 37 calls spent; what comes next may take 1 call',
  );
  const next = /next: continue where it stopped\n {2}skein (resume \S+ --budget \+37-calls) --trust\n/.exec(
    first.stderr,
  );
  expect(next).not.toBeNull();
  const shown = await served(['budget', '-1'], { cwd });
  expect(shown.stdout.trim()).toBe('the budget of the run: 37 calls of 37 calls spent');
  const rest = await skein(['resume', '-1', '--budget', '+63-calls'], { cwd });
  expect(rest.code).toBe(0);
  expect(rest.stderr).toContain('38 reused');
  expect(rest.stderr).toMatch(/63 run/);
});

const CHAIN = `import { agent, agentNode, graph } from 'skein/graph';

const worker = (name) => agentNode(agent({ name, model: 'openai/gpt-5-mini', settings: { maxOutputTokens: 100 } }));
export default graph<{ task: string }>({ name: 'chain' })
  .node('one', worker('one'))
  .node('two', worker('two'))
  .node('ask', (state: { task: string }, step) => step.ask({ text: 'Well?' }))
  .addEdge('one', 'two')
  .addEdge('one', 'ask')
  .setEntry('one');
`.replace('(state: { task: string }, step)', '({ task }: { task: string }, step)');

it('a budget that is raised beside a run that has stopped counts in the next resume; out of budget wins over paused', async () => {
  const cwd = await makeProject({ 'chain.ts': CHAIN });
  const run = async (...words: string[]) => await served(words, { cwd });
  const first = await run(
    'run',
    'chain.ts',
    '--input',
    'task=x',
    '--mock',
    '--budget',
    '1-calls',
    '--budget',
    '200k-tokens',
  );
  expect(first.code).toBe(6);
  expect(first.stderr).toMatch(/1 succeeded, 1 paused, 1 out of budget/);
  const shown = await run('budget', '-1');
  expect(shown.stdout).toMatch(
    /^the budget of the run: [\d,]+ tokens of 200,000 tokens spent\nthe budget of the run: 1 call of 1 call spent\n$/,
  );
  const raised = await run('budget', '-1', '+1-calls', '--json');
  const { limits } = JSON.parse(raised.stdout) as { limits: { measure: string; limit: number }[] };
  expect(limits.find(({ measure }) => measure === 'calls')).toEqual({
    name: 'run',
    measure: 'calls',
    spent: 1,
    reserved: 0,
    limit: 2,
  });
  const again = await run('resume', '-1');
  expect(again.code).toBe(5);
  expect((await run('answer', '-1', 'yes')).code).toBe(0);
  expect((await run('resume', '-1')).code).toBe(0);
});

it('the budget of one step is shown by its name', async () => {
  const flow = `name: two
budget: 9-calls
agents: { writer: { inline: { prompt: You write., tools: [] } } }
steps: [{ id: one, agent: writer, prompt: One., budget: 3-calls }]
`;
  const cwd = await makeProject({ 'flow.yaml': flow });
  await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
  const shown = await served(['budget', '-1', '--of', 'one'], { cwd });
  expect(shown.stdout).toBe('the budget of step one: 1 call of 3 calls spent\n');
});

it.each([
  [['run', 'chain.ts', '--input', 'task=x', '--mock', '--budget', '5 apples'], '"5 apples" has an unknown unit'],
  [['run', 'chain.ts', '--input', 'task=x', '--mock', '--budget', '-1'], 'is negative'],
  [
    ['run', 'chain.ts', '--input', 'task=x', '--mock', '--budget', '+1-calls'],
    'there is no limit to which 1 call could be added',
  ],
  [['resume', '-1', '--budget', '0-calls'], 'is not above zero'],
  [['resume', '-1', '--budget', '1-tokens'], 'is less than the run has spent'],
  [['budget', '-1', '+0.50'], 'there is no limit to which $0.50 could be added'],
  [['budget', '-1', '+1-calls', '--of', 'on'], "the run has no budget 'on'"],
  [['budget', '-1', '--of', 'on'], "the run has no budget 'on'"],
])('says before anything runs what is wrong with a budget: skein %j', async (words, said) => {
  const cwd = await makeProject({ 'chain.ts': CHAIN });
  await served(['run', 'chain.ts', '--input', 'task=x', '--mock', '--budget', '1-calls,200k-tokens'], { cwd });
  const end = await served(words, { cwd });
  expect([end.code, end.stderr]).toEqual([1, expect.stringContaining(said)]);
  expect((await served(['budget', '-1'], { cwd })).stdout).toContain('1 call of 1 call spent');
});
