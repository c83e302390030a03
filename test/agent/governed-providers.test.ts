import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { definePlan, memoryStore, readRun, run } from 'skein';
import type { RunOptions, SkeinEvent, StepNote } from 'skein';
import { fromLanguageModel } from 'skein/agent';
import type { Model, ModelRequest } from 'skein/agent';
import { governed } from '../../src/agent/models/governed.js';
import { Governor } from '../../src/budget/governor.js';
import { FakeClock } from '../../src/testing/index.js';
import type { Rate } from '../budget/rate-server.js';
import { RateServer } from '../budget/rate-server.js';
import { eventsOf, formatOf } from './support/wire-formats.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server on loopback; `answers`: gives a finished answer in the wire format that was asked for. */
async function serverWith(handler: Handler): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => handler(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  headers: Readonly<Record<string, string>> = {},
): void {
  const format = formatOf(request.url ?? '');
  if (format === undefined) throw new Error(`no such path: ${request.url}`);
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  response.end(eventsOf(format, { text: 'Done.' }, 'm').join(''));
}

const REQUEST: Omit<ModelRequest, 'turn'> = {
  messages: [{ role: 'user', text: 'Go.' }],
  tools: [],
  settings: {},
  signal: new AbortController().signal,
  caller: { path: 'a', agent: 'a', turn: 1 },
  dispatch: () => Promise.reject(new Error('no tools')),
};

type Connect = (options: { readonly baseURL: string; readonly apiKey: string; readonly fetch: typeof fetch }) => Model;
const openai: Connect = (options) => fromLanguageModel(createOpenAI(options).responses('m'));
const anthropic: Connect = (options) => fromLanguageModel(createAnthropic(options)('m'));

const RUN = { again: false, waits: () => () => undefined, queued: () => undefined, admitted: () => undefined };

describe('[15.5] a provider on loopback with a rate, by a simulated clock', () => {
  it.each([
    ['openai', openai],
    ['anthropic', anthropic],
  ] as const)(
    '%s: within 30 s nine tenths of it are used and under a fiftieth is refused, and two runs share it',
    async (speaks, connect) => {
      const clock = new FakeClock();
      const rate: Rate = { perMinute: 240, burst: 40, speaks };
      const rates = new RateServer(rate, clock);
      const counts = { sent: 0, arrived: 0, answered: 0, ended: 0, one: 0, two: 0 };
      const baseURL = await serverWith((request, response) => {
        counts.arrived += 1;
        const { status, headers } = rates.answer();
        clock.setTimer(300, () => {
          counts.answered += 1;
          if (status === 200) answer(request, response, headers);
          else
            response
              .writeHead(status, { ...headers, 'content-type': 'application/json' })
              .end('{"error":{"message":"no"}}');
        });
      });
      const counted: typeof fetch = (...given) => {
        counts.sent += 1;
        return fetch(...given);
      };
      const model = governed(connect({ baseURL, apiKey: 'k', fetch: counted }), {
        governor: new Governor(clock),
        clock,
      });
      const call = async (name: 'one' | 'two', again = false): Promise<void> => {
        const { signal } = new AbortController();
        try {
          for await (const part of model.stream({ ...REQUEST, signal, turn: { ...RUN, run: name, again } }))
            if (part.type === 'finish') counts[name] += 1;
          counts.ended += 1;
        } catch {
          counts.ended += 1;
          await call(name, true);
        }
      };
      for (let i = 0; i < 400; i++) void call(i < 300 ? 'one' : 'two');
      const end = clock.now() + 30_000;
      while (clock.now() < end) {
        // No time passes while something is on its way.
        for (let turns = 0; turns < 3 || counts.sent > counts.arrived || counts.answered > counts.ended; turns++)
          await new Promise((next) => setImmediate(next));
        clock.advanceToNext();
      }
      expect(rates.taken / (rate.burst + rate.perMinute / 2)).toBeGreaterThan(0.9);
      expect(rates.refused / (rates.taken + rates.refused)).toBeLessThan(0.02);
      // The first sixteen went at once.
      expect(counts.two).toBeGreaterThan(55);
      expect(Math.abs(counts.one - counts.two)).toBeLessThanOrEqual(20);
    },
  );
});

const agent = { name: 'a', instructions: ['Write.'], models: ['openai/m'], tools: [] };
const node = (more: object = {}) => ({
  id: 'w',
  kind: 'agent' as const,
  agent,
  prompt: ['Write.'],
  output: 'text',
  ...more,
});
const wide = (count: number, more: object = {}) =>
  definePlan({
    name: 'wide',
    nodes: Array.from({ length: count }, (_, at) => node({ id: `w${at}`, output: `t${at}`, ...more })),
  });

/** A server that takes a while for each answer, and counts how many it has at once. */
async function slowServer(
  ms: number,
): Promise<{ readonly models: Required<RunOptions>['models']; readonly most: () => number }> {
  let now = 0;
  let most = 0;
  const baseUrl = await serverWith((request, response) => {
    most = Math.max(most, (now += 1));
    setTimeout(() => {
      now -= 1;
      answer(request, response);
    }, ms);
  });
  return { models: { env: { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'k' } }, most: () => most };
}

function notesOf(kind: StepNote['kind'], events: readonly SkeinEvent[]): readonly StepNote[] {
  return events.flatMap((event) => (event.type === 'step.note' && event.note.kind === kind ? [event.note] : []));
}

