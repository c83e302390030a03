import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CORPUS, hasCorpus } from '../notations/corpus.js';
import { served } from './support/served.js';
import { makeProject } from './support/skein.js';
import type { Ended } from './support/skein.js';

const AGENTFILE = `# Notes on a topic.
NAME notes
INPUT topic
INPUT depth DEFAULT "deep"

# Who finds mistakes.
AGENT critic "You criticise." REQUIRES "fast"
AGENT friend "You praise."

GOAL draft "Write about $topic at $depth level." -> title, text
GOAL review "Review $text." USING critic, friend

RUN main USING draft, review
`;
const CONFIG = '[llm]\nmodel = "openai/gpt-5"\n[profiles.fast]\nmodel = "openai/gpt-5-mini"\n';
const SCRIPT = `rules:
  - step: draft
    answer: '{ "title": "Looms", "text": "A loom weaves." }'
  - agent: critic
    answer: Too short.
  - agent: friend
    answer: Very clear.
  - step: review/synthesis
    prompt: Too short.
    answer: Short and clear.
`;
const FILES = { Agentfile: AGENTFILE, 'agent.toml': CONFIG, 'script.yaml': SCRIPT };

async function project(files: Readonly<Record<string, string>> = FILES) {
  const cwd = await makeProject(files);
  const skein = async (...args: readonly string[]): Promise<Ended> => await served(args, { cwd });
  return { cwd, skein };
}

describe('an Agentfile on the command line', () => {
  it('[issue 14] run takes inputs and a script, tells its tools, and prints what goals gave', async () => {
    const { skein } = await project();
    const { code, stdout, stderr } = await skein('run', 'Agentfile', '--input', 'topic=looms', '--mock=script.yaml');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain('Short and clear.');
    expect(stderr).toContain('tools: read_file, list_dir, glob, grep (by default: they only read); further ones');
    const echo = await skein('run', 'Agentfile', '--input', 'topic=looms', '--mock', '--json');
    expect(JSON.parse(echo.stdout)).toMatchObject({ outcome: 'succeeded' });
  });

  it('[issue 14] validate, plan, graph and the JSON of a plan', async () => {
    const { skein } = await project();
    expect(await skein('validate', 'Agentfile')).toMatchObject({ code: 0, stdout: 'Agentfile is valid\n' });
    const { code, stdout } = await skein('plan', 'Agentfile', '--input', 'topic=looms', '--tools', 'write');
    expect(code).toBe(0);
    expect(stdout).toContain('Write about looms at deep level.');
    expect(stdout).toContain('tools: read_file, list_dir, glob, grep (by default: they only read), write (by --tools)');
    const { stdout: json } = await skein('plan', 'Agentfile', '--json');
    expect(JSON.parse(json)).toMatchObject({ notation: 'agentfile', notes: [expect.stringContaining('tools: ')] });
    expect((await skein('graph', 'Agentfile', '--format', 'mermaid')).stdout).toContain('review');
  });

  it('an Agentfile is known by its name, by .agent, and by its first line', async () => {
    const { skein } = await project({
      'a.agent': 'GOAL a "A."\nRUN r USING a\n',
      notes: '# One\n\nNAME t\nGOAL a "A."\nRUN r USING a\n',
    });
    expect((await skein('validate', 'a.agent', 'notes')).code).toBe(0);
    const { code, stderr } = await skein('run', 'a.agnt');
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean a.agent?') as string,
    });
  });

  it('a missing input and a misspelt one are told before anything runs', async () => {
    const { cwd, skein } = await project();
    const missing = await skein('run', 'Agentfile', '--mock');
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('the input "topic" is not given');
    const { code, stderr } = await skein('run', 'Agentfile', '--mock', '--input', 'topik=x');
    expect(code).toBe(2);
    expect(stderr).toContain('did you mean "topic"?');
    expect(existsSync(join(cwd, '.skein'))).toBe(false);
  });

  it('[D7] --config and --tools count for run and resume, and are refused for other files', async () => {
    const more = {
      ...FILES,
      'ci.toml': '[llm]\nmodel = "openai/gpt-4o"\n',
      'flow.yaml':
        'name: a\nagents: { w: { inline: { prompt: You write. } } }\nsteps: [{ id: a, agent: w, prompt: hi }]\n',
    };
    const { skein } = await project(more);
    const { stdout } = await skein('plan', 'Agentfile', '--config', 'ci.toml');
    expect(stdout).toContain('agent draft; openai/gpt-4o;');
    const run = await skein(
      'run',
      'Agentfile',
      '--input',
      'topic=x',
      '--mock=script.yaml',
      '--config',
      'ci.toml',
      '--tools',
      'bash',
    );
    expect(run.code).toBe(0);
    const resumed = await skein('resume', '-1');
    expect(resumed.code).toBe(0);
    expect(resumed.stderr).not.toContain('is not what the run');
    for (const flags of [
      ['--config', 'ci.toml'],
      ['--tools', 'write'],
    ]) {
      const { code, stderr } = await skein('validate', 'flow.yaml', ...flags);
      expect({ code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`${flags[0] ?? ''} is for Agentfiles`) as string,
      });
    }
    expect(await skein('run', 'Agentfile', '--mock', '--input', 'topic=x', '--tools', 'tools.mjs')).toMatchObject({
      code: expect.any(Number) as number,
      stderr: expect.stringContaining('tools.mjs') as string,
    });
  });

  it('[addition 7] rules of policy.toml that nothing enforces keep a run from starting, and are named; the file can be looked at', async () => {
    const { cwd, skein } = await project({
      ...FILES,
      'policy.toml': '[bash]\nenabled = true\nrate_limit = 30\n',
    });
    const run = await skein('run', 'Agentfile', '--input', 'topic=x', '--mock');
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(
      'policy.toml:3:1: error policy-not-enforced: the rule bash.rate_limit is not enforced',
    );
    expect(existsSync(join(cwd, '.skein'))).toBe(false);
    for (const command of ['validate', 'plan', 'graph']) {
      const { code, stderr } = await skein(command, 'Agentfile');
      expect({ command, code, stderr }).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('warning policy-not-enforced') as string,
      });
    }
  });

  it('[addition 7] in a library and as a part of another file, such rules keep a run from starting too', async () => {
    const flow =
      'agents: { root: { model: mock/echo, instruction: Hi. } }\nworkflow:\n  - type: call\n    file: Agentfile\n    inputs: { topic: looms }\n';
    const { skein } = await project({ ...FILES, 'policy.toml': 'rate_limit = 30\n', 'flow.yaml': flow });
    const { code, stderr } = await skein('validate', 'flow.yaml');
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the rule rate_limit is not enforced') as string,
    });
  });

  it('an Agentfile is a step of another file', async () => {
    const flow =
      'agents: { root: { model: mock/echo, instruction: Hi. } }\nworkflow:\n  - type: call\n    file: Agentfile\n    inputs: { topic: looms }\n';
    const { skein } = await project({ ...FILES, 'flow.yaml': flow });
    const { code, stdout } = await skein('run', 'flow.yaml', '--mock');
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('## Step: call_1/review\n') as string,
    });
  });
});

