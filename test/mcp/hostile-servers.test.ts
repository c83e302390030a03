import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder, groupRuns, session, until } from '../tools/support/session.js';
import { pidFile, rawServer, servers, toolServer } from './support.js';

const onLinux = process.platform === 'linux';
if (!onLinux) console.info('note: processes are looked up in /proc, so tests of what is left of servers are skipped');

/** What a rejected opening says. */
async function openingError(work: Promise<unknown>): Promise<{ readonly code: string; readonly message: string }> {
  try {
    await work;
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error('it was opened');
}

describe.skipIf(!onLinux)('T17: a server that does not get ready', () => {
  test.each([
    ['never answers', 'silent', 'did not get ready within 300 ms'],
    ['writes what is no message', 'garbage', 'lines'],
    ['writes a line without end', 'floods-at-start', 'wrote a line of more than 8 MiB'],
  ])('that %s is given up and gone', async (_what, mode, words) => {
    const file = await pidFile();
    const mcpStartMs = mode === 'silent' ? 300 : 10_000;
    const error = await openingError(servers({ raw: rawServer(mode, file.path) }, { mcpStartMs }));
    expect(error.code).toBe('SKEIN_MCP');
    expect(error.message).toContain(words);
    if (mode !== 'silent') expect(await groupRuns(await file.pid())).toBe(false);
  });

  test('that does not list its tools was reached, and the error says what it answered', async () => {
    const error = await openingError(servers({ raw: rawServer('lists-nothing') }));
    expect(error.message).toBe('MCP server "raw" did not get ready: Method not found');
  });

  test('that ends at once is an error with its last words', async () => {
    const error = await openingError(servers({ raw: rawServer('exits') }));
    expect(error.message).toBe('MCP server "raw" exited on its own (exit code 4):\nno licence found');
  });

  test('that is no program is an error with a hint', async () => {
    const error = await openingError(servers({ raw: { command: 'no-such-program-anywhere' } }));
    expect(error).toMatchObject({ code: 'SKEIN_MCP', hint: expect.stringContaining('install') as string });
    expect(error.message).toContain('there is no such program');
  });

  test('takes the others down with it, so that nothing stays open after a throw', async () => {
    const file = await pidFile();
    const good = toolServer(`pids=${file.path}`);
    const failing = openingError(servers({ good, bad: rawServer('silent') }, { mcpStartMs: 4_000 }));
    const pid = await file.pid();
    expect((await failing).message).toContain('"bad" did not get ready');
    expect(await groupRuns(pid)).toBe(false);
  });

  test('is given up when the step is cancelled', async () => {
    const file = await pidFile();
    const controller = new AbortController();
    const failing = openingError(servers({ raw: rawServer('silent', file.path) }, { signal: controller.signal }));
    const pid = await file.pid();
    controller.abort();
    expect((await failing).code).toBe('SKEIN_CANCELLED');
    expect(await groupRuns(pid)).toBe(false);
  });

  test('with a banner on its standard output still works', async () => {
    const tools = await servers({ raw: rawServer('banner') });
    expect(await tools.call('mcp_raw_work', {})).toBe('done');
  });

  test('without tools has none', async () => {
    expect((await servers({ raw: rawServer('no-tools') })).source.tools).toEqual([]);
  });
});

describe('T17: what a server says of itself', () => {
  test('two tools of one name are refused', async () => {
    expect((await openingError(servers({ raw: rawServer('duplicates') }))).message).toContain(
      'two tools of the same name',
    );
  });

  test('a thousand tools are refused', async () => {
    expect((await openingError(servers({ raw: rawServer('many') }))).message).toContain('offers 1000 tools');
  });

  test('hidden characters and endless texts do not reach the model, expressions do not reach a validator', async () => {
    const [tool] = (await servers({ raw: rawServer('poisoned') })).source.tools;
    expect(tool?.description.startsWith('[MCP:raw] Works. Read this.')).toBe(true);
    expect(tool?.description.length).toBeLessThanOrEqual(4_096);
    expect(tool?.inputSchema).toEqual({
      type: 'object',
      properties: { pattern: { type: 'string', description: 'hidden (pattern: ^(a+)+$)' } },
    });
  });

  test('names become legal, short and different', async () => {
    const names = (await servers({ raw: rawServer('names') })).source.tools.map((tool) => tool.name);
    expect(names).toHaveLength(7);
    expect(new Set(names).size).toBe(7);
    for (const name of names) expect(name).toMatch(/^mcp_raw_[A-Za-z0-9_-]{1,56}$/);
  });

  test('tools of two servers that would get one name get two, and neither is the built-in one', async () => {
    const kit = (name: string) => toolServer(`tools=${name}`);
    const tools = await servers({ a: kit('echo'), A: kit('echo'), 'a.': kit('echo'), a_: kit('echo') });
    const names = tools.source.tools.map((tool) => tool.name);
    expect(new Set(names).size).toBe(4);
    expect(names.every((name) => name.startsWith('mcp_'))).toBe(true);
    const origins = tools.source.tools.map(({ name, origin }) => [name, origin?.server]);
    for (const [name = '', server] of origins)
      expect([server, await tools.call(name, { text: server ?? '' })]).toEqual([server, server]);
  });

  test('a schema that is too deep or too large costs only its tool', async () => {
    const tools = await servers({ raw: rawServer('bad-schemas') });
    expect(tools.source.tools.map((tool) => tool.name)).toEqual(['mcp_raw_work']);
    expect(tools.warnings.map((warning) => warning.code)).toEqual(['mcp-tool-refused', 'mcp-tool-refused']);
  });
});

describe('T17: a call', () => {
  test.each([
    ['never answers', 'silent-call', 'SKEIN_TOOL_FAILED', 'no answer within 300 ms'],
    ['drips', 'drips', 'SKEIN_TOOL_FAILED', 'no answer within 300 ms'],
    ['answers another call', 'wrong-id', 'SKEIN_TOOL_FAILED', 'no answer within 300 ms'],
    ['dies', 'dies', 'SKEIN_MCP', 'exited on its own (exit code 9):\nout of memory'],
    ['writes a line without end', 'floods', 'SKEIN_MCP', 'wrote a line of more than 8 MiB'],
    ['writes only garbage', 'garbage-call', 'SKEIN_MCP', 'lines to its standard output that are not messages'],
    ['answers with something that is no result', 'no-content', 'SKEIN_MCP', 'tool work'],
    ['fails', 'protocol-error', 'SKEIN_MCP', 'internal[31m trouble'],
  ])('to a server that %s fails in time and says why', async (_what, mode, code, words) => {
    const slow = ['silent-call', 'drips', 'wrong-id'].includes(mode);
    const tools = await servers({ raw: rawServer(mode) }, { mcpCallMs: slow ? 300 : 10_000 });
    const error = await tools.fails('mcp_raw_work', {});
    expect(error.message).toContain(words);
    expect(error.code).toBe(code);
  });

  test.skipIf(!onLinux)('to a server that takes more memory than it may fails and says so', async () => {
    const tools = await servers({ raw: rawServer('eats') }, { programMemory: 150 << 20 });
    const error = await tools.fails('mcp_raw_work', {});
    expect([error.code, error.message]).toEqual([
      'SKEIN_MCP',
      'MCP server "raw" was killed: it had more than 150 MiB of memory',
    ]);
  });

  test('that is answered twice counts once', async () => {
    const tools = await servers({ raw: rawServer('twice') });
    expect(await tools.call('mcp_raw_work', {})).toBe('done');
    expect(await tools.call('mcp_raw_work', {})).toBe('done');
  });

  test('that never returns is aborted', async () => {
    const tools = await servers({ kit: toolServer('tools=never,cwd') });
    const controller = new AbortController();
    const failing = tools.fails('mcp_kit_never', {}, controller.signal);
    controller.abort();
    expect((await failing).code).toBe('SKEIN_CANCELLED');
    await tools.call('mcp_kit_cwd', {});
  });

  test('to a server that has ended says that it has', async () => {
    const tools = await servers({ raw: rawServer('dies') });
    await tools.fails('mcp_raw_work', {});
    const error = await tools.fails('mcp_raw_work', {});
    expect([error.code, error.message]).toEqual(['SKEIN_MCP', expect.stringContaining('exited on its own')]);
  });
});

describe.skipIf(!onLinux)('statement 99: no process of a server outlives its step', () => {
  test('closing ends a server that ignores SIGTERM and the end of its input', async () => {
    const file = await pidFile();
    const tools = await servers({ raw: rawServer('stubborn', file.path) });
    expect(await tools.call('mcp_raw_work', {})).toBe('done');
    const pid = await file.pid();
    expect(await groupRuns(pid)).toBe(true);
    await tools.source.close();
    expect(await groupRuns(pid)).toBe(false);
  });

  test('closing ends what a server has started', async () => {
    const tools = await servers({ kit: toolServer('tools=family') });
    const [pid] = (await tools.call('mcp_kit_family', {})).split(' ').map(Number);
    await tools.source.close();
    expect(await groupRuns(pid ?? 0)).toBe(false);
  });

  test('calls that are open when it is closed fail', async () => {
    const tools = await servers({ kit: toolServer('tools=never') });
    const failing = tools.fails('mcp_kit_never', {});
    await tools.source.close();
    expect((await failing).code).toBe('SKEIN_MCP');
  });

  test('kill -9 of the engine leaves neither server nor program of the shell tool', async () => {
    const cwd = await folder();
    const server = await pidFile();
    const program = await pidFile();
    const engine = join(cwd, 'engine.mts');
    const provider = resolve(import.meta.dirname, '../../src/agent/tools/provider.ts');
    const code = `require('fs').writeFileSync(${JSON.stringify(program.path)}, String(process.pid)); setInterval(() => {}, 1000)`;
    await writeFile(
      engine,
      `import { createToolProvider } from ${JSON.stringify(provider)};
       const provider = createToolProvider({ cwd: ${JSON.stringify(cwd)}, env: process.env });
       const spec = ${JSON.stringify({
         name: 'a',
         instructions: [],
         models: [],
         tools: ['raw', 'shell'],
         mcpServers: { raw: rawServer('stubborn', server.path) },
       })};
       const signal = new AbortController().signal;
       const source = await provider.open(spec, { runId: 'r', path: 's', agent: 'a', signal, warn() {} });
       const shell = source.tools.find((tool) => tool.name === 'shell');
       await shell.execute({ argv: [process.execPath, '-e', ${JSON.stringify(code)}] }, { signal, idempotencyKey: 'k' });`,
    );
    const root = resolve(import.meta.dirname, '../..');
    const parent = spawn(process.execPath, ['--import', 'tsx', engine], { cwd: root, stdio: 'inherit' });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const pids = [await server.pid(), await program.pid()];
    for (const pid of pids) expect(await groupRuns(pid)).toBe(true);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    for (const pid of pids) await until(async () => !(await groupRuns(pid)));
  });
});

describe('a server that can not work', () => {
  test.each([
    ['legacy sse', { type: 'sse', url: 'https://example.org/sse' }, '"sse" are not supported'],
    ['neither command nor url', {}, 'needs either a command or a url'],
    ['both', { command: 'x', url: 'https://example.org' }, 'needs either a command or a url'],
    ['a url of another kind', { url: 'ftp://example.org' }, 'not an http or https address'],
    ['credentials in the url', { url: 'https://a:b@example.org' }, 'user name or password'],
    [
      'a variable in a header that is not set',
      { url: 'https://example.org', headers: { Authorization: 'Bearer $GONE' } },
      'variable GONE is not set',
    ],
    ['an expression of GitHub', { command: 'x', args: ['${{ github.token }}'] }, 'only GitHub can evaluate'],
    ['a broken reference', { command: 'x', args: ['${not closed'] }, 'not a reference to a variable'],
  ])('%s', async (_what, entry, words) => {
    const error = await openingError(session({ tools: ['*'], mcpServers: { one: entry } }, { cwd: await folder() }));
    expect(error.code).toBe('SKEIN_MCP');
    expect(error.message).toContain(words);
  });
});
