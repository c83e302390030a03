import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHAIN, makeProject } from './support/skein.js';
import { served } from './support/served.js';

const SCRIPT = 'rules: [{ answer: Done. }]\n';
const AGENT = '---\nname: writer\ntools: []\n---\nYou write.\n';

const stepOf = (type: string): string =>
  `agents:\n  a: { instruction: You write. }\nworkflow:\n  - { id: s, type: ${type}, name: a }\n`;

describe('a file that is not a workflow', () => {
  test.each([
    ['a script', 'script.yaml', SCRIPT, 'it looks like a script', 'skein run WORKFLOW --mock=SCRIPT'],
    ['an agent', 'writer.agent.md', AGENT, 'this is an agent file, not a workflow', '{ file: writer.agent.md }'],
    [
      'a page',
      'page.md',
      '# Hello\n\na: b: c\n',
      'this is a Markdown file, not a workflow',
      'workflows are YAML files',
    ],
  ])('%s: says what it is, and what it is for', async (_, name, text, message, hint) => {
    const cwd = await makeProject({ [name]: text });
    for (const command of ['run', 'exec', 'validate', 'plan', 'graph', 'trust']) {
      const { code, stderr } = await served([command, name], { cwd });
      expect(code).toBe(2);
      expect(stderr).toContain(message);
      expect(stderr).toContain(hint);
      // Removing the second document would destroy an agent file.
      expect(stderr.match(/: error /g)).toHaveLength(1);
    }
  });

  test.each(['flows/daily.yaml', 'flows/daily.ts'])('%s leads to nothing: says where it leads', async (file) => {
    const cwd = await makeProject();
    const { code, stderr } = await served(['run', file], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(`check the path; it leads to ${join(cwd, file)}`);
  });

  test.each(['daily.yaml', 'daily.ts'])('%s is a folder: says to name a file in it', async (file) => {
    const cwd = await makeProject();
    await mkdir(join(cwd, file));
    const { code, stderr } = await served(['run', file], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(`the workflow file ${file} is a directory, not a file\n    hint: name a file in it`);
  });
});

test.each([
  ['llm', 'agent'],
  ['if', 'condition'],
  ['For_Each', 'map'],
  ['human', 'ask'],
  ['script', 'run'],
  ['while', 'loop'],
  ['sleep', 'wait'],
  ['stop', 'end'],
])('the step type %s: did you mean %s', async (type, meant) => {
  const cwd = await makeProject({ 'flow.yaml': stepOf(type) });
  const { stderr } = await served(['validate', 'flow.yaml'], { cwd });
  expect(stderr).toContain(`unknown type "${type}"`);
  expect(stderr).toContain(`hint: did you mean "${meant}"?`);
});

describe('a command line that is wrong', () => {
  test.each([
    ['show', 'logs', 'resume', 'cancel', 'budget'].map((command) => [command, '-1', '--jsno']),
    [['compare', '-1', '-2', '--jsno']],
  ])('an unknown flag beside a run: no hint to name a run', async (...lines) => {
    const cwd = await makeProject();
    for (const words of lines) {
      const { code, stderr } = await served(words, { cwd });
      expect(code).toBe(1);
      expect(stderr).toContain("unknown option '--jsno'");
      expect(stderr).toMatch(/hint: (?:did you mean --json\?|skein help cancel shows what it takes)\n/);
      expect(stderr).not.toContain('name a run');
    }
  });

  test.each([['show'], ['resume'], ['compare', '-1']])('a missing run: %s', async (...words) => {
    const { code, stderr } = await served(words, { cwd: await makeProject() });
    expect(code).toBe(1);
    expect(stderr).toContain('hint: name a run: -1 is the newest');
  });

  test.each([
    [['runs', '--limit', '1'], "unknown option '--limit'", 'skein help runs shows what it takes'],
    [['runs', 'prun'], 'there is no command "runs prun"', 'did you mean skein runs prune?'],
    [['threads', 'frok', 'a', 'b'], 'there is no command "threads frok"', 'did you mean skein threads fork?'],
    [['threads', 'list'], 'there is no command "threads list"', 'skein threads takes: remove, fork'],
    [['help', 'runs', 'bakup'], 'there is no command "runs bakup"', 'did you mean skein runs backup?'],
  ])('%j', async (words, message, hint) => {
    const { code, stderr } = await served(words, { cwd: await makeProject() });
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
  });
});

describe('a file of a flag that cannot be read', () => {
  test.each([
    ['--mock=none.yaml', 'none.yaml', 'no such file or directory'],
    ['--mock=folder', 'folder', 'illegal operation on a directory'],
    ['--prices=none.yaml', 'none.yaml', 'no such file or directory'],
  ])('%s: the reason in words', async (flag, file, reason) => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await mkdir(join(cwd, 'folder'));
    const { code, stderr } = await served(['run', 'flow.yaml', '--mock', flag], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain(`${join(cwd, file)} can't be read: ${reason}\n`);
  });

  test('a backup into a folder that does not exist: says to make it', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    await served(['run', 'flow.yaml', '--mock'], { cwd });
    const { code, stderr } = await served(['runs', 'backup', 'copies/of.db'], { cwd });
    expect(code).toBe(1);
    expect(stderr).toContain(`the folder ${join(cwd, 'copies')} does not exist`);
    expect(stderr).toContain('hint: make the folder first');
  });
});
