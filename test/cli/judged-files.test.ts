import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/index.js';
import { loadPipelineText, loadWorkflow } from '../../src/yaml.js';
import { filesIn, makeProject } from './support/skein.js';
import { served } from './support/served.js';

/** Every command that loads a workflow file. */
const COMMANDS = ['run', 'exec', 'validate', 'plan', 'graph', 'run --dry-run'];
const CALLS = ['--mock', '--no-audit'];
const argsOf = (command: string, file: string): readonly string[] => {
  const [verb = '', ...more] = command.split(' ');
  return [verb, file, ...more, ...(verb === 'run' || verb === 'exec' ? CALLS : [])];
};

/** The hook keeps calls of the shell back, where it is run. */
const HOOKED = `agents:
  root:
    instruction: You work.
    toolsets: [{ type: shell }]
    hooks: { pre_tool_use: [{ matcher: shell, hooks: [{ type: command, command: exit 2 }] }] }
permissions: { allow: [shell] }
`;
const SHELL_SCRIPT = `rules:
  - answers:
      - tools: [{ name: shell, input: { command: touch made } }]
      - done
`;
const PLAIN = 'agents: { root: { instruction: You work. } }\n';
const WITH_SUB_AGENTS =
  'agents: { root: { instruction: You work., sub_agents: [other] }, other: { instruction: You help. } }\n';
/** One warning, and nothing that is lost. */
const WARNED = 'agents: { root: { instruction: You work., welcome_message: Hello! } }\n';
const WARNED_DAG =
  'name: flow\nconfig: { telemetry: { otlp_endpoint: "http://127.0.0.1:1" } }\nagents: { a: { inline: { prompt: You work. } } }\nsteps: [{ id: s, agent: a, prompt: Hello }]\n';
const WARNED_MODULE = `import { graph } from 'skein/graph';
export default graph().addNode('a', () => ({})).addNode('b', () => ({})).setEntry('a');
`;

