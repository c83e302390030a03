import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { filesIn, makeProject } from './support/skein.js';
import { served } from './support/served.js';
import { noTerminal, startOnTerminal, visible } from './support/terminal.js';
import { packText } from './support/packs.js';

/** Follows a script in the place of a model: a power, and a run that needs no model. */
const FLOW = `name: t
inputs: { topic: { default: looms } }
agents: { a: { inline: { prompt: p, model: script/answers.yaml, tools: [] } } }
steps: [{ id: s, agent: a, prompt: "Say {{inputs.topic}}" }]
`;
const FILES = { 'flow.yaml': FLOW, 'answers.yaml': 'rules: [{ answers: [hello] }]\n' };
const LIST =
  /flow\.yaml can do more than read the project, and you have not said yes to it.*:\n {6}follows answers\.yaml/;

/** What there is beside the user's own folder. What SQLite keeps next to a store goes when the last connection closes. */
const left = async (cwd: string): Promise<readonly string[]> =>
  (await filesIn(cwd)).filter((name) => !name.startsWith('home') && !/-(?:wal|shm)$/.test(name));

const go = (cwd: string, ...words: readonly string[]) => served(words, { cwd, asks: true });

describe('a file that can do more than read the project', () => {
  it.each([
    ['run', ['run', 'flow.yaml']],
    ['run with a store of its own', ['run', 'flow.yaml', '--thread', 'ada']],
    ['exec', ['exec', 'flow.yaml']],
    ['--yes, which is about calls', ['run', 'flow.yaml', '--yes']],
    ['a recording, whose tools are carried out', ['run', 'flow.yaml', '--replay', 'answers.yaml']],
  ])('[T10] does not start without a yes, and nothing is written: %s', async (_, words) => {
    const cwd = await makeProject(FILES);
    const end = await go(cwd, ...words);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toMatch(LIST);
    expect(end.stderr).toContain('hint: when you trust it: skein trust flow.yaml, or --trust for this once');
    expect(await filesIn(cwd)).toEqual(Object.keys(FILES).toSorted());
  });

  it('[T10] runs by --trust this once, and by skein trust until it changes', async () => {
    const cwd = await makeProject(FILES);
    expect(await go(cwd, 'run', 'flow.yaml', '--trust')).toMatchObject({ code: 0 });
    expect(await go(cwd, 'run', 'flow.yaml')).toMatchObject({ code: 2 });
    expect(await go(cwd, 'trust', 'flow.yaml', '--yes')).toMatchObject({ code: 0 });
    expect(await go(cwd, 'run', 'flow.yaml')).toMatchObject({ code: 0 });
    expect(await go(cwd, 'run', 'flow.yaml', '--input', 'topic=mills', '--model', 'mock/echo')).toMatchObject({
      code: 0,
    });
    await appendFile(join(cwd, 'answers.yaml'), '\n');
    const changed = await go(cwd, 'run', 'flow.yaml');
    expect(changed.code).toBe(2);
    expect(changed.stderr).toMatch(LIST);
  });

  it('says which files are not what they were when the user said yes', async () => {
    const cwd = await makeProject(FILES);
    const first = await go(cwd, 'run', 'flow.yaml');
    expect(first.stderr).toContain('read the project, and you have not said yes to it:');
    await go(cwd, 'trust', 'flow.yaml', '--yes');
    await appendFile(join(cwd, 'answers.yaml'), '\n');
    const changed = await go(cwd, 'run', 'flow.yaml');
    expect(changed.stderr).toContain('and you have not said yes to it since answers.yaml changed:');
    await appendFile(join(cwd, 'flow.yaml'), '\n');
    const both = await go(cwd, 'run', 'flow.yaml');
    expect(both.stderr).toContain('and you have not said yes to it since answers.yaml and 1 more changed:');
  });

  it('says so of a file that its own command writes', async () => {
    const steps = 'steps: [{ id: s, run: [sh, -c, "echo 1 > report.txt"] }]';
    const cwd = await makeProject({ 'job.yaml': `name: job\n${steps}\n` });
    await go(cwd, 'trust', 'job.yaml', '--yes');
    expect(await go(cwd, 'run', 'job.yaml')).toMatchObject({ code: 0 });
    const again = await go(cwd, 'run', 'job.yaml');
    expect(again.stderr).toContain('and you have not said yes to it since report.txt changed:');
  });

  it('[T10] needs the yes again to be resumed and forked, as it is then', async () => {
    const cwd = await makeProject(FILES);
    await go(cwd, 'run', 'flow.yaml', '--trust');
    const before = await left(cwd);
    for (const words of [
      ['resume', '-1'],
      ['fork', '-1', '--from', 's'],
    ]) {
      const end = await go(cwd, ...words);
      expect(end).toMatchObject({ code: 2 });
      expect(end.stderr).toMatch(LIST);
      expect(await left(cwd)).toEqual(before);
    }
    expect(await go(cwd, 'fork', '-1', '--from', 's', '--trust')).toMatchObject({ code: 0 });
    await go(cwd, 'trust', 'flow.yaml', '--yes');
    expect(await go(cwd, 'resume', '-1')).toMatchObject({ code: 0 });
    await writeFile(join(cwd, 'flow.yaml'), `${FLOW}# changed\n`);
    expect(await go(cwd, 'resume', '-1')).toMatchObject({ code: 2 });
  });

  it('needs it too when only the record has it', async () => {
    const cwd = await makeProject(FILES);
    await go(cwd, 'run', 'flow.yaml', '--trust');
    await go(cwd, 'trust', 'flow.yaml', '--yes');
    await rm(join(cwd, 'flow.yaml'));
    const end = await go(cwd, 'resume', '-1');
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(LIST);
    expect(await go(cwd, 'resume', '-1', '--trust')).toMatchObject({ code: 0 });
  });

  it('is refused as a document with --json', async () => {
    const end = await go(await makeProject(FILES), 'run', 'flow.yaml', '--json');
    expect(end.code).toBe(2);
    const { problems } = JSON.parse(end.stdout) as { problems: { code: string }[] };
    expect(problems).toEqual([expect.objectContaining({ code: 'untrusted-file', severity: 'error' })]);
  });

  it('is looked at without a yes: validate, plan, graph and --mock start and reach nothing', async () => {
    const cwd = await makeProject(FILES);
    for (const words of [['validate'], ['plan'], ['graph'], ['run', '--mock']])
      expect(await go(cwd, ...words, 'flow.yaml')).toMatchObject({ code: 0 });
  });

  it('[T10] keeps its audit folder out of other places without models, too', async () => {
    const cwd = await makeProject({ 'inner/flow.yaml': `config: { audit_dir: ../outside }\n${FLOW}` });
    const inner = join(cwd, 'inner');
    const end = await served(['run', 'flow.yaml', '--mock'], { cwd: inner, asks: true });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain(`writes ${join(cwd, 'outside')} (audit folder)`);
    expect(await filesIn(cwd)).toEqual(['inner', 'inner/flow.yaml']);
  });

  it('a file that only reads the project needs none', async () => {
    const flow = FLOW.replace('model: script/answers.yaml, tools: []', 'model: mock/echo, tools: [read_file]');
    expect(await go(await makeProject({ 'flow.yaml': flow }), 'run', 'flow.yaml')).toMatchObject({ code: 0 });
  });
});

