import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHAIN, documentOf, makeProject } from './support/skein.js';
import { served } from './support/served.js';
import { noTerminal, screenOf, startOnTerminal } from './support/terminal.js';

const missing = noTerminal();
if (missing !== undefined) console.log(`tests of the terminal are skipped: ${missing}`);

const FLOW = CHAIN.replace('id: facts, agent: writer,', 'id: facts, agent: writer, interactive: true,');
const SCRIPT = `strict: false
rules:
  - step: facts
    answers:
      - question: { text: Which kind?, choices: [hand, power] }
      - { text: They weave., usage: { input: 1, output: 1 } }
  - { step: text, answer: Looms weave. }
`;

const APPROVED = `name: approved
agents:
  writer: { inline: { prompt: You write., tools: [write_file], approve: [write_file] } }
steps:
  - { id: note, agent: writer, prompt: Write a note. }
`;
/** Longer than a line: nothing of what is allowed may be left out. */
const LONG = `hello${'.'.repeat(2000)}!`;
const CALL = `"content": "${LONG}"`;
const WRITES = `rules:
  - step: note
    answers:
      - tools: [{ name: write_file, input: { path: note.txt, content: ${LONG} } }]
      - Written.
`;

async function paused(): Promise<{ readonly cwd: string; readonly words: readonly string[]; readonly resume: string }> {
  const cwd = await makeProject({ 'flow.yaml': FLOW, 'answers.yaml': SCRIPT });
  const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
  expect(end.code).toBe(5);
  const [, run = '', key = ''] = /\n {2}skein answer (\S+) (\S+) VALUE\n/.exec(end.stderr) ?? [];
  const [, resume = ''] = /\nnext: continue when there are answers\n {2}skein resume (\S+)\n/.exec(end.stderr) ?? [];
  return { cwd, words: ['answer', run, key], resume };
}

describe('a run that waits for an answer', () => {
  test('prints the commands that answer it and go on with it, and they do', async () => {
    const { cwd, words, resume } = await paused();
    expect((await served([...words, 'power'], { cwd })).code).toBe(0);
    const end = await served(['resume', resume], { cwd });
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('Looms weave.');
    // The model call that asked is not made again.
    expect(end.stderr).toMatch(/\n2 model calls .*\nbefore: 1 model call/);
  });

  test('is paused again, with the same question, as long as nobody answers', async () => {
    const { cwd, words, resume } = await paused();
    const again = await served(['resume', resume, '--json'], { cwd });
    expect(again.code).toBe(5);
    expect(documentOf(again)).toMatchObject({
      outcome: 'paused',
      questions: [{ path: words[2], question: 'Which kind?', choices: ['hand', 'power'] }],
      modelCalls: 0,
    });
  });

  test('a call that must be allowed waits, too, and is made once it is', async () => {
    const cwd = await makeProject({ 'flow.yaml': APPROVED, 'answers.yaml': WRITES });
    const end = await served(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    expect(end.code).toBe(5);
    const [, run = '', key = ''] = /\n {2}skein answer (\S+) (\S+) VALUE\n/.exec(end.stderr) ?? [];
    const [, choice = ''] = /\n {2}1\. (.*)\n/.exec(end.stderr) ?? [];
    expect(choice).not.toBe('');
    // What is decided about is told wherever the decision is asked for.
    expect(end.stderr).toContain(CALL);
    expect((await served(['show', run], { cwd })).stdout).toContain(CALL);
    expect((await served(['answer', run], { cwd })).stdout).toContain(CALL);
    const evidence = { tool: 'write_file', input: { path: 'note.txt', content: LONG } };
    expect(documentOf(await served(['resume', run, '--json'], { cwd }))).toMatchObject({ questions: [{ evidence }] });
    expect((await served(['answer', run, key, 'perhaps'], { cwd })).code).toBe(2);
    expect((await served(['answer', run, key, choice], { cwd })).code).toBe(0);
    expect((await served(['resume', '-1'], { cwd })).code).toBe(0);
  });
});

describe.skipIf(missing !== undefined)('a question on a terminal', () => {
  test('takes only what was asked for, and says what that is', async () => {
    const cwd = await makeProject({ 'flow.yaml': APPROVED, 'answers.yaml': WRITES });
    const running = startOnTerminal(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    await running.seen('(1-2) > ');
    running.child.stdin?.write('perhaps\n');
    await running.seen('it must be one of: ');
    running.child.stdin?.write('1\n');
    expect((await running.ended).code).toBe(0);
  });

  test('goes away when it is answered from elsewhere', async () => {
    const cwd = await makeProject({ 'flow.yaml': FLOW, 'answers.yaml': SCRIPT });
    const running = startOnTerminal(['run', 'flow.yaml', '--mock=answers.yaml', '--no-audit'], { cwd });
    await running.seen('(1-2, or your own words) > ');
    expect((await served(['answer', '-1', 'hand'], { cwd })).code).toBe(0);
    const end = await running.ended;
    expect(end.code).toBe(0);
    expect(screenOf(end.stdout).join('\n')).toContain('the question has gone: it was answered from elsewhere');
    expect(end.stdout).toContain('Looms weave.');
  });

  test('of a run that was paused elsewhere is asked when it is resumed there', async () => {
    const { cwd, resume } = await paused();
    await writeFile(join(cwd, 'answers.yaml'), SCRIPT);
    const running = startOnTerminal(['resume', resume], { cwd });
    await running.seen('(1-2, or your own words) > ');
    running.child.stdin?.write('2\n');
    expect((await running.ended).code).toBe(0);
  });
});
