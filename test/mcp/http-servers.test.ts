import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { servers } from './support.js';

interface Listener {
  readonly url: string;
  readonly seen: { readonly method: string; readonly headers: IncomingMessage['headers'] }[];
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<Listener> {
  const seen: Listener['seen'] = [];
  const server = createServer((request, response) => {
    seen.push({ method: request.method ?? '', headers: request.headers });
    void handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen };
}

/** A real server with one session, whose tool `echo` can be changed. */
async function realServer({ redirects = false } = {}): Promise<Listener> {
  const server = new McpServer({ name: 'web', version: '1.0.0' });
  const echo = server.registerTool(
    'echo',
    { description: 'Gives the text back.', inputSchema: z.object({ text: z.string() }) },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  );
  server.registerTool('change', { description: 'Changes echo.' }, () => {
    echo.update({ description: 'Something else.' });
    return { content: [{ type: 'text', text: 'changed' }] };
  });
  server.registerTool('huge', { description: 'Sends too much.' }, () => ({
    content: [{ type: 'text', text: 'x'.repeat(20 * 1024 * 1024) }],
  }));
  server.registerTool('never', { description: 'Never answers.' }, () => new Promise(() => undefined));
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: () => 'session-1' });
  await server.connect(transport);
  onTestFinished(() => server.close());
  return listen((request, response) => {
    if (!redirects || request.url === '/mcp/') return transport.handleRequest(request, response);
    return response.writeHead(307, { location: '/mcp/' }).end();
  });
}

describe('a server over streamable HTTP', () => {
  test('offers its tools and answers calls, with the headers of its entry', async () => {
    const web = await realServer();
    const tools = await servers(
      { web: { url: '${URL}', headers: { Authorization: 'Bearer $TOKEN' } } },
      { env: { URL: web.url, TOKEN: 'secret' } },
    );
    expect(tools.source.tools.map((tool) => tool.name)).toContain('mcp_web_echo');
    expect(await tools.call('mcp_web_echo', { text: 'hello' })).toBe('hello');
    expect(web.seen.every((request) => request.headers.authorization === 'Bearer secret')).toBe(true);
  });

  test.each([302, 307, 308])(
    '[XS7] a redirect (%i) to another host gets neither headers nor messages',
    async (status) => {
      const elsewhere = await listen((_, response) => response.end());
      const web = await listen((_, response) => response.writeHead(status, { location: elsewhere.url }).end());
      const opened = servers({ web: { url: web.url, headers: { Authorization: 'Bearer secret' } } });
      await expect(opened).rejects.toMatchObject({
        code: 'SKEIN_MCP',
        message: `MCP server "web" redirects to ${new URL(elsewhere.url).origin}, which is not followed`,
      });
      expect(elsewhere.seen).toEqual([]);
    },
  );

  test('[XS7] a redirect on the same host is followed', async () => {
    const web = await realServer({ redirects: true });
    const tools = await servers({ web: { url: web.url } });
    expect(await tools.call('mcp_web_echo', { text: 'hello' })).toBe('hello');
  });

  test('a message of 20 MiB fails the call and not the engine', async () => {
    const tools = await servers({ web: { url: (await realServer()).url } });
    const error = await tools.fails('mcp_web_huge', {});
    expect([error.code, error.message]).toEqual(['SKEIN_MCP', 'MCP server "web" sent a message of more than 8 MiB']);
    expect(await tools.call('mcp_web_echo', { text: 'still here' })).toBe('still here');
  });

  test('a call that never returns is aborted', async () => {
    const tools = await servers({ web: { url: (await realServer()).url } });
    const controller = new AbortController();
    const failing = tools.fails('mcp_web_never', {}, controller.signal);
    controller.abort();
    expect((await failing).code).toBe('SKEIN_CANCELLED');
  });

  test('nobody listens, an error, a page, a legacy server: each says that it could not be reached', async () => {
    const answers: ((response: ServerResponse) => void)[] = [
      (response) => response.writeHead(500).end('broken'),
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>'),
      (response) => response.writeHead(405).end('only GET'),
      (response) => response.writeHead(401).end('who are you'),
    ];
    const urls = ['http://127.0.0.1:1/mcp'];
    for (const answer of answers) urls.push((await listen((_request, response) => answer(response))).url);
    for (const url of urls) {
      await expect(servers({ web: { url } })).rejects.toMatchObject({
        code: 'SKEIN_MCP',
        message: expect.stringContaining('"web" could not be reached') as string,
        hint: expect.stringContaining('legacy SSE') as string,
      });
    }
  });

  test('one that never answers is given up', async () => {
    const { url } = await listen(() => undefined);
    await expect(servers({ web: { url } }, { mcpStartMs: 200 })).rejects.toMatchObject({
      code: 'SKEIN_MCP',
      message: 'MCP server "web" did not get ready within 200 ms',
    });
  });

  test('a redirect to another server does not take the headers there', async () => {
    const other = await listen((_request, response) => response.end());
    const { url } = await listen((_request, response) => response.writeHead(307, { location: other.url }).end());
    await expect(servers({ web: { url, headers: { Authorization: 'secret' } } })).rejects.toMatchObject({
      code: 'SKEIN_MCP',
    });
    expect(other.seen).toEqual([]);
  });

  test('closing ends the session at the server', async () => {
    const web = await realServer();
    const tools = await servers({ web: { url: web.url } });
    await tools.source.close();
    expect(web.seen.map((request) => request.method)).toContain('DELETE');
  });
});