describe('the code of a module', () => {
  const PLANT = 'import { writeFileSync } from "node:fs";\nwriteFileSync("planted", "");\n';

  it.each([
    ['run', ['run', 'flow.mjs']],
    ['run without models', ['run', 'flow.mjs', '--mock']],
    ['validate', ['validate', 'flow.mjs']],
    ['plan', ['plan', 'flow.mjs']],
    ['graph', ['graph', 'flow.mjs']],
    ['convert', ['convert', 'flow.mjs']],
    ['the tools of a pack', ['run', 'desk.pack.json', '--mock', '--tools', 'flow.mjs', '--message', 'Hello']],
    ['a look at the tools of a pack', ['validate', 'desk.pack.json', '--tools', 'flow.mjs']],
  ])('[T10] does not run before a yes: %s', async (_, words) => {
    const files = {
      'flow.mjs': `${PLANT}export function look() {}\nexport default 1;\n`,
      'desk.pack.json': packText({ desk: 'Hello.' }),
    };
    const cwd = await makeProject(files);
    const end = await go(cwd, ...words);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toContain('runs flow.mjs (its code can do all that you can)');
    expect(await filesIn(cwd)).toEqual(Object.keys(files).toSorted());
    const told = await served([...words, '--trust'], { cwd, asks: true });
    expect(told.stderr).not.toContain('you have not said yes');
    expect(await filesIn(cwd)).toContain('planted');
  });

  it('is asked about by no command that a trusted run proposes', async () => {
    const ask = "{ id: 'q', kind: 'ask', question: 'Ok?', output: 'q' }";
    const module = `import { definePlan } from 'skein';\nexport default definePlan({ name: 'w', nodes: [${ask}] });\n`;
    const cwd = await makeProject({ 'w.mjs': module });
    const { stderr } = await go(cwd, 'run', 'w.mjs', '--trust');
    const [, proposed = ''] = /^ {2}skein (resume .*)$/m.exec(stderr) ?? [];
    expect(proposed).toMatch(/^resume \S+ --trust$/);
    expect(await go(cwd, ...proposed.split(' '))).toMatchObject({ code: 5 });
    const refused = await go(cwd, 'resume', '-1');
    expect(refused.stderr).toContain('error untrusted-file: w.mjs can do more than read the project');
    expect(refused.stderr).toContain('when you trust it: skein trust w.mjs, or --trust');
  });

  it('of a conversation is asked about at its next event, and not to look at it', async () => {
    const states = { open: { prompt_task: 'open', on_event: { done: 'end' } }, end: { prompt_task: 'end' } };
    const pack = packText({ open: 'Hello.', end: 'Bye.' }, states);
    const cwd = await makeProject({ 'desk.pack.json': pack, 'tools.mjs': 'export function look() {}\n' });
    const first = ['run', 'desk.pack.json', '--mock', '--tools', 'tools.mjs', '--message', 'Hi', '--thread', 'ada'];
    expect(await go(cwd, ...first, '--trust')).toMatchObject({ code: 5 });
    expect(await go(cwd, 'event', 'ada', 'done')).toMatchObject({ code: 2 });
    expect(await go(cwd, 'context', 'ada')).toMatchObject({ code: 0 });
    expect(await go(cwd, 'trust', 'tools.mjs', '--yes')).toMatchObject({ code: 0 });
    expect(await go(cwd, 'event', 'ada', 'done')).toMatchObject({ code: 0 });
  });
});