describe('a file that asks for what Skein does not do', () => {
  test.each(COMMANDS)('[XP2] %s refuses it, unless --lenient says to go without', async (command) => {
    const cwd = await makeProject({ 'flow.yaml': WITH_SUB_AGENTS });
    const refused = await served(argsOf(command, 'flow.yaml'), { cwd });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      'flow.yaml:1:43: error not-supported: sub_agents of agent "root" is not supported: without it the file means something else',
    );
    expect(refused.stderr).toContain('hint: write the order of the agents as steps of workflow; --lenient');
    expect(await filesIn(cwd)).toEqual(['flow.yaml']);
    const lenient = await served([...argsOf(command, 'flow.yaml'), '--lenient'], { cwd });
    expect(lenient.code).toBe(0);
    expect(lenient.stderr).toContain('warning not-supported: sub_agents of agent "root" is not supported');
  });

  test('[XP2] a hook that keeps calls back is never dropped without a word: no call is made', async () => {
    const cwd = await makeProject({ 'flow.yaml': HOOKED, 'answers.yaml': SHELL_SCRIPT });
    const args = ['run', 'flow.yaml', '--model', 'script/answers.yaml', '--no-audit'];
    const refused = await served(args, { cwd });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('hooks of agent "root" is not supported: without it the file is less safe');
    expect(existsSync(join(cwd, 'made'))).toBe(false);
    expect((await served([...args, '--lenient'], { cwd })).code).toBe(0);
    expect(existsSync(join(cwd, 'made'))).toBe(true);
  });

  test('[XP2] resume and fork refuse a file that came to ask for it, and a lenient run stays lenient', async () => {
    const cwd = await makeProject({ 'flow.yaml': PLAIN });
    expect((await served(['run', 'flow.yaml', ...CALLS], { cwd })).code).toBe(0);
    await writeFile(join(cwd, 'flow.yaml'), WITH_SUB_AGENTS);
    for (const verb of ['resume', 'fork']) {
      const refused = await served([verb, '-1'], { cwd });
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('error not-supported: sub_agents');
    }
    expect((await served(['fork', '-1', '--lenient'], { cwd })).code).toBe(0);
    const again = await served(['resume', '-1'], { cwd });
    expect(again.code).toBe(0);
    expect(again.stderr).toContain('warning not-supported: sub_agents');
    expect((await served(['resume', '-1', '--strict'], { cwd })).code).toBe(2);
  });

  test('[XP2] so does the library', async () => {
    const cwd = await makeProject({ 'flow.yaml': HOOKED });
    const refused = await loadWorkflow('flow.yaml', { cwd });
    expect(refused.plan).toBeUndefined();
    expect(refused.problems).toMatchObject([{ code: 'not-supported', severity: 'error', at: { line: 5 } }]);
    const lenient = await loadWorkflow('flow.yaml', { cwd, lenient: true });
    expect(lenient.plan).toBeDefined();
    expect(lenient.problems).toMatchObject([{ code: 'not-supported', severity: 'warning' }]);
    expect((await loadWorkflow('flow.yaml', { cwd, lenient: true, strict: true })).plan).toBeUndefined();
  });

  test('[XP2] a file that is called is judged as its caller is', async () => {
    const caller = 'agents: { a: { instruction: x } }\nworkflow: [{ type: call, file: inner.yaml }]\n';
    const cwd = await makeProject({ 'flow.yaml': caller, 'inner.yaml': WITH_SUB_AGENTS });
    const refused = await served(['validate', 'flow.yaml'], { cwd });
    expect(refused.stderr).toContain('inner.yaml:1:43: error not-supported');
    expect((await served(['validate', 'flow.yaml', '--lenient'], { cwd })).code).toBe(0);
  });

  test('[XP2] an agent file of another system that a step uses, and no other', async () => {
    const files = {
      '.claude/agents/a.md': '---\nname: a\nhooks: { PreToolUse: [x] }\n---\nYou work.\n',
      '.claude/agents/b.md': '---\nname: b\n---\nYou work.\n',
    };
    const dag = (agent: string): string => `name: flow\nsteps: [{ id: s, agent: ${agent}, prompt: Hello }]\n`;
    const cwd = await makeProject({ ...files, 'a.yaml': dag('a'), 'b.yaml': dag('b') });
    const refused = await served(['run', 'a.yaml', ...CALLS], { cwd });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('.claude/agents/a.md:3:1: error not-supported: hooks of the agent');
    expect((await served(['run', 'a.yaml', ...CALLS, '--lenient'], { cwd })).code).toBe(0);
    expect(await served(['validate', 'b.yaml', '--strict'], { cwd })).toMatchObject({
      code: 0,
      stderr: 'agent b: .claude/agents/b.md\n',
    });
  });
});

describe('--strict', () => {
  test.each(COMMANDS)('[XP2] %s takes every warning for an error', async (command) => {
    const cwd = await makeProject({ 'flow.yaml': WARNED, 'dag.yaml': WARNED_DAG });
    for (const file of ['flow.yaml', 'dag.yaml']) {
      const plain = await served(argsOf(command, file), { cwd });
      expect(plain.code).toBe(0);
      expect(plain.stderr).toMatch(/ warning /);
      const strict = await served([...argsOf(command, file), '--strict'], { cwd });
      expect(strict.code).toBe(2);
      expect(strict.stderr).not.toMatch(/ warning /);
      expect(strict.stderr).toMatch(/ error n\S+: /);
    }
  });

  test('[XP2] so it does of a module, of a prompt that nothing reads, and in the library', async () => {
    const unread = `${PLAIN}workflow: [{ type: agent, name: root, prompt: Hello }]\n`;
    const cwd = await makeProject({ 'flow.mjs': WARNED_MODULE, 'flow.yaml': WARNED, 'unread.yaml': unread });
    expect((await served(['validate', 'flow.mjs'], { cwd })).stderr).toContain('warning unreachable');
    expect(await served(['validate', 'flow.mjs', '--strict'], { cwd })).toMatchObject({ code: 2 });
    expect((await served(['exec', 'unread.yaml', 'Hi', ...CALLS], { cwd })).code).toBe(0);
    expect((await served(['exec', 'unread.yaml', 'Hi', ...CALLS, '--strict'], { cwd })).code).toBe(2);
    const { plan, problems } = await loadWorkflow('flow.yaml', { cwd, strict: true });
    expect(plan).toBeUndefined();
    expect(problems).toMatchObject([{ severity: 'error', code: 'not-supported' }]);
  });

  test('[XP2] and --lenient exclude each other', async () => {
    const cwd = await makeProject({ 'flow.yaml': PLAIN });
    const both = await served(['validate', 'flow.yaml', '--strict', '--lenient'], { cwd });
    expect(both.code).toBe(1);
    expect(both.stderr).toContain("'--lenient' cannot be used with option '--strict'");
  });
});

