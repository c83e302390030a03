import { describe, expect, test } from 'vitest';
import { folder, session } from '../tools/support/session.js';
import { servers, toolServer } from './support.js';

describe('statement 99: the tools of a server', () => {
  test('are named after it, and called through it', async () => {
    const tools = await servers({ kit: toolServer('tools=echo,fail,parts,structured') });
    expect(tools.source.tools.map(({ name, effect, trust }) => [name, effect, trust])).toEqual([
      ['mcp_kit_echo', 'idempotent', 'untrusted'],
      ['mcp_kit_fail', 'once', 'untrusted'],
      ['mcp_kit_parts', 'once', 'untrusted'],
      ['mcp_kit_structured', 'once', 'untrusted'],
    ]);
    expect(tools.tool('mcp_kit_echo')).toMatchObject({
      description: '[MCP:kit] Gives the text back.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    });
    expect(await tools.call('mcp_kit_echo', { text: 'hello {{inputs.secret}}' })).toBe('hello {{inputs.secret}}');
    expect(await tools.call('mcp_kit_structured', {})).toBe('{"n":7}');
    expect(await tools.call('mcp_kit_parts', {})).toBe(
      'one\n[image left out: image/png, 8 characters of base64]\n[resource file:///x: x]\ninside y\ntwo',
    );
    const error = await tools.fails('mcp_kit_fail', {});
    expect([error.code, error.message]).toEqual(['SKEIN_TOOL_FAILED', 'it went wrong']);
  });

  test('wrong arguments are an error that the model can read', async () => {
    const tools = await servers({ kit: toolServer('tools=echo') });
    const error = await tools.fails('mcp_kit_echo', { text: 5 });
    expect(error.message).toContain('text');
  });

  test('a result of a megabyte is cut to its ends', async () => {
    const tools = await servers({ kit: toolServer('tools=big') });
    const text = await tools.call('mcp_kit_big', {});
    expect(text.length).toBeLessThan(263_000);
    expect(text.startsWith('firstxxx') && text.endsWith('xlast')).toBe(true);
    expect(text).toContain('characters left out');
  });

  test('calls may continue at the same time', async () => {
    const tools = await servers({ kit: toolServer('tools=echo') });
    const texts = Array.from({ length: 50 }, (_, i) => `text ${i}`);
    expect(await Promise.all(texts.map((text) => tools.call('mcp_kit_echo', { text })))).toEqual(texts);
  });

  test('several servers, with tools of the same name', async () => {
    const tools = await servers({
      'a.b': toolServer('tools=echo'),
      a_b: toolServer('tools=echo,args', 'which=second'),
    });
    const names = tools.source.tools.map((tool) => tool.name);
    expect(new Set(names).size).toBe(3);
    expect(names[1]).toBe('mcp_a_b_args');
    // Neither of the two that would be called mcp_a_b_echo gets that name.
    expect([names[0] ?? '', names[2] ?? ''].every((name) => /^mcp_a_b_echo_[0-9a-f]{8}$/.test(name))).toBe(true);
  });
});

describe('which tools', () => {
  const kit = toolServer('tools=echo,args,cwd');

  test.each([
    ['its own entry names some', { kit: { ...kit, tools: ['cwd', 'none'] } }, ['kit/*'], ['mcp_kit_cwd']],
    [
      'its own entry has a star',
      { kit: { ...kit, tools: ['*'] } },
      ['*'],
      ['mcp_kit_args', 'mcp_kit_cwd', 'mcp_kit_echo'],
    ],
    ['the agent names one', { kit }, ['kit/args'], ['mcp_kit_args']],
    ['the agent names one by its whole name', { kit }, ['mcp_kit_echo'], ['mcp_kit_echo']],
    ['the agent names none', { kit }, ['read'], []],
    ['the agent has an empty list', { kit }, [], []],
  ])('%s', async (_what, mcpServers, list, expected) => {
    const tools = await servers(mcpServers, { tools: list });
    expect(tools.source.tools.map((tool) => tool.name).filter((name) => name.startsWith('mcp_'))).toEqual(expected);
    expect(tools.warnings).toEqual([]);
  });

  test('[15] without a list: all of them by their names, whatever the order of the server, besides the read-only built-in tools (decision 14)', async () => {
    const tools = await session({ mcpServers: { kit } }, { cwd: await folder() });
    expect(tools.source.tools.map((tool) => tool.name)).toEqual([
      'read_file',
      'list_dir',
      'glob',
      'grep',
      'mcp_kit_args',
      'mcp_kit_cwd',
      'mcp_kit_echo',
    ]);
  });

  test('one that the server does not offer is a warning', async () => {
    const tools = await servers({ kit }, { tools: ['kit/echo', 'kit/gone', 'mcp_kit_lost'] });
    expect(tools.source.tools.map((tool) => tool.name)).toEqual(['mcp_kit_echo']);
    expect(tools.warnings.map((warning) => warning.message)).toEqual([
      'agent tester: its MCP servers offer no kit/gone, mcp_kit_lost',
    ]);
  });
});

describe('the environment of a server', () => {
  test('is its own entry and what every program needs', async () => {
    const tools = await servers(
      { kit: { ...toolServer('tools=env'), env: { PLAIN: 'a', REF: 'Bearer $GIVEN', SECRET: 'COPILOT_MCP_ONE' } } },
      {
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: '/home/x',
          GIVEN: 'g',
          COPILOT_MCP_ONE: '1',
          OPENAI_API_KEY: 'canary',
        },
      },
    );
    const env = JSON.parse(await tools.call('mcp_kit_env', {})) as Record<string, string>;
    expect(env).toEqual({ PATH: process.env['PATH'], HOME: '/home/x', PLAIN: 'a', REF: 'Bearer g', SECRET: '1' });
  });

  test('arguments are expanded too, the directory is the working directory', async () => {
    const cwd = await folder();
    const tools = await servers(
      { kit: toolServer('tools=args,cwd', 'key=${KEY}', '$$', 'at=${{ github.workspace }}/x') },
      { cwd, env: { PATH: process.env['PATH'] ?? '', KEY: '$KEY `ls` ${KEY}' } },
    );
    const args = JSON.parse(await tools.call('mcp_kit_args', {})) as string[];
    expect(args.slice(1)).toEqual(['key=$KEY `ls` ${KEY}', '$$', `at=${cwd}/x`]);
    expect(await tools.call('mcp_kit_cwd', {})).toBe(cwd);
  });

  test('a variable that is not set keeps the server from starting, and is named', async () => {
    await expect(servers({ kit: { ...toolServer(), env: { TOKEN: '${NOT_THERE}' } } })).rejects.toMatchObject({
      code: 'SKEIN_MCP',
      message: 'MCP server "kit", env TOKEN: the environment variable NOT_THERE is not set',
    });
  });
});

describe('threat A9: a tool that changes during the session', () => {
  test('is refused from then on; the others go on', async () => {
    const tools = await servers({ kit: toolServer('tools=echo,change,cwd') });
    expect(await tools.call('mcp_kit_echo', { text: 'before' })).toBe('before');
    await tools.call('mcp_kit_change', {});
    const error = await tools.fails('mcp_kit_echo', { text: 'after' });
    expect([error.code, error.message]).toEqual([
      'SKEIN_MCP',
      'MCP server "kit" changed its tool echo during the session',
    ]);
    await tools.call('mcp_kit_cwd', {});
    expect((await tools.fails('mcp_kit_echo', { text: 'again' })).code).toBe('SKEIN_MCP');
  });

  test('stays refused when it is what it was again', async () => {
    const tools = await servers({ kit: toolServer('tools=echo,change,restore') });
    await tools.call('mcp_kit_change', {});
    const both = await Promise.all([
      tools.fails('mcp_kit_echo', { text: 'a' }),
      tools.fails('mcp_kit_echo', { text: 'b' }),
    ]);
    expect(both.map((error) => error.code)).toEqual(['SKEIN_MCP', 'SKEIN_MCP']);
    await tools.call('mcp_kit_restore', {});
    expect((await tools.fails('mcp_kit_echo', { text: 'c' })).code).toBe('SKEIN_MCP');
  });

  test('one that is taken away is refused as well', async () => {
    const tools = await servers({ kit: toolServer('tools=echo,remove') });
    await tools.call('mcp_kit_remove', {});
    expect((await tools.fails('mcp_kit_echo', { text: 'x' })).code).toBe('SKEIN_MCP');
  });
});