describe('skein new', () => {
  it('writes what needs no yes until it is changed', async () => {
    const cwd = await makeProject();
    await go(cwd, 'new', 'mine', '--ts');
    const look = async () => (await go(cwd, 'validate', 'mine/flow.ts', '--powers')).stdout;
    expect(await look()).toContain('is trusted as it is');
    await appendFile(join(cwd, 'mine/flow.ts'), '\n');
    expect(await look()).toContain('is not trusted');
  });
});

describe('a pack', () => {
  it('is trusted as a file, whatever talks with it', async () => {
    const metadata = { skein: { supervise: { model: 'script/judge.yaml' } } };
    const cwd = await makeProject({ 'desk.pack.json': packText({ desk: 'Hello.' }, undefined, { metadata }) });
    const say = ['run', 'desk.pack.json', '--model', 'mock/echo', '--message', 'Hi', '--prompt', 'desk'];
    const end = await go(cwd, ...say);
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(/desk\.pack\.json can do more[^]*follows judge\.yaml/);
    await go(cwd, 'trust', 'desk.pack.json', '--yes');
    expect((await go(cwd, ...say)).stderr).not.toContain('you have not said yes');
  });
});

const missing = noTerminal();
if (missing !== undefined) console.log(`questions on a terminal are not shown: ${missing}`);

describe.skipIf(missing !== undefined)('on a terminal', () => {
  const asked = async (cwd: string, answer: string) => {
    const run = startOnTerminal(['run', 'flow.yaml', '--no-color'], { cwd, asks: true });
    await run.seen('trust it? (y/n) > ');
    run.child.stdin?.write(`${answer}\n`);
    const end = await run.ended;
    return { code: end.code, text: visible(end.stdout) };
  };

  test('[T10] the user is asked, and a yes is noted', async () => {
    const cwd = await makeProject(FILES);
    const { code, text } = await asked(cwd, 'y');
    expect(text).toContain('follows answers.yaml (model of agent a)');
    expect(code).toBe(0);
    expect(await go(cwd, 'run', 'flow.yaml')).toMatchObject({ code: 0 });
  });

  test('[T10] any other answer is none', async () => {
    const cwd = await makeProject(FILES);
    expect((await asked(cwd, '')).code).toBe(2);
    expect((await asked(cwd, 'n')).code).toBe(2);
    expect(await filesIn(cwd)).toEqual(Object.keys(FILES).toSorted());
  });
});
