import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { served } from './support/served.js';
import { documentOf, makeProject, skein } from './support/skein.js';

const flow = (most: number): string => `import { SkeinError } from 'skein';
import { agent, agentNode, graph, tool } from 'skein/graph';

const look = tool({ name: 'look', inputSchema: { type: 'object' }, effect: 'read', execute: () => 'seen' });
const choice = () => ({
  before: ({ toolCalls }) => (toolCalls < ${most} ? undefined : new SkeinError('SKEIN_BUDGET', 'the calls are used up')),
  isOver: () => false,
  end: () => ({ goto: 'after' }),
});
export default graph<{ task: string }>({ name: 'bounded' })
  .node('search', agentNode(agent({ name: 'search', tools: [look] }), { choice }), { goto: ['after'] })
  .node('after', () => 'went on')
  .setEntry('search');
`;
const SCRIPT = `rules:
  - step: search
    answers: [{ tools: [{ name: look, input: {} }] }, Found.]
`;

it('a run that is out of budget ends with 6, says why and what comes next, and is shown as such', async () => {
  const cwd = await makeProject({ 'flow.ts': flow(1), 'script.yaml': SCRIPT });
  const end = await served(['run', 'flow.ts', '--input', 'task=x', '--mock=script.yaml'], { cwd });
  expect(end.code).toBe(6);
  expect(end.stderr).toMatch(/bounded ran out of budget/);
  expect(end.stderr).toContain('the calls are used up');
  expect(end.stderr).toMatch(/1 out of budget, 1 not run/);
  const next = /next: continue where it stopped\n {2}(skein resume \S+) --trust\n/.exec(end.stderr);
  expect(next).not.toBeNull();

  const shown = await served(['show', '-1'], { cwd });
  expect(shown.stdout).toMatch(/search\s+out of budget/);
  expect((await served(['runs'], { cwd })).stdout).toContain('out of budget');
  expect(JSON.parse((await served(['show', '-1', '--json'], { cwd })).stdout)).toMatchObject({
    status: 'out_of_budget',
    census: { out_of_budget: 1, notRun: 1 },
    error: { code: 'SKEIN_BUDGET' },
  });
});

it('its JSON and its run folder say so, and a resume with a higher bound continues it', async () => {
  const cwd = await makeProject({ 'flow.ts': flow(1), 'script.yaml': SCRIPT });
  const end = await served(
    ['run', 'flow.ts', '--input', 'task=x', '--mock=script.yaml', '--json', '--audit-dir', 'audit'],
    { cwd },
  );
  expect(end.code).toBe(6);
  expect(documentOf(end)).toMatchObject({
    outcome: 'out_of_budget',
    error: { code: 'SKEIN_BUDGET', message: 'the calls are used up' },
    census: { out_of_budget: 1 },
    steps: { search: { status: 'out_of_budget' } },
  });
  const [folder = ''] = await readdir(join(cwd, 'audit'));
  const meta = await readFile(join(cwd, 'audit', folder, 'workflow.meta.json'), 'utf8');
  expect(JSON.parse(meta)).toMatchObject({ status: 'failed', outcome: 'out_of_budget' });

  const same = await served(['resume', '-1'], { cwd });
  expect([same.code, same.stderr]).toEqual([6, expect.stringContaining('ran out of budget')]);
  await writeFile(join(cwd, 'flow.ts'), flow(9));
  const raised = await skein(['resume', '-1', '--json'], { cwd });
  expect(raised.code).toBe(0);
  expect(documentOf(raised)).toMatchObject({ outcome: 'succeeded' });
});

it('its end says what is asked, of the budget and of other steps, and how to answer', async () => {
  const asking = `name: asking
budget: { calls: 1, on_limit: ask }
agents: { writer: { inline: { prompt: You write., tools: [] } } }
steps:
  - { id: gate, type: ask, question: Go on? }
  - { id: one, agent: writer, prompt: One. }
  - { id: two, agent: writer, prompt: Two., depends_on: [one] }
`;
  const cwd = await makeProject({ 'flow.yaml': asking });
  const end = await served(['run', 'flow.yaml', '--mock', '--no-audit'], { cwd });
  expect(end.code).toBe(6);
  expect(end.stderr).toMatch(/\nquestion of gate: Go on\?\n {2}skein answer \w+ gate VALUE\n/);
  expect(end.stderr).toMatch(
    /\nquestion of two: the budget of the run .*How much more may be spent.*\n(?: {2}.*\n)* {2}skein answer \w+ two VALUE\n/,
  );
  expect((await served(['answer', '-1', 'gate', 'yes'], { cwd })).code).toBe(0);
  expect((await served(['answer', '-1', 'two', '1-calls'], { cwd })).code).toBe(0);
  expect((await served(['resume', '-1'], { cwd })).code).toBe(0);
});
