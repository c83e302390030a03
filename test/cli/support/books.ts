import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventsOf } from '../../agent/support/wire-formats.js';

/** What the server does with a request of an agent, in place of an answer. */
export type Trouble = 'refuses' | 'babbles' | 'cuts' | 'hangs' | 'counts nothing';

/** A call that the server has billed: tokens, and billionths of a dollar. */
export interface Billed {
  readonly agent: string;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly nanos: number;
}

/** Dollars for a million tokens: the prices of {@link PRICES}. */
const RATES = { input: 1.1, cached: 0.11, output: 4.3 };

/** A file for `--prices`. */
export const PRICES = `date: 2026-11-23\nmodels:\n  openai/*: { input: ${RATES.input}, cached: ${RATES.cached}, output: ${RATES.output} }\n`;

/**
 * A provider on a loopback socket that speaks OpenAI's chat completions, counts the tokens itself, and keeps books of what it bills. An agent is known by its
 * system prompt. What it begins to answer it bills, also when it cuts the answer off; what it refuses, or never begins to answer, it does not.
 */
export class Books {
  readonly billed: Billed[] = [];
  /** Agents whose next requests go wrong, in order. */
  readonly troubles = new Map<string, Trouble[]>();
  /** Told of a request that is left hanging. */
  onHang: () => void = () => undefined;
  private readonly seen = new Set<string>();

  private constructor(
    private readonly server: Server,
    private readonly answers: Readonly<Record<string, string>>,
  ) {}

  /** `answers`: by a word of the system prompt. */
  static async open(answers: Readonly<Record<string, string>>): Promise<Books> {
    const server = createServer();
    const books = new Books(server, answers);
    server.on('request', (request, response) => void books.take(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return books;
  }

  get env(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    return { OPENAI_API_KEY: 'sk-books', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  }

  /** Dollars of all calls, or of some of them by their places. */
  usd(from = 0, to = this.billed.length): number {
    return this.billed.slice(from, to).reduce((sum, { nanos }) => sum + nanos, 0) / 1e9;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
      model: string;
      messages: { content: string }[];
    };
    const system = body.messages[0]?.content ?? '';
    const agent = Object.keys(this.answers).find((word) => system.includes(word)) ?? '';
    const trouble = this.troubles.get(agent)?.shift();
    if (trouble === 'hangs') return this.onHang();
    if (trouble === 'refuses') {
      response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '0' });
      response.end('{"error":{"message":"come back later"}}');
      return;
    }
    const text = trouble === 'babbles' ? 'Well, let me see' : (this.answers[agent] ?? 'nothing');
    const input = Math.ceil(JSON.stringify(body.messages).length / 4);
    const cached = this.seen.has(system) ? Math.floor(input / 2) : 0;
    this.seen.add(system);
    const output = Math.ceil(text.length / 4);
    const nanos =
      (input - cached) * RATES.input * 1_000 + cached * RATES.cached * 1_000 + output * RATES.output * 1_000;
    this.billed.push({ agent, input, cached, output, nanos: Math.round(nanos) });
    const raw = {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
    };
    const usage = trouble === 'counts nothing' ? ('none' as const) : { raw };
    const events = eventsOf('chat', { text, usage }, body.model);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (trouble === 'cuts') response.write(events.slice(0, 2).join(''), () => response.destroy());
    else response.end(events.join(''));
  }
}
