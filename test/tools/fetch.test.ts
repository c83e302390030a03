import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ToolProviderOptions } from '../../src/agent/tools/provider.js';
import { fetchCode } from '../../src/agent/tools/fetch.js';
import { networkRules } from '../../src/agent/tools/http-hop.js';
import { htmlToText } from '../../src/agent/tools/html-text.js';
import { folder, io, session } from './support/session.js';
import type { Session } from './support/session.js';

interface Recorder {
  readonly port: number;
  readonly url: string;
  /** Every request that arrived. */
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
  }[];
  readonly connections: () => number;
}

/** A server on loopback that records whatever reaches it. */
async function recorder(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Recorder> {
  const requests: Recorder['requests'] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      answer(request, response);
    });
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, requests, connections: () => connections };
}

async function tools(options: Partial<ToolProviderOptions> = {}): Promise<Session> {
  return session({ tools: ['fetch'] }, { cwd: await folder(), ...options });
}

/** Digest of the key of the session's calls. */
const SENT_KEY = 'NYF2VEz2CsM2recFbMaL4Q';

const local = { allowPrivateAddresses: true };

describe('fetch', () => {
  test('gives status, address and text', async () => {
    const server = await recorder((_request, response) =>
      response.setHeader('content-type', 'application/json').end('{"a":1}'),
    );
    const { call } = await tools(local);
    expect(await call('fetch', { url: `${server.url}/x?y=1` })).toBe(`HTTP 200 OK\n${server.url}/x?y=1\n\n{"a":1}`);
    expect(server.requests[0]?.headers).not.toHaveProperty('cookie');
    expect(server.requests[0]?.headers['user-agent']).toBe('skein');
  });

  test('an answer such as 404 is a result, not a failure', async () => {
    const server = await recorder((_request, response) => response.writeHead(404).end('no such page'));
    const { call } = await tools(local);
    expect(await call('fetch', { url: server.url })).toContain('HTTP 404 Not Found\n');
  });

  test('posts a text with an idempotency key', async () => {
    const server = await recorder((_request, response) => response.end('ok'));
    const { call } = await tools(local);
    await call('fetch', { url: server.url, method: 'POST', body: '{"q":"\u00fc"}' });
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      body: '{"q":"\u00fc"}',
      headers: { 'content-type': 'application/json', 'idempotency-key': SENT_KEY },
    });
  });

  test('HTML comes back as text, or as it is', async () => {
    const page =
      '<html><head><title>T</title><script>evil()</script></head><body><p>one</p><p>two &lt;3</p></body></html>';
    const server = await recorder((_request, response) => response.setHeader('content-type', 'text/html').end(page));
    const { call } = await tools(local);
    expect((await call('fetch', { url: server.url })).split('\n\n')[1]).toBe('T\none\ntwo <3');
    expect(await call('fetch', { url: server.url, raw: true })).toContain('<script>');
  });

  test.each([
    ['gzip', gzipSync],
    ['br', (text: Buffer) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ])('unpacks %s, up to the limit', async (encoding, pack) => {
    const bomb = pack(Buffer.alloc(200 * 1024 * 1024, 'x'));
    const server = await recorder((request, response) => {
      response.setHeader('content-encoding', encoding);
      response.end(request.url === '/bomb' ? bomb : pack(Buffer.from('small')));
    });
    const { call } = await tools(local);
    expect(await call('fetch', { url: server.url })).toContain('\nsmall');
    const text = await call('fetch', { url: `${server.url}/bomb` });
    expect(text.length).toBeLessThan(101_000);
    expect(text).toContain('[the rest is left out]');
  });

  test('an endless answer is cut', async () => {
    const server = await recorder((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const { call } = await tools(local);
    expect(await call('fetch', { url: server.url })).toContain('[the rest is left out]');
  });

  test.each([
    ['no address', { url: 'not a url' }, 'is not an address'],
    ['another scheme', { url: 'file:///etc/passwd' }, "can't be fetched"],
    ['credentials', { url: 'http://user:pw@127.0.0.1/' }, 'user name or password'],
    ['another method', { url: 'http://127.0.0.1/', method: 'DELETE' }, 'GET or POST'],
    [
      'a header in the content type',
      { url: 'http://127.0.0.1/', method: 'POST', content_type: 'a/b\r\nX: y' },
      'content type',
    ],
  ])('refuses %s', async (_what, input, words) => {
    const { fails } = await tools(local);
    expect((await fails('fetch', input)).message).toContain(words);
  });

  test('what is no text is refused', async () => {
    const server = await recorder((_request, response) => response.setHeader('content-type', 'image/png').end('x'));
    const { fails } = await tools(local);
    expect((await fails('fetch', { url: server.url })).message).toContain('image/png, which is not text');
  });

  test('a server that never answers is given up when the call is cancelled', async () => {
    const server = await recorder(() => undefined);
    const { fails } = await tools(local);
    const controller = new AbortController();
    const failing = fails('fetch', { url: server.url }, controller.signal);
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort();
    expect((await failing).code).toBe('SKEIN_CANCELLED');
  });

  test('a connection that is cut, and one that is refused, are errors', async () => {
    const server = await recorder((request, response) => {
      if (request.url === '/late')
        response.writeHead(200, { 'content-length': '100' }).write('part', () => request.socket.destroy());
      else request.socket.destroy();
    });
    const { fails } = await tools(local);
    expect((await fails('fetch', { url: server.url })).message).toContain("can't be reached (ECONNRESET)");
    expect((await fails('fetch', { url: `${server.url}/late` })).message).toContain('cut off');
    expect((await fails('fetch', { url: 'http://127.0.0.1:1/' })).message).toContain('ECONNREFUSED');
  });
});

describe('redirects', () => {
  const redirect =
    (to: (request: IncomingMessage) => string, status = 302) =>
    (request: IncomingMessage, response: ServerResponse) =>
      request.url === '/end'
        ? void response.end(`${request.method}`)
        : void response.writeHead(status, { location: to(request) }).end();

  test('are followed, at most five', async () => {
    const server = await recorder(redirect((request) => `/${Number(request.url?.slice(1)) - 1}`.replace('/0', '/end')));
    const { call, fails } = await tools(local);
    expect(await call('fetch', { url: `${server.url}/5` })).toContain('\nGET');
    expect((await fails('fetch', { url: `${server.url}/9` })).message).toContain('more than 5 times');
  });

  test.each([
    [303, 'GET', ''],
    [302, 'GET', ''],
    [307, 'POST', 'text'],
    [308, 'POST', 'text'],
  ])('%i sends a POST on as %s', async (status, method, body) => {
    const server = await recorder(redirect(() => '/end', status));
    const { call } = await tools(local);
    expect(await call('fetch', { url: `${server.url}/start`, method: 'POST', body: 'text' })).toContain(`\n${method}`);
    expect(server.requests[1]?.body).toBe(body);
    expect(server.requests[1]?.headers['idempotency-key']).toBe(method === 'POST' ? SENT_KEY : undefined);
  });

  test('a text is not sent on to another server', async () => {
    const other = await recorder((_request, response) => response.end('got it'));
    const server = await recorder(redirect(() => other.url, 307));
    const { fails } = await tools(local);
    expect((await fails('fetch', { url: server.url, method: 'POST', body: 'text' })).code).toBe('SKEIN_TOOL_REFUSED');
    expect(other.requests).toEqual([]);
  });

  test.each(['file:///etc/passwd', 'ftp://127.0.0.1/', 'http://user:pw@127.0.0.1/', 'http://'])(
    '%s is refused',
    async (location) => {
      const server = await recorder(redirect(() => location));
      const { fails } = await tools(local);
      expect((await fails('fetch', { url: server.url })).code).toBe('SKEIN_TOOL_REFUSED');
    },
  );
});

describe('T14: no form of an inner address is reached', () => {
  const HOSTS = [
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '127.0.0.1.',
    '127.000.000.001',
    '0',
    '0.0.0.0',
    '127.127.127.127',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fe80::1]',
    '[fc00::1]',
    '\u2460\u2461\u2466.\u24ea.\u24ea.\u2460',
    '\uff11\uff12\uff17.0.0.1',
    '127\u30020\u30020\u30021',
    '%31%32%37.0.0.1',
    'localhost',
    'LOCALHOST',
    'localhost.',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '0xa9fea9fe',
    '[::ffff:169.254.169.254]',
    '100.100.100.200',
    '224.0.0.1',
    '255.255.255.255',
  ];

  test.each(HOSTS)('%s', async (host) => {
    const server = await recorder((_request, response) => response.end('the canary is yellow'));
    const { fails } = await tools();
    const error = await fails('fetch', { url: `http://${host}:${server.port}/` });
    expect(error.code).toBe('SKEIN_TOOL_REFUSED');
    expect(server.connections()).toBe(0);
  });

  test.each(HOSTS)('redirected to %s', async (host) => {
    const inner = await recorder((_request, response) => response.end('the canary is yellow'));
    const location = `http://${host.replace(/[^\x20-\x7e]+/g, encodeURIComponent)}:${inner.port}/`;
    const outer = await recorder((_request, response) => response.writeHead(302, { location }).end());
    // The first server counts as public, so that only the redirect can be what is refused.
    const rules = networkRules(false);
    const call = fetchCode(
      { ...rules, allows: (address) => outer.requests.length === 0 || rules.allows(address) },
      new AbortController().signal,
    );
    await expect(call({ url: outer.url }, io())).rejects.toMatchObject({ code: 'SKEIN_TOOL_REFUSED' });
    expect(outer.requests).toHaveLength(1);
    expect(inner.connections()).toBe(0);
  });

  test('a name with one inner address among public ones is refused', async () => {
    const server = await recorder((_request, response) => response.end('yellow'));
    const resolveHost = () =>
      Promise.resolve([
        { address: '93.184.215.14', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    const { fails } = await tools({ resolveHost });
    expect((await fails('fetch', { url: `http://mixed.example:${server.port}/` })).code).toBe('SKEIN_TOOL_REFUSED');
    expect(server.connections()).toBe(0);
  });

  test('the connection goes to the address that was checked, whatever the name means a moment later', async () => {
    const server = await recorder((_request, response) => response.end('yellow'));
    let asked = 0;
    // First the checked answer, then another one: a second look-up would connect to the second.
    const rules = {
      ...networkRules(true),
      resolve: () => Promise.resolve([{ address: asked++ === 0 ? '127.0.0.2' : '127.0.0.1', family: 4 }]),
    };
    const call = fetchCode(rules, new AbortController().signal);
    const outcome = await Promise.resolve(call({ url: `http://rebind.example:${server.port}/` }, io())).catch(
      (error: unknown) => String(error),
    );
    expect(asked).toBe(1);
    expect(outcome).toContain('ECONNREFUSED');
    expect(server.connections()).toBe(0);
  });

  test('a name that is not found is an error', async () => {
    const { fails } = await tools({
      resolveHost: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
    });
    expect((await fails('fetch', { url: 'http://nowhere.example/' })).message).toContain('was not found (ENOTFOUND)');
  });
});

describe('HTML as text', () => {
  test.each([
    ['a<br>b<p>c</p>d', 'a\nb\nc\nd'],
    ['<!-- <p>hidden</p> --><b>x</b> y', 'x y'],
    ['<style>p{}</style><noscript>n</noscript>z', 'z'],
    ['1 < 2 && 3 > 2', '1 < 2 && 3 > 2'],
    ['&#65;&#x42;&amp;lt;&nope;&#0;', 'AB&lt;&nope;&#0;'],
    ['<script>never closed', ''],
    ['<p unfinished', ''],
    ['\u0130<p>x</p>', '\u0130\nx'],
  ])('%s', (html, text) => expect(htmlToText(html, 1_000).text).toBe(text));
});

test.each(['<', '<a>', '</', '<!--', 'A<B>', '\n', '&amp;', '<title>', '<p>x'])(
  '[XS8] 4 MB of %j are turned into text in one pass that stops when there is enough',
  (unit) => {
    const { text } = htmlToText(unit.repeat(Math.ceil((4 * 1024 * 1024) / unit.length)), 100_000);
    expect(text.length).toBeLessThanOrEqual(10 * 100_000);
  },
);
