import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHAIN, ROOT, documentOf, filesIn, makeProject } from './support/skein.js';
import { served } from './support/served.js';

describe('validate', () => {
  test('each file gets its verdict; one that is not valid makes the exit code 2', async () => {
    const cwd = await makeProject({ 'good.yaml': CHAIN, 'bad.yaml': 'name: bad\nstepps: []\n' });
    const good = await served(['validate', 'good.yaml'], { cwd });
    expect(good).toMatchObject({ code: 0, stdout: 'good.yaml is valid\n', stderr: '' });
    const both = await served(['validate', 'bad.yaml', 'good.yaml', 'none.yaml'], { cwd });
    expect(both.code).toBe(2);
    expect(both.stdout).toBe('good.yaml is valid\n');
    expect(both.stderr).toContain('bad.yaml:2:1: error unknown-key');
    expect(both.stderr).toContain('bad.yaml is not valid: 1 error');
    expect(both.stderr).toContain('none.yaml is not valid: 1 error\n');
  });

  test('inputs without a value are no problem of the definition', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN.replace(', default: looms', '') });
    expect((await served(['validate', 'flow.yaml'], { cwd })).code).toBe(0);
  });
});

describe('graph', () => {
  test('draws in Mermaid or DOT', async () => {
    const cwd = await makeProject({ 'flow.yaml': CHAIN });
    const mermaid = await served(['graph', 'flow.yaml', '--format', 'mermaid'], { cwd });
    expect(mermaid.code).toBe(0);
    expect(mermaid.stdout).toMatch(/^flowchart TD\n(.*\n)* {2}n0 --> n1\n$/);
    const dot = await served(['graph', 'flow.yaml', '--format', 'dot'], { cwd });
    expect(dot.stdout).toMatch(/^digraph "chain" \{\n(.*\n)*\}\n$/);
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
  });
});

describe('plan', () => {
  const flow = CHAIN.replace(', default: looms', '').replace('id: text,', 'id: text, model: openai/gpt-5,');

  test('shows levels, prompts with what is still open, missing inputs and the number of calls; it needs no model', async () => {
    const cwd = await makeProject({ 'flow.yaml': flow });
    const end = await served(['plan', 'flow.yaml'], { cwd });
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout).toContain('input topic: required, not given (what it is about)');
    expect(end.stdout).toMatch(/level 1\n {2}facts \(agent writer; model of the environment; no tools\)/);
    expect(end.stdout).toMatch(/level 2\n {2}text \(agent writer; openai\/gpt-5; no tools\)\n {4}after facts/);
    expect(end.stdout).toContain('│ Facts about {{inputs.topic}}');
    expect(end.stdout).toContain('model calls: 2 typically, 6 at most');
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
  });

  test('--json has the same, with inputs that are given filled in', async () => {
    const cwd = await makeProject({ 'flow.yaml': flow });
    const end = await served(['plan', 'flow.yaml', '--json', '-i', 'topic=nets'], { cwd });
    expect(JSON.parse(end.stdout)).toMatchObject({
      valid: true,
      inputs: [{ name: 'topic', required: true, given: true }],
      levels: [['facts'], ['text']],
      steps: [
        { id: 'facts', after: [], models: [], tools: [], prompt: 'Facts about nets', system: 'You write.' },
        { id: 'text', after: ['facts'], models: ['openai/gpt-5'], prompt: 'Text from {{steps.facts.output}}' },
      ],
      modelCalls: { typical: 2, worst: 2 * 3 },
      toolCalls: { typical: 0, worst: 0 },
    });
  });
});

test.each([['validate'], ['graph'], ['plan'], ['plan', '--json'], ['run', '--dry-run']])(
  '%s %s of a file with problems: all of them, exit 2, and nothing is drawn',
  async (...words) => {
    const cwd = await makeProject({ 'bad.yaml': 'name: bad\nstepps: []\nagentss: {}\n' });
    const end = await served([...words, 'bad.yaml'], { cwd });
    expect(end.code).toBe(2);
    expect(end.stdout + end.stderr).toMatch(/did you mean \\?"steps\\?"\?[^]*did you mean \\?"agents\\?"\?/);
    expect(end.stdout).not.toMatch(/flowchart|level 1/);
    expect(await filesIn(cwd)).toEqual(['bad.yaml']);
  },
);

