import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runWorkflow } from '../../../src/runtime.js';
import type { WorkflowRunOptions } from '../../../src/runtime.js';
import type { SkeinEvent } from '../../../src/events/event.js';
import { loadPipeline } from '../../../src/yaml.js';
import { FakeProvider } from '../../agent/support/fake-provider.js';
import { groupRuns, folder } from '../../tools/support/session.js';
import { pidFile, toolServer } from '../../mcp/support.js';

const call = (id: string, name: string, input: object) => ({ id, name, input: JSON.stringify(input) });

/** Loads a file and runs it, in a folder of its own. */
async function runFile(text: string, more: Partial<WorkflowRunOptions> = {}, teamHost?: string) {
  const cwd = await folder();
  await writeFile(join(cwd, 'team.yaml'), text);
  const workflow = await loadPipeline('team.yaml', { cwd });
  expect(workflow.problems).toEqual([]);
  const events: SkeinEvent[] = [];
  const env = {
    PATH: process.env['PATH'],
    TEAM_KEY: 'secret-key',
    TEAM_BASE_URL: teamHost,
    KIT_TOKEN: 'from-the-environment',
  };
  const { result } = await runWorkflow(workflow, {
    cwd,
    models: { env, noProbe: true },
    listeners: [(event) => events.push(event)],
    ...more,
  });
  const ended = await result;
  const notes = events.flatMap((event) => (event.type === 'step.note' ? [event.note] : []));
  const tools = notes.flatMap((note) => (note.kind === 'tool.ended' ? [note] : []));
  return { cwd, notes, result: ended, tools };
}

