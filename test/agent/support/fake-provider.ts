import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WireAnswer } from './wire-formats.js';
import { eventsOf, formatOf } from './wire-formats.js';

/** What the server does with one request. */
export type Reply =
  | WireAnswer
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Sends the beginning of an answer, then breaks the connection, or ends it in an orderly way before the answer is complete. */
  | { readonly cut: string; readonly orderly?: boolean }
  /** Sends the beginning of an answer, then nothing. */
  | { readonly stall: string };

/** A request that arrived. */
export interface Received {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

/** A provider on a loopback socket: chat completions, responses and messages, streaming; also Ollama's list of models. */
export class FakeProvider {
  readonly requests: Received[] = [];
  /** Answers, in order; the last one is given for ever. */
  replies: Reply[] = [];
  /** Answers `/api/tags`; absent: 404. */
  ollamaModels: readonly string[] | 'never' | undefined;
  /** Called when a stalled or cut answer has been sent as far as it goes. */
  onPartial: () => void = () => undefined;
  /** Settles when a client closed a stalled connection. */
  closed: Promise<void>;
  private tellClosed: () => void = () => undefined;

  private constructor(private readonly server: Server) {
    this.closed = new Promise((resolve) => {
      this.tellClosed = resolve;
    });
  }

  static async start(...replies: Reply[]): Promise<FakeProvider> {
    const server = createServer();
    const provider = new FakeProvider(server);
    provider.replies = replies;
    server.on('request', (request, response) => void provider.handle(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return provider;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  /** Variables by which OpenAI, Anthropic and a compatible server are all this one. */
  get env(): Readonly<Record<string, string>> {
    return {
      OPENAI_BASE_URL: this.baseUrl,
      OPENAI_API_KEY: 'key',
      ANTHROPIC_BASE_URL: this.origin,
      ANTHROPIC_API_KEY: 'key',
      OPENAI_COMPATIBLE_BASE_URL: this.baseUrl,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '';
    if (url === '/api/tags') {
      this.requests.push({ url, headers: request.headers, body: {} });
      const models = this.ollamaModels;
      if (models === 'never') return;
      if (models === undefined) json(response, 404, { error: 'no' });
      else json(response, 200, { models: models.map((name) => ({ name })) });
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
    this.requests.push({ url, headers: request.headers, body });
    const reply = this.replies[Math.min(this.requests.length, this.replies.length) - 1];
    if (reply === undefined) json(response, 500, { error: { message: 'the test planned no answer' } });
    else this.answer(reply, url, String(body['model']), response);
  }

  private answer(reply: Reply, url: string, model: string, response: ServerResponse): void {
    if ('status' in reply) {
      json(response, reply.status, reply.body ?? { error: { message: 'a planned failure' } }, reply.headers);
      return;
    }
    const format = formatOf(url);
    if (format === undefined) {
      json(response, 404, { error: { message: `no such path: ${url}` } });
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (!('cut' in reply) && !('stall' in reply)) {
      response.end(eventsOf(format, reply, model).join(''));
      return;
    }
    const text = 'cut' in reply ? reply.cut : reply.stall;
    const events = eventsOf(format, { text }, model);
    const ending = { chat: 3, responses: 2, messages: 3 }[format];
    response.write(events.slice(0, events.length - ending).join(''), () => {
      this.onPartial();
      if ('stall' in reply) response.on('close', this.tellClosed);
      else if (reply.orderly === true) response.end();
      else response.destroy();
    });
  }
}

function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