describe('doctor', () => {
  test('names what is usable and what to do, and never a key', async () => {
    const cwd = await makeProject();
    const key = 'sk-test-0123456789abcdef';
    const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: 'http://user:word@127.0.0.1:9/v1' };
    const end = await served(['doctor'], { cwd, env });
    expect(end.code).toBe(0);
    expect(end.stdout).toMatch(/✔ openai .*usable; OPENAI_API_KEY is set/);
    expect(end.stdout).toMatch(/○ anthropic .*set ANTHROPIC_API_KEY/);
    expect(end.stdout).toContain(`Node ${process.versions.node}`);
    expect(end.stdout).toMatch(/○ azure .*npm install @ai-sdk\/azure@3/);
    expect(end.stdout).toContain(
      'tools of every agent: read_file, list_dir, glob, grep; of agents that name them: write_file,',
    );
    const json = await served(['doctor', '--json'], { cwd, env });
    const report = JSON.parse(json.stdout) as { readonly providers: readonly { id: string; usable: boolean }[] };
    expect(report.providers.filter((provider) => provider.usable).map((provider) => provider.id)).toEqual(['openai']);
    for (const text of [end.stdout, json.stdout]) expect(text).not.toMatch(/sk-test|user|word@/);
  });
});

describe('new', () => {
  test('of an empty name is refused with what to type', async () => {
    const refused = await served(['new', ''], { cwd: await makeProject() });
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toBe(
      'error SKEIN_USAGE: the name of the new folder is empty\n    hint: name it, such as: skein new weekly-report\n',
    );
  });

  test('the template pipeline is a loop with its script, for skein exec', async () => {
    const cwd = await makeProject();
    const made = await served(['new', 'mine', '--template', 'pipeline'], { cwd });
    expect(made).toMatchObject({
      code: 0,
      stdout: 'made mine with workflow.yaml, script.yaml, schema/pipeline.json, schema/script.json\n',
    });
    const [, command = ''] = /next: .*\n {2}skein (exec .*)\n/.exec(made.stderr) ?? [];
    const end = await served(command.split(' ').concat('--json', '--no-audit'), { cwd });
    expect(end.code).toBe(0);
    expect(documentOf(end)).toMatchObject({ outcome: 'succeeded', context: { order: ['draft', 'review', 'final'] } });
    expect((await served(['validate', 'mine/workflow.yaml'], { cwd })).stderr).toBe('');
  });

  test.each([
    ['chain', 0],
    ['fan-out', 0],
    ['question', 0],
  ])('the template %s is a workflow that runs with its script', async (template, code) => {
    const cwd = await makeProject();
    const made = await served(['new', 'mine', '--template', template], { cwd });
    expect(made.code).toBe(0);
    expect(made.stdout).toBe(
      'made mine with workflow.yaml, agents/writer.agent.md, script.yaml, schema/dag.json, schema/script.json\n',
    );
    const [, command] = /next: .*\n {2}skein (.*)\n/.exec(made.stderr) ?? [];
    const end = await served((command ?? '').split(' ').concat('--json', '--no-audit'), { cwd });
    expect(end.code).toBe(code);
    expect(documentOf(end)).toMatchObject({ workflow: 'mine', outcome: 'succeeded', census: { notRun: 0 } });
    expect((await served(['run', 'mine/workflow.yaml', '--mock', '--no-audit'], { cwd })).code).toBe(0);
  });
});

describe('version', () => {
  test.each([['--version'], ['-V']])('%s prints the version of the package', async (word) => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
    const end = await served([word], { cwd: await makeProject() });
    expect(end).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});
