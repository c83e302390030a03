import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { served } from './support/served.js';
import { makeProject, ROOT, skein, startSkein } from './support/skein.js';

/** For a process with this, it is so many hours later. */
async function later(cwd: string, hours: number): Promise<{ NODE_OPTIONS: string }> {
  const file = join(cwd, 'later.mjs');
  await writeFile(file, `const now = Date.now; Date.now = () => now() + ${hours} * 3_600_000;\n`);
  return { NODE_OPTIONS: `--import=${pathToFileURL(file).href}` };
}

const DAG = `name: nap
agents: { w: { inline: { prompt: You write. } } }
steps:
  - { id: before, agent: w, prompt: first }
  - { id: nap, type: wait, depends_on: [before], for: 2h }
  - { id: after, agent: w, depends_on: [nap], prompt: last }
`;
const PIPELINE = `agents: { w: { instruction: You write. } }
workflow:
  - { id: before, type: agent, name: w, prompt: first }
  - { id: nap, type: wait, for: 2h }
  - { id: after, type: agent, name: w, prompt: last }
`;

describe('[addition 8] [G9] a step of a file that waits', () => {
  test.each([
    ['a DAG workflow', DAG],
    ['a pipeline', PIPELINE],
  ])('%s that is killed in its sleep waits only for what is left', async (_, text) => {
    const cwd = await makeProject({ 'nap.yaml': text });
    const running = startSkein(['run', 'nap.yaml', '--mock', '--no-audit'], { cwd });
    const recorded = async (): Promise<boolean> => {
      const files = await Promise.all(
        ['skein.db', 'skein.db-wal'].map((file) => readFile(join(cwd, '.skein', file), 'latin1').catch(() => '')),
      );
      return files.some((bytes) => bytes.includes('nap@timer'));
    };
    while (!(await recorded())) await new Promise((resolve) => setTimeout(resolve, 100));
    running.child.kill('SIGKILL');
    await running.ended;
    const end = await skein(['resume', '-1'], { cwd, env: await later(cwd, 3) });
    expect([end.code, end.stderr]).toEqual([0, expect.stringContaining('1 reused, 2 run')]);
  });

  const example = async (): Promise<string> => {
    const cwd = await makeProject();
    await cp(join(ROOT, 'examples/wait-for-an-event'), join(cwd, 'examples/wait-for-an-event'), { recursive: true });
    return cwd;
  };
  const run = async (cwd: string, script: string) =>
    await served(
      ['run', 'examples/wait-for-an-event/workflow.yaml', `--mock=examples/wait-for-an-event/${script}`, '--no-audit'],
      { cwd },
    );

  test('the example wait-for-an-event pauses, and goes on with the event that skein answer delivers', async () => {
    const cwd = await example();
    const paused = await run(cwd, 'script.yaml');
    expect([paused.code, paused.stderr]).toEqual([5, expect.stringContaining('waits for the event payment')]);
    expect((await served(['answer', '-1', 'payment', '{"amount":40}'], { cwd })).code).toBe(0);
    const end = await served(['resume', '-1'], { cwd });
    expect([end.code, end.stdout]).toEqual([0, expect.stringContaining('Thank you for the 40.')]);
  });

  test('without the event in time it takes the other way, and is degraded: exit code 4 with --strict', async () => {
    const cwd = await example();
    expect((await run(cwd, 'script-other.yaml')).code).toBe(5);
    const end = await skein(['resume', '-1', '--strict'], { cwd, env: await later(cwd, 49) });
    expect([end.code, end.stdout]).toEqual([4, expect.stringContaining('Our offer still holds.')]);
  });
});

test('[addition 4] a jump that gave up is degraded: exit code 0, and 4 with --strict', async () => {
  const cwd = await makeProject({
    'loop.yaml': `agents: { w: { instruction: You write. } }
workflow:
  - { id: plan, type: agent, name: w }
  - { type: condition, condition: "{{ $steps.plan.output == 'good' }}", false: { goto: plan, max: 1, on_limit: continue } }
  - { id: write, type: agent, name: w }
`,
  });
  const ended = await served(['run', 'loop.yaml', '--mock', '--no-audit'], { cwd });
  expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('1 limit reached')]);
  expect((await served(['run', 'loop.yaml', '--mock', '--no-audit', '--strict'], { cwd })).code).toBe(4);
});
