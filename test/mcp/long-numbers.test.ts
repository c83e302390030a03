import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { rawServer, servers } from './support.js';

const ID = '12345678901234567890';
const STRUCTURED = `"content":[],"structuredContent":{"id":${ID},"n":3}`;
const KEPT = `{"id":"${ID}","n":3}`;

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly protocolVersion: string };
}

/** The result of a request, as the server writes it. */
function resultText({ method, params }: Message): string {
  if (method === 'tools/call') return `{${STRUCTURED}}`;
  if (method === 'tools/list')
    return `{"tools":[{"name":"work","inputSchema":{"type":"object","properties":{"n":{"maximum":${ID}}}}}]}`;
  return `{"protocolVersion":"${params.protocolVersion}","capabilities":{"tools":{}},"serverInfo":{"name":"w","version":"1"}}`;
}

/** A server over HTTP that answers with JSON, or with events in pieces of a few bytes. */
async function webServer(type: string, written: (message: string) => readonly string[]): Promise<string> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString();
      const message = text === '' ? undefined : (JSON.parse(text) as Message);
      if (message?.id === undefined) return response.writeHead(message === undefined ? 405 : 202).end();
      response.writeHead(200, { 'content-type': type });
      for (const piece of written(`{"jsonrpc":"2.0","id":${message.id},"result":${resultText(message)}}`))
        response.write(piece);
      return response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const inPieces = (text: string): readonly string[] => text.match(/[^]{1,7}/g) ?? [];

test('a long number in a structured result keeps its digits, from a program', async () => {
  const tools = await servers({ raw: rawServer('digits') });
  expect(await tools.call('mcp_raw_work', {})).toBe(KEPT);
});

test.each([
  ['JSON', 'application/json', inPieces],
  ['JSON over several lines', 'application/json', (text: string) => [text.replace('"result"', '\n"result"')]],
  ['events', 'text/event-stream', (text: string) => inPieces(`event: message\ndata: ${text}\n\n`)],
])('and over HTTP, as %s', async (_, type, written) => {
  const tools = await servers({ web: { url: await webServer(type, written) } });
  expect(await tools.call('mcp_web_work', {})).toBe(KEPT);
});
