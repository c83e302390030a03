import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { quickTime } from '../quick-time.js';
import { FakeProvider } from './support/fake-provider.js';
import { errorOf, outputOf, runAgent } from './support/run-agent.js';

quickTime();

const KEY = 'sk-very-secret-key-1234';
/** A key without a known shape. */
const TEAM_KEY = 'team/key+of-this-server=0123456789';

function chat(provider: FakeProvider, ...models: string[]) {
  return {
    spec: { models: models.length === 0 ? ['openai/first'] : models },
    models: { env: { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: KEY } },
  };
}

describe('a provider that fails', () => {
  it('is tried three times with growing delays when it answers 500 for ever', async () => {
    await using provider = await FakeProvider.start({ status: 500, body: { error: { message: 'the disk is full' } } });
    const { result, step } = await runAgent(chat(provider));
    const error = errorOf(result);
    expect(error).toMatchObject({ code: 'SKEIN_MODEL_FAILED', retryable: true, details: { status: 500 } });
    expect(error.message).toContain('the disk is full');
    expect(provider.requests).toHaveLength(3);
    expect(step.sleeps).toEqual([500, 1_000]);
    expect(step.effects).toEqual(['open', 'model#1', 'model#1.2', 'model#1.3', 'close']);
  });

  it('is not asked again when a web page answers, and the base URL is doubted', async () => {
    const page = { status: 200, body: '<html>hello</html>', headers: { 'content-type': 'text/html; charset=utf-8' } };
    await using provider = await FakeProvider.start(page);
    const { result } = await runAgent(chat(provider));
    expect(errorOf(result)).toMatchObject({
      code: 'SKEIN_MODEL_FAILED',
      message: 'openai/first: the address answered with a web page',
      hint: expect.stringContaining('base URL') as string,
    });
    expect(provider.requests).toHaveLength(1);
  });

  it.each(['openai/first', 'anthropic/first'])(
    'is not asked again when it answers without a stream: %s',
    async (model) => {
      await using provider = await FakeProvider.start({ status: 200, body: { choices: [], content: [] } });
      const { result } = await runAgent({ spec: { models: [model] }, models: { env: provider.env } });
      expect(errorOf(result)).toMatchObject({
        code: 'SKEIN_MODEL_FAILED',
        message: `${model}: the provider answered with one JSON document and not with a stream`,
        hint: expect.stringContaining('streaming') as string,
      });
      expect(provider.requests).toHaveLength(1);
    },
  );

  it('is waited for as long as Retry-After says in seconds', async () => {
    await using provider = await FakeProvider.start({ status: 429, headers: { 'retry-after': '7' } }, { text: 'Now.' });
    const { result, step } = await runAgent(chat(provider));
    expect(outputOf(result)).toBe('Now.');
    expect(step.sleeps).toEqual([7_000]);
    expect(step.of('model.retrying')[0]?.error).toMatchObject({ code: 'SKEIN_MODEL_OVERLOADED', retryAfterMs: 7_000 });
  });

  it('is waited for as long as retry-after-ms says, which is more exact', async () => {
    const headers = { 'retry-after': '7', 'retry-after-ms': '1250' };
    await using provider = await FakeProvider.start({ status: 429, headers }, { text: 'Now.' });
    const { step } = await runAgent(chat(provider));
    expect(step.sleeps).toEqual([1_250]);
  });

  it('is waited for until the date in Retry-After', async () => {
    const date = new Date(Date.now() + 30_000).toUTCString();
    await using provider = await FakeProvider.start(
      { status: 503, headers: { 'retry-after': date } },
      { text: 'Now.' },
    );
    const { step } = await runAgent(chat(provider));
    expect(step.sleeps[0]).toBeGreaterThan(10_000);
    expect(step.sleeps[0]).toBeLessThanOrEqual(30_000);
  });

  it('is not waited for when it asks for more than a minute', async () => {
    await using provider = await FakeProvider.start({ status: 429, headers: { 'retry-after': '120' } });
    const { result, step } = await runAgent(chat(provider));
    expect(errorOf(result)).toMatchObject({ code: 'SKEIN_MODEL_OVERLOADED', retryAfterMs: 120_000 });
    expect(errorOf(result).message).toContain('asks to wait 120 s, more than the 60 s');
    expect(step.sleeps).toEqual([]);
    expect(provider.requests).toHaveLength(1);
  });

  it('is left for the next model when it stays down', async () => {
    const down = { status: 500 } as const;
    await using provider = await FakeProvider.start(down, down, down, { text: 'From the second.' });
    const { result, step } = await runAgent(chat(provider, 'openai/first', 'openai/second'));
    expect(outputOf(result)).toBe('From the second.');
    expect(provider.requests.map((request) => request.body['model'])).toEqual(['first', 'first', 'first', 'second']);
    expect(step.of('model.fallback')[0]).toMatchObject({ from: 'openai/first', to: 'openai/second' });
    expect(step.of('model.ended')[0]?.model).toBe('openai/second');
  });

  it.each([
    ['404', { status: 404, body: { error: { message: 'The model `first` was not found' } } }],
    ['400 that says so', { status: 400, body: { error: { message: 'The model `first` does not exist' } } }],
    [
      '400 that says "not available"',
      { status: 400, body: { error: { message: 'model first is not available here' } } },
    ],
  ])('is left at once when it does not have the model: %s (statements 59 and 60)', async (_name, reply) => {
    await using provider = await FakeProvider.start(reply, { text: 'From the second.' });
    const { result, step } = await runAgent(chat(provider, 'openai/first', 'openai/second'));
    expect(outputOf(result)).toBe('From the second.');
    expect(step.of('model.fallback')[0]?.error.code).toBe('SKEIN_MODEL_UNAVAILABLE');
    expect(step.sleeps).toEqual([]);
    // Statement 61: what is recorded is the model that answered.
    expect(step.of('model.ended').map((note) => note.model)).toEqual(['openai/second']);
  });

  it('stays at the model that answered for the rest of the step', async () => {
    const call = { calls: [{ id: 'c1', name: 'nothing', input: '{}' }] };
    await using provider = await FakeProvider.start({ status: 404 }, call, { text: 'Done.' });
    await runAgent(chat(provider, 'openai/first', 'openai/second'));
    expect(provider.requests.map((request) => request.body['model'])).toEqual(['first', 'second', 'second']);
  });

  it('is left also in a later turn', async () => {
    const call = { calls: [{ id: 'c1', name: 'nothing', input: '{}' }] };
    await using provider = await FakeProvider.start(call, { status: 404 }, { text: 'Done.' });
    const { result } = await runAgent(chat(provider, 'openai/first', 'openai/second'));
    expect(outputOf(result)).toBe('Done.');
    expect(provider.requests.map((request) => request.body['model'])).toEqual(['first', 'first', 'second']);
  });

  it.each([
    ['in base64', Buffer.from(`Bearer ${TEAM_KEY}`).toString('base64')],
    ['as it stands in an address', encodeURIComponent(TEAM_KEY)],
    ['in hexadecimal digits', Buffer.from(TEAM_KEY).toString('hex')],
    ['where its words are cut off', `${'x'.repeat(600 - TEAM_KEY.length)} ${TEAM_KEY} is wrong`],
  ])('does not get the key into a message by quoting it %s', async (_, quoted) => {
    await using provider = await FakeProvider.start({ status: 401, body: { error: { message: `No: ${quoted}.` } } });
    const env = { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: TEAM_KEY };
    const { result } = await runAgent({ spec: { models: ['openai/first'] }, models: { env } });
    const { code, message } = errorOf(result);
    expect(code).toBe('SKEIN_MODEL_REFUSED');
    expect(message).toContain('[redacted]');
    for (const part of [quoted.slice(-24), TEAM_KEY.slice(0, 12)]) expect(message).not.toContain(part);
  });

  it('is not tried again with a wrong key, and the key is in no message', async () => {
    const body = { error: { message: `Incorrect API key provided: ${KEY}.` } };
    await using provider = await FakeProvider.start({ status: 401, body });
    const { result, step } = await runAgent(chat(provider, 'openai/first', 'openai/second'));
    const error = errorOf(result);
    expect(error).toMatchObject({ code: 'SKEIN_MODEL_REFUSED', hint: 'check the key in OPENAI_API_KEY' });
    expect(provider.requests).toHaveLength(1);
    expect(provider.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify([error, step.notes])).not.toContain(KEY);
  });

  it('is not tried again without money, although it says 429', async () => {
    const body = { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } };
    await using provider = await FakeProvider.start({ status: 429, body });
    const { result } = await runAgent(chat(provider));
    expect(errorOf(result).code).toBe('SKEIN_MODEL_REFUSED');
    expect(provider.requests).toHaveLength(1);
  });

  it('is not there at all: a network error', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const env = { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
    const { result, step } = await runAgent({ spec: { models: ['openai/first'] }, models: { env } });
    expect(errorOf(result)).toMatchObject({ code: 'SKEIN_NETWORK', retryable: true });
    expect(errorOf(result).message).toContain('ECONNREFUSED');
    expect(errorOf(result).hint).toContain('base URL');
    expect(step.sleeps).toHaveLength(2);
  });

  it('gives an answer of another kind, which is reported as one that can not be read', async () => {
    await using provider = await FakeProvider.start({ status: 502, body: '<html>Bad gateway</html>' });
    const { result } = await runAgent(chat(provider));
    expect(errorOf(result)).toMatchObject({ code: 'SKEIN_MODEL_FAILED', details: { status: 502 } });
  });
});

