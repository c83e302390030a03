import { existsSync, readFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { programOf } from '../programs.js';
import { packText } from './support/packs.js';
import { served } from './support/served.js';
import { makeProject, runFolder, startSkein } from './support/skein.js';

const tool = (name: string) => ({ name, description: name, parameters: { type: 'object', properties: {} } });
const COMPOSED = packText(
  { say: 'You sum up. {{input}}' },
  { main: { orchestration: 'composition', composition: 'c', terminal: true } },
  {
    tools: { find: tool('find'), note: tool('note') },
    compositions: {
      c: {
        version: 1,
        output: 'told',
        steps: [
          { id: 'found', kind: 'tool', tool: 'find', args: { name: '${input.text}' } },
          { id: 'noted', kind: 'tool', tool: 'note', args: { age: '${found.output.age}' } },
          { id: 'told', kind: 'prompt', prompt_task: 'say', input: '${found.output.age}, ${noted.output}' },
        ],
      },
    },
  },
  // No one vouches for the age that the first tool gives.
).replace('"version": 2,', '"version": 2, "engine": { "skein": { "sends": [{ "tool": "note", "free": ["age"] }] } },');

describe('what a script says that tools give', () => {
  it('[issue 6] answers the tool steps of a composition: a value stays a value, a tool without one says that it did not run', async () => {
    const script = `tools: [{ tool: find, input: { name: Ada }, result: { age: 36 } }]\nrules: [{ agent: say, prompt: "36, not run", answer: She is 36. }]\n`;
    const cwd = await makeProject({ 'c.pack.json': COMPOSED, 'script.yaml': script });
    const run = ['run', 'c.pack.json', '--mock=script.yaml', '--message', 'Ada'];
    expect(await served(run, { cwd })).toMatchObject({ code: 0, stdout: 'She is 36.\n' });
    expect(await served([...run, '--no-store'], { cwd })).toMatchObject({ code: 0, stdout: 'She is 36.\n' });
    const echo = await served(['run', 'c.pack.json', '--mock', '--message', 'Ada'], { cwd });
    expect(echo.code).toBe(3);
    expect(echo.stderr).toContain('${found.output.age}');
  });

  it('[XS1] answers calls of commands, addresses and tool servers that a run with --mock does not start', async () => {
    const calls = ['{ name: shell, input: { argv: [ls] } }', '{ name: mcp_kit_look, input: { q: 1 } }'];
    const cwd = await makeProject({
      'a.agent.md': '---\nname: a\ntools: [shell, kit/*]\nmcp-servers: { kit: { command: none } }\n---\nYou work.\n',
      'flow.yaml': 'name: t\nagents: { a: { file: a.agent.md } }\nsteps: [{ id: s, agent: a, prompt: hello }]\n',
      'script.yaml': `tools:\n  - { tool: shell, result: two files }\n  - { tool: mcp_kit_look, input: { q: 1 }, result: [seen] }\nrules: [{ answers: [{ tools: [${calls.join(', ')}] }, done] }]\n`,
    });
    const { code, stdout } = await served(
      ['run', 'flow.yaml', '--mock=script.yaml', '--stream', '--audit-dir', '.workflow-runs'],
      { cwd },
    );
    expect({ code, stdout }).toMatchObject({ code: 0 });
    const stream = [...(await runFolder(cwd))]
      .map(([name, text]) => (name.endsWith('stream.jsonl') ? text : ''))
      .join('');
    expect(stream).toContain('two files');
    expect(stream).toContain(String.raw`[\"seen\"]`);
  });
});

describe('--agent', () => {
  const pack = packText(
    { one: 'You are one.', two: 'You are two.' },
    { first: { prompt_task: 'one', on_event: { Go: 'second' } }, second: { prompt_task: 'two', on_event: {} } },
    { agents: { entry: 'one', members: { one: { state: 'second' }, two: {} } } },
  );
  const script = 'strict: false\nrules: [{ agent: two, answer: Two., repeat: true }]\n';

  it('[43] [A13] begins in the state of an agent, or talks with its prompt alone; an unknown one is refused', async () => {
    const cwd = await makeProject({ 'a.pack.json': pack, 'script.yaml': script });
    const run = ['run', 'a.pack.json', '--mock=script.yaml', '--message', 'Hi'];
    const there = await served([...run, '--agent', 'one', '--thread', 'ada'], { cwd });
    expect(there).toMatchObject({ stdout: 'Two.\n' });
    expect(JSON.parse((await served(['context', 'ada'], { cwd })).stdout)).toMatchObject({ current_state: 'second' });
    const again = await served([...run, '--agent', 'one', '--thread', 'ada'], { cwd });
    expect(again.stderr).toContain('workflow is in terminal state');
    const alone = await served([...run, '--agent', 'two'], { cwd });
    expect(alone).toMatchObject({ code: 5, stdout: 'Two.\n' });
    const unknown = await served([...run, '--agent', 'tow'], { cwd });
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toContain('did you mean "two"?');
    const both = await served([...run, '--agent', 'two', '--state', 'first'], { cwd });
    expect(both.stderr).toContain('begins by one flag alone, not by --agent and --state');
  });
});

const hasSignals = process.platform === 'linux';
if (!hasSignals) console.info('note: processes are looked up in /proc, so tests of the servers of packs are skipped');

describe.skipIf(!hasSignals)('a tool server that --tools brings along', () => {
  const SERVER = resolve(import.meta.dirname, '../agent/support/mcp-tool-server.ts');
  const PACK = packText(
    { desk: { system_template: 'You are the desk.', tools: ['echo'] } },
    { desk: { prompt_task: 'desk', terminal: true } },
    {
      tools: { echo: tool('echo') },
    },
  ).replace('"version": 2,', '"version": 2, "engine": { "budget": { "max_tool_calls": 2 } },');
  const rules = (...answers: string[]): string => `rules: [{ agent: desk, answers: [${answers.join(', ')}] }]\n`;
  const CALL = '{ tools: [{ name: mcp_kit_echo, input: { text: hello } }] }';

  async function project(script: string): Promise<string> {
    const server = { command: process.execPath, args: [await programOf(SERVER), 'tools=echo', 'pids=pid'] };
    return await makeProject({
      'desk.pack.json': PACK,
      'tools.mjs': `export const mcpServers = { kit: ${JSON.stringify(server)} };\n`,
      'script.yaml': script,
    });
  }
  const RUN = ['run', 'desk.pack.json', '--tools', 'tools.mjs', '--model', 'script/script.yaml', '--message', 'Hi'];
  const pidOf = (cwd: string): number => Number(readFileSync(join(cwd, 'pid'), 'utf8'));
  const isRunning = (pid: number): boolean =>
    existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

  it.each([
    ['that ends', rules(CALL, 'It said hello.'), 0, 'It said hello.\n'],
    ['that fails', rules(CALL, '{ error: { status: 401, message: no } }'), 3, ''],
    ['that a bound ends', rules(CALL, CALL), 6, ''],
  ])('[issue 6] is started for a turn and is gone after a turn %s', async (_, script, code, stdout) => {
    const cwd = await project(script);
    const end = await startSkein(RUN, { cwd, input: '' }).ended;
    expect({ ...end, stderr: '' }).toMatchObject({ code, stdout });
    expect(isRunning(pidOf(cwd))).toBe(false);
  });

  it('a call of it waits for a person where approve names the tool, by its own name or with that of the server', async () => {
    for (const name of ['echo', 'mcp_kit_echo']) {
      const cwd = await project(rules(CALL, 'It said hello.'));
      await appendFile(join(cwd, 'tools.mjs'), `export const approve = { ${name}: true };\n`);
      const asking = await served(RUN, { cwd });
      expect(asking).toMatchObject({ code: 5, stdout: '' });
      expect(asking.stderr).toContain('May the agent "desk" call mcp_kit_echo?');
      expect(await served([...RUN, '--yes'], { cwd })).toMatchObject({ code: 0, stdout: 'It said hello.\n' });
    }
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('[issue 6] is gone after %s', async (signal) => {
    const cwd = await project(rules(CALL, '{ text: Late., delay: 1000s }'));
    const running = startSkein([...RUN, '--verbose'], { cwd });
    await running.seen('mcp_kit_echo');
    running.child.kill(signal);
    expect((await running.ended).code).toBe(signal === 'SIGKILL' ? null : 130);
    while (isRunning(pidOf(cwd))) await sleep(10);
  });
});
