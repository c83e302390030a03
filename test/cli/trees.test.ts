import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, documentOf, makeProject, startSkein } from './support/skein.js';
import { served } from './support/served.js';

const EXAMPLE = 'examples/gtd-next-action';
const FLOW = `${EXAMPLE}/workflow.ts`;

async function project(): Promise<string> {
  const cwd = await makeProject();
  await cp(join(ROOT, EXAMPLE), join(cwd, EXAMPLE), { recursive: true });
  return cwd;
}

const runOf = (script: string): readonly string[] => [
  'run',
  FLOW,
  '-i',
  'hours_available=4',
  `--mock=${EXAMPLE}/${script}`,
  '--no-audit',
];

describe('the example of the source document', () => {
  test('runs scripted: agents side by side, a corrected choice, and a file for today', async () => {
    const end = await served(runOf('script.yaml'), { cwd: await project() });
    expect([end.code, end.stderr]).toEqual([0, expect.stringContaining('gtd-next-action succeeded in')]);
    expect(end.stderr).toContain(
      '[analyze] is not accepted; attempt 2 gets the correction: Choose only what fits into 4 hours.',
    );
    expect(end.stdout).toContain('## Step: prepare\n\n- DESK-12: the login page is down (2 h)');
    expect(end.stdout).toContain('## Step: write_daily\n\n# Today\n1. DESK-12: nobody can log in.');
  });

  test('pauses for a person, is answered, killed, and finished: no work is done twice', async () => {
    const cwd = await project();
    const script = join(cwd, EXAMPLE, 'script-other.yaml');
    const text = await readFile(script, 'utf8');
    const paused = await served(runOf('script-other.yaml'), { cwd });
    expect([paused.code, paused.stdout]).toEqual([5, expect.stringContaining('*Paused: DESK-12 was left out.')]);
    expect((await served(['answer', '-1', 'analyze', 'approve'], { cwd })).code).toBe(0);
    await writeFile(
      script,
      text.replace(/(agent: write_daily\n\s+answer:) (.*)/, '$1\n      text: $2\n      delay: 600'),
    );
    const running = startSkein(['resume', '-1'], { cwd });
    await running.seen('step write_daily started');
    running.child.kill('SIGKILL');
    expect((await running.ended).signal).toBe('SIGKILL');
    await writeFile(script, text);
    const end = await served(['resume', '-1'], { cwd });
    expect([end.code, end.stdout]).toEqual([0, expect.stringContaining('1. Renew the certificate')]);
    expect(end.stderr).toMatch(/\n5 reused(?: \(.*\))?, 1 run\n/);
  });

  test('is validated, planned and drawn', async () => {
    const validated = await served(['validate', FLOW], { cwd: ROOT });
    expect([validated.code, validated.stderr]).toEqual([0, '']);
    const planned = await served(['plan', FLOW], { cwd: ROOT });
    expect([planned.code, planned.stderr]).toEqual([0, '']);
    expect(planned.stdout).toContain('<goal name="write_daily">');
    expect(planned.stdout).toContain('judged by a model, at most 1 correction');
    const drawn = await served(['graph', FLOW, '--format', 'mermaid'], { cwd: ROOT });
    expect(drawn.stdout).toContain('past-actions');
  });
});

const TREE = `import { goal, sequence, workflow } from 'skein/tree';
export default workflow('tree').add(sequence('main').steps(`;

describe('a module with a tree', () => {
  test('all its problems are told, with the place in the tree', async () => {
    const cwd = await makeProject({
      'tree.mjs': `${TREE}goal('draft', ''), goal('next', 'Use $nothing.').supervise()));`,
    });
    for (const words of [
      ['validate', 'tree.mjs'],
      ['run', 'tree.mjs', '--mock', '--no-store'],
      ['plan', 'tree.mjs'],
    ]) {
      const end = await served(words, { cwd });
      expect(end.code).toBe(2);
      const told = end.stdout + end.stderr;
      expect(told).toContain(
        'tree.mjs: sequences[0].steps[0]: error no-description: goal draft: description is required',
      );
      expect(told).toContain('goal next: $nothing is not declared as a parameter or upstream output');
      expect(told).toContain('Runtime.Supervisor is required when any node sets Supervise()');
    }
  });

  test('[addition 4] runs with the runtime that it exports: its model, its tools, its context', async () => {
    const runtime = `
const model = {
  id: 'mine/model',
  async *stream({ messages, tools }) {
    const [system] = messages;
    yield { type: 'text', text: [system.text.split('\\n').at(-1), ...tools.map(({ name }) => name)].join(' ') };
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
  },
};
const look = { name: 'look', inputSchema: { type: 'object' }, execute: () => 'seen' };
export const runtime = {
  model,
  tools: [look],
  systemContext: 'Be brief.',
  telemetry: ({ name, description }) => console.error('told', name, description ?? ''),
};
`;
    const cwd = await makeProject({
      'tree.mjs': `${TREE}goal('draft', 'Write about $topic.'))).input('topic');${runtime}`,
    });
    const end = await served(['run', 'tree.mjs', '-i', 'topic=looms', '--no-store', '--no-audit', '--json'], { cwd });
    expect(end.code).toBe(0);
    expect(documentOf(end).steps['draft']?.output).toBe('Be brief. look');
    expect(end.stderr).toContain('told goal.started Write about looms.');
    const mocked = await served(
      ['run', 'tree.mjs', '-i', 'topic=looms', '--mock', '--no-store', '--no-audit', '--json'],
      { cwd },
    );
    expect(documentOf(mocked).steps['draft']?.output).toContain('<goal name="draft">');
  });

  test('a person is asked on the terminal, or the run pauses: the runtime needs no function for that', async () => {
    const cwd = await makeProject({
      'tree.mjs': `import { supervisor } from 'skein';
${TREE}goal('draft', 'Write.').superviseByHuman()));
export const runtime = { supervisor: supervisor() };`,
    });
    const end = await served(['run', 'tree.mjs', '--mock', '--no-audit'], { cwd });
    expect([end.code, end.stderr]).toEqual([
      5,
      expect.stringContaining("question of draft: Review this step's output."),
    ]);
  });
});