describe('[15.5] limits of a run', () => {
  it('hold for all runs of the process, and the queue counts toward no timeout and is told', async () => {
    const { models, most } = await slowServer(800);
    const events: SkeinEvent[] = [];
    const limits = { openai: { concurrency: 2 } };
    const options = { models, limits, listeners: [(event: SkeinEvent) => void events.push(event)] };
    const runs = [1, 2].map(() => run(wide(8, { timeoutMs: 5_000 }), options).result);
    const ended = await Promise.all(runs);
    expect(ended.map(({ outcome, error }) => [outcome, error])).toEqual([
      ['succeeded', undefined],
      ['succeeded', undefined],
    ]);
    expect(most()).toBe(2);
    const queued = notesOf('model.queued', events);
    const admitted = notesOf('model.admitted', events);
    // Sixteen calls of 0.8 s, two at once: the last ones wait for longer than the five seconds that their steps may take.
    expect(queued.length).toBeGreaterThanOrEqual(4);
    expect(admitted).toHaveLength(queued.length);
    expect(queued[0]).toMatchObject({ turn: 1, model: 'openai/m' });
  });

  it('count for a provider, an address and a key: another key has a line of its own', async () => {
    const atOnce = async (...keys: readonly string[]): Promise<number> => {
      const { models, most } = await slowServer(1_000);
      const plan = definePlan({ name: 'one', nodes: [node()] as never });
      const runs = keys.map((key) => {
        const env = { ...models.env, OPENAI_API_KEY: key };
        return run(plan, { models: { ...models, env }, limits: { openai: { concurrency: 1 } } }).result;
      });
      expect((await Promise.all(runs)).map(({ outcome }) => outcome)).toEqual(keys.map(() => 'succeeded'));
      return most();
    };
    expect(await atOnce('k', 'k')).toBe(1);
    expect(await atOnce('k', 'other')).toBe(2);
  });

  it('hold no model up that answers from a file', async () => {
    const options = { models: { env: {}, mock: true }, limits: { openai: { requestsPerMinute: 1 } } };
    expect((await run(wide(50), options).result).outcome).toBe('succeeded');
  });

  it('a step that is cut off while it waits leaves the queue', async () => {
    const { models, most } = await slowServer(1_500);
    const limits = { openai: { concurrency: 1 } };
    const first = run(definePlan({ name: 'first', nodes: [node()] as never }), { models, limits });
    const stop = new AbortController();
    const cancelled = run(wide(3), { models, limits, signal: stop.signal });
    setTimeout(() => stop.abort(), 300);
    expect((await cancelled.result).outcome).toBe('cancelled');
    expect((await first.result).outcome).toBe('succeeded');
    // Nobody is in front of it any more.
    expect((await run(definePlan({ name: 'last', nodes: [node()] as never }), { models, limits }).result).outcome).toBe(
      'succeeded',
    );
    expect(most()).toBe(1);
  });

  it('a call that still waited when its run was cancelled was not made, and is not counted', async () => {
    const { models } = await slowServer(60_000);
    const store = memoryStore();
    const stop = new AbortController();
    const listener = (event: SkeinEvent): void => {
      if (event.type === 'step.note' && event.note.kind === 'model.queued') stop.abort();
    };
    const options = {
      models,
      limits: { openai: { concurrency: 1 } },
      store,
      signal: stop.signal,
      listeners: [listener],
    };
    const { outcome, spent, runId } = await run(wide(2), options).result;
    expect([outcome, spent.modelCalls, readRun(store, runId).modelCalls]).toEqual(['cancelled', 1, 1]);
  });

  it.each<[string, object, RegExp]>([
    ['a provider that nobody knows', { opnai: { concurrency: 1 } }, /no provider is called "opnai"/],
    ['a limit that nobody knows', { openai: { concurency: 1 } }, /openai has no limit "concurency"/],
    ['zero', { openai: { concurrency: 0 } }, /concurrency of openai is 0, not a whole number above 0/],
    ['less', { openai: { requestsPerMinute: -5 } }, /requestsPerMinute of openai is -5/],
    ['half', { openai: { concurrency: 1.5 } }, /concurrency of openai is 1.5/],
    ['another unit', { openai: { tokensPerMinute: '200t' } }, /tokensPerMinute of openai is "200t"/],
    ['something else', { openai: 8 }, /the limits of openai must have names/],
  ])('are refused: %s', (_name, limits, message) => {
    expect(() => run(wide(1), { limits: limits as never })).toThrow(message);
  });

  it("stand for providers of one's own, too", async () => {
    let now = 0;
    let most = 0;
    const model: Model = {
      id: 'own/m',
      async *stream() {
        most = Math.max(most, (now += 1));
        await new Promise((next) => setTimeout(next, 20));
        now -= 1;
        yield { type: 'text', text: 'Done.' };
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } };
      },
    };
    const models = { env: {}, noProbe: true, providers: { own: () => model } };
    const plan = wide(8, { agent: { ...agent, models: ['own/m'] } });
    expect(
      (await run(plan, { models, limits: { own: { concurrency: 3, tokensPerMinute: '1m' } } }).result).outcome,
    ).toBe('succeeded');
    expect(most).toBe(3);
  });
});