describe('a stream that stops in the middle', () => {
  it('ends when the step is cancelled, and the connection is closed', async () => {
    await using provider = await FakeProvider.start({ stall: 'All is we' });
    const reached = new Promise<void>((resolve) => {
      provider.onPartial = resolve;
    });
    let cancel: () => void = () => undefined;
    const running = runAgent({
      ...chat(provider),
      before: (step) => {
        cancel = () => step.controller.abort(new Error('cancelled by the test'));
      },
    });
    await reached;
    cancel();
    const { result, step } = await running;
    await provider.closed;
    expect(errorOf(result).message).toContain('cancelled by the test');
    expect(step.sleeps).toEqual([]);
    expect(provider.requests).toHaveLength(1);
  });

  it('is a network error when the connection breaks every time', async () => {
    await using provider = await FakeProvider.start({ cut: 'All is we' });
    const { result, step } = await runAgent(chat(provider));
    expect(errorOf(result)).toMatchObject({ code: 'SKEIN_NETWORK', retryable: true });
    expect(errorOf(result).message).toContain('the connection was cut in the middle of the answer: ');
    expect(provider.requests).toHaveLength(3);
    expect(step.of('model.ended')).toEqual([]);
  });
});

describe('an answer with nothing in it', () => {
  it.each([
    ['no text', { text: '' }],
    ['only white space', { text: ' \n ' }],
  ])('is a failure: %s (statement 35)', async (_name, reply) => {
    await using provider = await FakeProvider.start(reply);
    const { result } = await runAgent(chat(provider));
    expect(errorOf(result).code).toBe('SKEIN_MODEL_EMPTY');
    expect(errorOf(result).message).toContain('openai/first');
    expect(provider.requests).toHaveLength(1);
  });

  it('says so when the output limit was the reason', async () => {
    await using provider = await FakeProvider.start({ text: '', finish: 'length' });
    const { result } = await runAgent(chat(provider));
    expect(errorOf(result).message).toContain('output limit');
  });
});

