import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packText } from './support/packs.js';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';

const ASKS = `import { definePlan } from 'skein';
export default definePlan({ name: 'w', nodes: [{ id: 'q', kind: 'ask', question: 'Ok?', output: 'q' }] });
`;

/** Follows a script in the place of a model, which needs a yes. */
const flow = (model: string): string => `name: t
agents: { a: { inline: { prompt: p, model: ${model}, tools: [] } } }
steps:
  - { id: ok, type: ask, question: "Go on?", choices: [yes, no] }
  - { id: s, agent: a, prompt: Say, depends_on: [ok] }
  - { id: t, agent: a, prompt: "Say {{steps.s.output}}", depends_on: [s] }
`;
const FILES = {
  'w.mjs': ASKS,
  'flow.yaml': flow('script/answers.yaml'),
  'answers.yaml': 'rules: [{ answers: [hello] }]\n',
  'plain.yaml': flow('mock/echo'),
};

const go = (cwd: string, ...words: readonly string[]) => served(words, { cwd, asks: true });

/** The command that continues the run, of those that a command line proposes. */
async function proposedBy(cwd: string, ...words: readonly string[]): Promise<string> {
  const { stdout, stderr } = await go(cwd, ...words);
  return /^ {2}skein (resume .*)$/m.exec(`${stdout}\n${stderr}`)?.[1] ?? `none: ${stdout}\n${stderr}`;
}

describe('a command that continues a run', () => {
  it.each([
    ['a module', 'w.mjs'],
    ['a file with a power', 'flow.yaml'],
  ])('has --trust as long as the user has not said yes: %s', async (_, file) => {
    const cwd = await makeProject(FILES);
    expect(await go(cwd, 'run', file, '--trust')).toMatchObject({ code: 5 });
    expect(await proposedBy(cwd, 'answer', '-1', 'yes')).toMatch(/^resume \S+ --trust$/);
    expect(await proposedBy(cwd, 'show', '-1')).toMatch(/^resume \S+ --trust$/);
    await go(cwd, 'trust', file, '--yes');
    expect(await proposedBy(cwd, 'show', '-1')).toMatch(/^resume \S+$/);
    await go(cwd, 'trust', '--forget', file);
    expect(await proposedBy(cwd, 'show', '-1')).toMatch(/^resume \S+ --trust$/);
  });

  it('has it when only the record says what the file could do', async () => {
    const cwd = await makeProject(FILES);
    await go(cwd, 'run', 'flow.yaml', '--trust');
    await rm(join(cwd, 'flow.yaml'));
    expect(await proposedBy(cwd, 'answer', '-1', 'yes')).toMatch(/^resume \S+ --trust$/);
  });

  it('has it after a raised budget', async () => {
    const cwd = await makeProject(FILES);
    await go(cwd, 'run', 'flow.yaml', '--trust', '--budget', '1-call');
    await go(cwd, 'answer', '-1', 'yes');
    expect(await proposedBy(cwd, 'resume', '-1', '--trust')).toMatch(/^resume \S+ --budget \+1-call --trust$/);
    expect(await proposedBy(cwd, 'budget', '-1', '5-calls')).toMatch(/^resume \S+ --trust$/);
  });

  it('has none for a file that needs no yes, with --trust before it or not', async () => {
    const cwd = await makeProject(FILES);
    expect(await proposedBy(cwd, 'run', 'plain.yaml', '--trust')).toMatch(/^resume \S+$/);
    expect(await proposedBy(cwd, 'resume', '-1', '--trust')).toMatch(/^resume \S+$/);
    expect(await proposedBy(cwd, 'answer', '-1', 'yes')).toMatch(/^resume \S+$/);
  });

  it('has none for a file with a power that a run without models does not use', async () => {
    const cwd = await makeProject(FILES);
    await go(cwd, 'run', 'flow.yaml', '--mock');
    expect(await proposedBy(cwd, 'answer', '-1', 'yes')).toMatch(/^resume \S+$/);
  });
});

describe('a command that continues a conversation', () => {
  it('has --trust as long as the module with its tools is not trusted', async () => {
    const states = { open: { prompt_task: 'open', on_event: { done: 'end' } }, end: { prompt_task: 'end' } };
    const pack = packText({ open: 'Hello.', end: 'Bye.' }, states);
    const cwd = await makeProject({ 'desk.pack.json': pack, 'tools.mjs': 'export function look() {}\n' });
    const say = ['run', 'desk.pack.json', '--mock', '--tools', 'tools.mjs', '--message', 'Hi', '--thread', 'ada'];
    const first = await go(cwd, ...say, '--trust');
    expect(first.stderr).toContain('--thread ada --message TEXT --trust\n  skein event ada done --trust\n');
    await go(cwd, 'trust', 'tools.mjs', '--yes');
    const second = await go(cwd, ...say, '--trust');
    expect(second.stderr).toContain('--thread ada --message TEXT\n  skein event ada done\n');
  });
});