describe('skein convert', () => {
  it('[issue 14] an Agentfile becomes code that runs the same, and an Agentfile again', async () => {
    const { cwd, skein } = await project();
    const { code, stdout } = await skein('convert', 'Agentfile', '--out', 'converted');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    const module = readFileSync(join(cwd, 'converted/agentfile.mjs'), 'utf8');
    expect(module).toContain("// Who finds mistakes.\nconst agent_critic = agent('critic', 'You criticise.')");
    const back = await skein('convert', 'converted/agentfile.mjs', '--out', 'back');
    expect({ code: back.code, files: readdirSync(join(cwd, 'back')).toSorted() }).toEqual({
      code: 0,
      files: ['Agentfile', 'agent.toml'],
    });
    const planOf = async (file: string) =>
      JSON.parse((await skein('plan', file, '--json')).stdout) as Readonly<Record<string, unknown>>;
    expect(await planOf('back/Agentfile')).toEqual(await planOf('Agentfile'));
    const ran = await skein('run', 'converted/agentfile.mjs', '--input', 'topic=looms', '--mock=script.yaml');
    expect({ code: ran.code, stdout: ran.stdout, stderr: ran.stderr }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Short and clear.') as string,
    });
  });

  it('without --out the main file goes to stdout, with a word about the others; nothing is overwritten', async () => {
    const { skein } = await project();
    const { stdout } = await skein('convert', 'Agentfile');
    expect(stdout).toContain("import { agent, goal, sequence, workflow } from 'skein/tree';");
    await skein('convert', 'Agentfile', '--out', 'out');
    expect(await skein('convert', 'Agentfile', '--out', 'out')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('exists already') as string,
    });
    const back = await skein('convert', 'out/agentfile.mjs');
    expect(back).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('it also needs agent.toml: --out DIR writes all files') as string,
    });
    expect(back.stdout).toMatch(/^NAME notes\n/);
  });

  it('other files, damaged ones and modules without a tree are problems', async () => {
    const { skein } = await project({
      'flow.yaml': 'name: a\nsteps: []\n',
      Agentfile: 'gaol',
      'x.mjs': 'export default 5;\n',
      'y.mjs': 'throw new Error("no")\n',
    });
    for (const [file, message] of [
      ['flow.yaml', 'is not an Agentfile'],
      ['Agentfile', 'is not a keyword'],
      ['x.mjs', 'the default export is not a tree'],
      ['y.mjs', 'no'],
      ['missing.agent', 'does not exist'],
    ] as const)
      expect(await skein('convert', file)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(message) as string,
      });
  });
});

describe.runIf(hasCorpus())('the corpus', () => {
  const folder = join(CORPUS, 'workflows/agentfile');
  const files = [
    '02-research-pipeline.agent',
    '17-debate-simulator.agent',
    '34-parallel-specialists.agent',
    'mixed-supervision.agent',
  ];

  it.each(files)(
    '[issue 14] %s loads with the prompts that it names, is drawn, and runs without its policy',
    async (file) => {
      const at = await served(['validate', join(folder, file)], { cwd: folder });
      expect({ file, code: at.code, stderr: at.stderr }).toMatchObject({ code: 0 });
      const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
        (name) => /\.(?:agent|md|toml)$/.test(name) && name !== 'policy.toml',
      );
      const { skein } = await project(
        Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')])),
      );
      const inputs = ['topic', 'codebase_path', 'code_path'].filter((name) =>
        readFileSync(join(folder, file), 'utf8').includes(`INPUT ${name}\n`),
      );
      const { code, stderr } = await skein(
        'run',
        file,
        '--mock',
        ...inputs.flatMap((name) => ['--input', `${name}=x`]),
      );
      expect({ file, code, stderr }).toMatchObject({ code: 0 });
    },
  );
});
