import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { served } from './support/served.js';
import { filesIn, makeProject, skein } from './support/skein.js';
import { noTerminal, startOnTerminal } from './support/terminal.js';

const missing = noTerminal();
if (missing !== undefined) console.log(`a test of the terminal is skipped: ${missing}`);

const FLOW = `name: one
agents: { a: { inline: { prompt: You write. } } }
steps: [{ id: draft, agent: a, prompt: Write one line., supervise: { human: true } }]
`;
const ANSWERED = 'rules: [{ answer: a line }]\nanswers: [{ question: Review, answer: approve }]\n';
const files = { 'flow.yaml': FLOW, 's.yaml': 'rules: [{ answer: a line }]\n', 'answered.yaml': ANSWERED };

/** All that is kept of the decision, as commands and files say it. */
async function expectDecided(cwd: string, by: string, words: string): Promise<void> {
  const shown = await served(['show', '-1'], { cwd });
  expect(shown.stdout).toContain(`approved ${words}`);
  const { stdout } = await served(['show', '-1', '--json'], { cwd });
  const { steps } = JSON.parse(stdout) as { steps: readonly { readonly supervision?: object }[] };
  expect(steps[0]?.supervision).toEqual({ by: 'human', answeredBy: by, corrections: 0, accepted: true });
  const logs = await served(['logs', '-1'], { cwd });
  expect(logs.stdout).toContain(`answered ${words}: "approve"`);
  const names = await filesIn(cwd);
  const checkpoint = names.filter((name) => name.endsWith('checkpoints/draft.json')).at(-1) ?? '';
  expect(JSON.parse(await readFile(join(cwd, checkpoint), 'utf8'))).toMatchObject({
    attempts: [{ human: { verdict: 'approve', by } }],
  });
}

describe('[addition 11] who decided about a supervised step', () => {
  test('is skein answer where another process answered, also for later resumes', async () => {
    const cwd = await makeProject(files);
    expect((await served(['run', 'flow.yaml', '--mock=s.yaml'], { cwd })).code).toBe(5);
    expect((await skein(['answer', '-1', 'approve'], { cwd })).code).toBe(0);
    const end = await served(['resume', '-1', '--verbose'], { cwd });
    expect(end.stderr).toContain('[draft] is decided by skein answer: approve');
    await expectDecided(cwd, 'command', 'by skein answer');
    expect((await served(['resume', '-1'], { cwd })).code).toBe(0);
    await expectDecided(cwd, 'command', 'by skein answer');
  });

  test('is the script where that answers, and its wrong answer is refused with the ones that are taken', async () => {
    const cwd = await makeProject(files);
    const end = await served(['run', 'flow.yaml', '--mock=answered.yaml', '--verbose'], { cwd });
    expect([end.code, end.stderr]).toEqual([0, expect.stringContaining('is decided by the script: approve')]);
    await expectDecided(cwd, 'script', 'by the script');
    const wrong = await makeProject({ ...files, 'answered.yaml': ANSWERED.replace('approve', 'go on') });
    const refused = await served(['run', 'flow.yaml', '--mock=answered.yaml'], { cwd: wrong });
    expect(refused.code).toBe(3);
    expect(refused.stderr).toMatch(/SKEIN_ANSWER[^]*answer approve, reject, or revise: WHAT TO DO DIFFERENTLY/);
  });

  test('is never --yes: that allows calls of tools alone', async () => {
    const cwd = await makeProject(files);
    const end = await served(['run', 'flow.yaml', '--mock=s.yaml', '--yes'], { cwd });
    expect(end.code).toBe(5);
    expect(end.stderr).toContain("Review this step's output.");
  });

  test.skipIf(missing !== undefined)('is the terminal where somebody types it there', async () => {
    const cwd = await makeProject(files);
    const running = startOnTerminal(['run', 'flow.yaml', '--mock=s.yaml', '--no-color'], { cwd });
    await running.seen('WHAT TO DO DIFFERENTLY)');
    await running.seen('> ');
    running.child.stdin?.write('yes\n');
    await running.seen('that is not what was asked for');
    running.child.stdin?.write('approve\n');
    expect((await running.ended).code).toBe(0);
    await expectDecided(cwd, 'terminal', 'on the terminal');
  });

  test('is told of every other question, too', async () => {
    const flow = `name: two
agents: { a: { inline: { prompt: You work., tools: [write_file], approve: [write_file] } } }
steps: [{ id: work, agent: a, prompt: go }]
`;
    const script = {
      rules: [{ answers: [{ tools: [{ name: 'write_file', input: { path: 'n', content: 'x' } }] }, 'ok'] }],
    };
    const cwd = await makeProject({ 'flow.yaml': flow, 's.yaml': JSON.stringify(script) });
    expect((await served(['run', 'flow.yaml', '--mock=s.yaml', '--yes'], { cwd })).code).toBe(0);
    expect((await served(['logs', '-1'], { cwd })).stdout).toContain('answered by --yes: "allow"');
  });
});