describe('a file of agents, run', () => {
  it('with a real MCP server and a provider on the wire: models, settings, toolsets and rules arrive', async () => {
    await using provider = await FakeProvider.start(
      {
        calls: [
          call('1', 'mcp_kit_echo', { text: 'hello' }),
          call('2', 'mcp_kit_env', {}),
          call('3', 'shell', { argv: ['sh', '-c', 'cd . && rm -rf notes.md'] }),
          call('4', 'write_file', { path: 'notes.md', content: 'first' }),
          call('5', 'think', { thought: 'so far so good' }),
        ],
      },
      { calls: [call('6', 'create_todo', { description: 'read it' }), call('7', 'add_it', {})] },
      { calls: [call('8', 'read_file', { path: 'notes.md' }), call('9', 'list_todos', {})] },
      { text: 'All done.' },
    );
    const pids = await pidFile();
    const { command, args = [] } = toolServer('tools=echo,env,args', `pids=${pids.path}`);
    const { cwd, result, tools, notes } = await runFile(
      `
version: "4"
models:
  team: {provider: gateway, model: team-model, temperature: 0.25, max_tokens: 321}
providers:
  gateway: {api_type: openai_chatcompletions, base_url: ${provider.baseUrl}, token_key: TEAM_KEY}
mcps:
  kit: {command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)}, env: {KIT: "\${env.KIT_TOKEN}"}}
permissions:
  deny: ["shell:cmd=rm *"]
  allow: ["mcp:kit:echo", "write_file:path=*.md", shell]
agents:
  root:
    model: team
    instruction: You keep notes.
    add_date: true
    add_environment_info: true
    toolsets:
      - {type: filesystem}
      - {type: shell}
      - {type: think}
      - {type: todo, tools: [create_todo, list_todos]}
      - {type: mcp, ref: kit, tools: [echo, env]}
`,
      { answer: () => Promise.resolve('deny') },
      provider.origin,
    );
    expect(result).toMatchObject({ outcome: 'succeeded', state: { 'steps.step_1.output': 'All done.' } });
    const [first] = provider.requests;
    expect(first?.url).toBe('/v1/chat/completions');
    expect(first?.headers.authorization).toBe('Bearer secret-key');
    expect(first?.body).toMatchObject({ model: 'team-model', temperature: 0.25, max_tokens: 321 });
    const body = (first?.body ?? {}) as {
      tools?: { function: { name: string } }[];
      messages?: { content: string }[];
    };
    const offered = ['think', 'create_todo', 'list_todos', 'read_file', 'list_dir', 'glob', 'grep', 'write_file'];
    offered.push('edit_file', 'shell', 'mcp_kit_echo', 'mcp_kit_env');
    expect(body.tools?.map((tool) => tool.function.name)).toEqual(offered);
    const system = body.messages?.[0]?.content;
    expect(system).toMatch(/^You keep notes\.\n\nToday's date: \d{4}-\d\d-\d\d \(UTC\)\n\nWorking directory: /);
    expect(system).toContain(`Working directory: ${cwd}\n`);
    const output = new Map(tools.map((tool) => [tool.id, tool.output]));
    expect(output.get('1')).toBe('hello');
    // Nothing allows it, so a person was asked, and said no.
    expect(output.get('2')).toBe('Error: a person refused this call');
    expect(output.get('3')).toContain('the rule "shell:cmd=rm *" of this workflow forbids it');
    expect(output.get('5')).toBe('so far so good');
    expect(output.get('7')).toContain('there is no tool "add_it"');
    expect(output.get('8')).toBe('first');
    expect(output.get('9')).toBe('[todo_1] pending: read it');
    expect(await readFile(join(cwd, 'notes.md'), 'utf8')).toBe('first');
    const asked = notes.flatMap((note) => (note.kind === 'question' ? [note.question] : []));
    expect(asked).toEqual(['May the agent "root" call mcp_kit_env? Untrusted text influenced it.']);
    if (process.platform === 'linux') expect(await groupRuns(await pids.pid())).toBe(false);
  });

  it('the variables of a server come from the environment, and nothing else of it does', async () => {
    await using provider = await FakeProvider.start({ calls: [call('1', 'mcp_node_env', {})] }, { text: 'Done.' });
    const { command, args = [] } = toolServer('tools=env');
    const { tools } = await runFile(
      `
models: {m: {provider: openai, model: m, base_url: ${provider.baseUrl}}}
permissions: {allow: ["*"]}
agents:
  root:
    model: m
    toolsets: [{type: mcp, name: node, command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)}, env: {KIT: "\${env.KIT_TOKEN}"}}]
`,
      { answer: () => Promise.resolve('allow') },
    );
    const env = JSON.parse(tools[0]?.output ?? '') as Record<string, string>;
    expect(env['KIT']).toBe('from-the-environment');
    expect(Object.keys(env)).not.toContain('TEAM_KEY');
  });

  it('agents with a memory share it within the run', async () => {
    await using provider = await FakeProvider.start(
      { calls: [call('1', 'shared_memory_write', { content: 'the door is blue' })] },
      { text: 'Noted.' },
      { calls: [call('2', 'shared_memory_read', {})] },
      { text: 'It is blue.' },
    );
    const { result, tools } = await runFile(`
models: {m: {provider: openai, model: m, base_url: ${provider.baseUrl}}}
agents:
  one: {model: m, toolsets: [{type: memory}]}
  two: {model: m, toolsets: [{type: memory}]}
workflow:
  - {id: a, type: agent, name: one}
  - {id: b, type: agent, name: two}
`);
    expect(result.outcome).toBe('succeeded');
    expect(tools.map(({ output }) => output)).toEqual(['Added to the shared memory.', 'the door is blue']);
  });

  it('the next model is taken where the first is not there; an empty answer is an output', async () => {
    await using provider = await FakeProvider.start({ status: 404 }, { text: '' });
    const { result, notes } = await runFile(`
models:
  a: {provider: openai, model: first, base_url: ${provider.baseUrl}}
  b: {provider: openai, model: second, base_url: ${provider.baseUrl}}
agents: {root: {model: a, fallback: {models: [b]}}}
`);
    expect(provider.requests.map(({ body }) => body['model'])).toEqual(['first', 'second']);
    expect(result).toMatchObject({ outcome: 'succeeded', state: { 'steps.step_1.output': '' } });
    expect(notes.some((note) => note.kind === 'warning' && note.code === 'empty-answer')).toBe(true);
  });

  it('structured output is asked for, checked, and given as data', async () => {
    await using provider = await FakeProvider.start({ text: '{"ok": "yes"}' }, { text: '```json\n{"ok": true}\n```' });
    const { result } = await runFile(`
models: {m: {provider: openai, model: m, base_url: ${provider.baseUrl}}}
agents:
  root:
    model: m
    structured_output:
      {name: verdict, strict: true, schema: {type: object, properties: {ok: {type: boolean}}, required: [ok], additionalProperties: false}}
`);
    expect(result.state['steps.step_1.output']).toEqual({ ok: true });
    expect(provider.requests).toHaveLength(2);
    expect(provider.requests[0]?.body['response_format']).toMatchObject({
      json_schema: { name: 'verdict', strict: true },
    });
  });

  it('nobody is there to be asked: the run pauses, and nothing was done', async () => {
    await using provider = await FakeProvider.start({ calls: [call('1', 'write_file', { path: 'a', content: 'b' })] });
    const { cwd, result } = await runFile(`
models: {m: {provider: openai, model: m, base_url: ${provider.baseUrl}}}
agents: {root: {model: m, toolsets: [{type: filesystem}]}}
`);
    expect(result.outcome).toBe('paused');
    expect(await readdir(cwd)).toEqual(['team.yaml']);
  });
});
