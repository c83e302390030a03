import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { quickTime } from '../quick-time.js';
import { eventsOf } from './support/wire-formats.js';
import { modelOf } from './support/counted-agent.js';
import { errorOf, runAgent } from './support/run-agent.js';

quickTime();

const LONG = 'x'.repeat(1024 * 1024);
const STREAM = { 'content-type': 'text/event-stream' };

/** A server whose answers never end: it writes the same text until it is cut off. Gives its address, and how often it was asked. */
async function endless(text: string, begin: (response: ServerResponse) => NodeJS.WritableStream) {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.on('error', () => undefined);
    const source = Readable.from(
      Array.from({ length: 2_000 }, () => text),
      { objectMode: false, highWaterMark: 4 },
    );
    source.pipe(begin(response));
    response.on('close', () => source.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { OPENAI_COMPATIBLE_BASE_URL: `${origin}/v1`, ANTHROPIC_BASE_URL: origin, ANTHROPIC_API_KEY: 'key' };
  return { env, asked: () => asked };
}

async function failed(model: string, server: Awaited<ReturnType<typeof endless>>) {
  const { result } = await runAgent({ spec: { models: [model] }, models: { env: server.env } });
  const { code, message, retryable } = errorOf(result);
  return { code, message, retryable, asked: server.asked() };
}

const cutAt = (model: string, limit: string) => ({
  code: 'SKEIN_MODEL_FAILED',
  message: `${model}: the provider answered with more than ${limit}`,
  retryable: false,
  asked: 1,
});

describe('an answer without an end', () => {
  it.each(['openai-compatible/m', 'anthropic/m'])(
    'in one line is cut off, and not asked for again: %s',
    async (model) => {
      const server = await endless(LONG, (response) => response.writeHead(200, STREAM));
      expect(await failed(model, server)).toEqual(cutAt(model, '32 MiB'));
    },
  );

  it('is measured as it is unpacked', async () => {
    const server = await endless(LONG, (response) => {
      const packer = createGzip();
      packer.pipe(response.writeHead(200, { ...STREAM, 'content-encoding': 'gzip' }));
      return packer;
    });
    expect(await failed('openai-compatible/m', server)).toEqual(cutAt('openai-compatible/m', '32 MiB'));
  });

  it('that is an error is cut off, too', async () => {
    const server = await endless(LONG, (response) => response.writeHead(500, { 'content-type': 'application/json' }));
    expect(await failed('openai-compatible/m', server)).toEqual(cutAt('openai-compatible/m', '32 MiB'));
  });

  it('of events that say nothing is cut off', async () => {
    const server = await endless(`: ${LONG}\n\n`, (response) => response.writeHead(200, STREAM));
    expect(await failed('openai-compatible/m', server)).toEqual(cutAt('openai-compatible/m', '128 MiB'));
  });

  it('of words is cut off where no model gets to', async () => {
    const said = eventsOf('chat', { text: 'hello' }, 'm').find((event) => event.includes('hello')) ?? '';
    const server = await endless(said.replace('hello', LONG), (response) => response.writeHead(200, STREAM));
    expect(await failed('openai-compatible/m', server)).toMatchObject({
      message: 'openai-compatible/m: the answer has more than 16 Mi characters',
      retryable: false,
      asked: 1,
    });
  });

  it('of a model of the program is cut off, too', async () => {
    async function* calls() {
      for (;;) yield await Promise.resolve({ type: 'tool-call', call: { id: 'c', name: 'x', input: '{}' } } as const);
    }
    const model = { ...modelOf('own/m', [], []), stream: calls };
    const { result } = await runAgent({
      spec: { models: ['own/m'] },
      models: { env: {}, providers: { own: () => model } },
    });
    expect(errorOf(result).message).toBe('own/m: the answer has more than 16 Mi characters');
  });
});