it('an answer that is cut by the output limit is used, with a warning', async () => {
  await using provider = await FakeProvider.start({ text: 'Half of it', finish: 'length' });
  const { result, step } = await runAgent(chat(provider));
  expect(outputOf(result)).toBe('Half of it');
  expect(step.of('warning').map((note) => note.code)).toEqual(['answer-cut']);
});

describe('an answer that a content filter cut', () => {
  it('is a failure, and a retry may try again', async () => {
    await using provider = await FakeProvider.start({ text: 'Half of it', finish: 'content_filter' });
    const { result } = await runAgent(chat(provider));
    expect(errorOf(result)).toMatchObject({ code: 'SKEIN_MODEL_REFUSED', retryable: true });
    expect(errorOf(result).message).toContain('content filter of openai/first');
    expect(provider.requests).toHaveLength(1);
  });

  it('is used if it is structured and complete', async () => {
    await using provider = await FakeProvider.start({ text: '{"a":1}', finish: 'content_filter' });
    const given = chat(provider);
    const { result } = await runAgent({ ...given, spec: { ...given.spec, output: { schema: { required: ['a'] } } } });
    expect(outputOf(result)).toEqual({ a: 1 });
  });
});

it('an answer that ends with an error of the server is not used: the call is made again', async () => {
  await using provider = await FakeProvider.start({ text: 'Half of it', finish: 'error' }, { text: 'All of it' });
  const { result, step } = await runAgent(chat(provider));
  expect(outputOf(result)).toBe('All of it');
  expect(step.of('model.retrying')[0]?.error).toMatchObject({ code: 'SKEIN_MODEL_FAILED' });
});