describe('settings of files for cagent', () => {
  test('[XP7] version: one that nobody knows is refused', async () => {
    const cwd = await makeProject({ 'new.yaml': `version: "99"\n${PLAIN}`, 'old.yaml': `version: "4"\n${PLAIN}` });
    const end = await served(['validate', 'new.yaml'], { cwd });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('new.yaml:1:10: error unknown-value: version of the file is "99"');
    expect(await served(['validate', 'old.yaml', '--strict'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  });

  test('[XP7] model of a toolset: a warning', async () => {
    const text = 'agents: { root: { toolsets: [{ type: shell, model: openai/gpt-5-mini }] } }\n';
    const cwd = await makeProject({ 'flow.yaml': text });
    const end = await served(['validate', 'flow.yaml'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stderr).toContain('warning not-supported: model of toolset shell of agent "root"');
  });

  test('[XP7] several models in one text: a warning, since cagent draws one at random', async () => {
    const text = 'agents: { root: { model: "openai/gpt-5-mini,anthropic/claude-sonnet-5" } }\n';
    const cwd = await makeProject({ 'flow.yaml': text });
    const end = await served(['validate', 'flow.yaml'], { cwd });
    expect(end.code).toBe(0);
    expect(end.stderr).toContain('warning model-order: agent "root" tries the models');
  });

  const SEARCH = `rules:
  - answers:
      - tools: [{ name: grep, input: { pattern: "n[e]edle", regex: true } }]
      - done
`;
  test.each([
    ['', 'a.txt:1: needle'],
    [', ignore_vcs: true', 'a.txt:1: needle'],
    [', ignore_vcs: false', 'a.txt:1: needle\nnode_modules/b.txt:1: needle'],
  ])('[XP7] {type: filesystem%s} searches accordingly', async (key, found) => {
    const cwd = await makeProject({ 'a.txt': 'needle', 'node_modules/b.txt': 'needle', '.git/c.txt': 'needle' });
    await writeFile(join(cwd, 'answers.yaml'), SEARCH);
    const text = `agents: { root: { toolsets: [{ type: filesystem${key} }] } }\n`;
    const workflow = await loadPipelineText(text, { cwd });
    const outputs: string[] = [];
    const { result } = run(workflow, {
      cwd,
      models: { env: {}, script: 'answers.yaml', cwd },
      listeners: [
        (event) => {
          if (event.type === 'step.note' && event.note.kind === 'tool.ended') outputs.push(event.note.output);
        },
      ],
    });
    expect((await result).outcome).toBe('succeeded');
    expect(outputs).toEqual([found]);
  });

  test.each([
    ['parallel_tool_calls: false', 'one two '],
    ['seed: 1', 'two one '],
  ])('[XP7] with %s the calls of a turn write "%s"', async (setting, written) => {
    const waits = 'i=0; while [ ! -e done ] && [ $i -lt 20 ]; do sleep 0.1; i=$((i+1)); done; printf \\"one \\" >> out';
    const script = `rules:
  - answers:
      - tools:
          - name: shell
            input: { command: "sh -c '${waits}'" }
          - name: shell
            input: { command: "sh -c 'printf \\"two \\" >> out; touch done'" }
      - done
`;
    const text = `models: { m: { provider: mock, model: echo, ${setting} } }
agents: { root: { model: m, toolsets: [{ type: shell }] } }
permissions: { allow: [shell] }
`;
    const cwd = await makeProject({ 'flow.yaml': text, 'answers.yaml': script });
    const end = await served(['run', 'flow.yaml', '--model', 'script/answers.yaml', '--no-audit'], { cwd });
    expect(end.code).toBe(0);
    expect(await readFile(join(cwd, 'out'), 'utf8')).toBe(written);
  });
});
