import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventsOf, formatOf } from '../../agent/support/wire-formats.js';
import type { WireAnswer } from '../../agent/support/wire-formats.js';

/** A request as both providers mean it. */
export interface Asked {
  readonly system: string;
  readonly tools: readonly string[];
  /** `user: TEXT`, `assistant: TEXT`, `call: NAME`, `result: TEXT`, in order. */
  readonly lines: readonly string[];
}

type Block = Readonly<Record<string, unknown>>;

/**
 * A provider on a loopback socket that refuses what the real ones refuse: results without their calls and calls without their results, empty texts, names that
 * tools can't have, and for Anthropic conversations that don't begin with a user, turns that don't alternate, calls where no tools are declared.
 */
export async function strictProvider(answer: (asked: Asked) => WireAnswer | Promise<WireAnswer>) {
  const refused: string[] = [];
  const asked: Asked[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Block;
    const format = formatOf(request.url ?? '') ?? 'chat';
    try {
      const one = format === 'messages' ? ofAnthropic(body) : ofOpenAI(body);
      asked.push(one);
      const events = eventsOf(format, await answer(one), String(body['model']));
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''));
    } catch (error) {
      refused.push(String(error));
      const message = { error: { type: 'invalid_request_error', message: String(error) } };
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(message));
    }
  };
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    asked,
    refused,
    env: {
      OPENAI_BASE_URL: `${origin}/v1`,
      OPENAI_API_KEY: 'key',
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_API_KEY: 'key',
    },
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function ofAnthropic(body: Block): Asked {
  const messages = body['messages'] as readonly { role: string; content: string | readonly Block[] }[];
  const tools = ((body['tools'] ?? []) as readonly Block[]).map(({ name }) => String(name));
  must(typeof body['max_tokens'] === 'number', 'max_tokens: Field required');
  must(tools.every((name) => NAME.test(name)) && new Set(tools).size === tools.length, 'tools: bad names');
  must(messages[0]?.role === 'user', 'messages: first message must use the "user" role');
  const lines: string[] = [];
  let open: string[] = [];
  messages.forEach(({ role, content }, at) => {
    must(at === 0 || messages[at - 1]?.role !== role, 'messages: roles must alternate');
    const blocks: readonly Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    must(blocks.length > 0, `messages.${at}: content must not be empty`);
    const results = blocks.filter(({ type }) => type === 'tool_result');
    const ids = results.map((block) => block['tool_use_id'] as string);
    must(sameSet(ids, open), `messages.${at}: tool_use ids without tool_result`);
    open = [];
    for (const block of blocks) {
      if (block['type'] === 'text') {
        must(String(block['text']).trim() !== '', `messages.${at}: text content blocks must be non-empty`);
        lines.push(`${role}: ${String(block['text'])}`);
      } else if (block['type'] === 'tool_use') {
        must(tools.length > 0, 'Requests which include `tool_use` or `tool_result` blocks must define tools');
        open.push(block['id'] as string);
        lines.push(`call: ${String(block['name'])}`);
      } else lines.push(`result: ${textOf(block['content'])}`);
    }
  });
  must(open.length === 0, 'messages: the last message has tool_use blocks without tool_result');
  must(messages.at(-1)?.role === 'user', 'messages: this model does not support assistant message prefill');
  return {
    system: textOf(body['system']),
    tools: body['tool_choice'] && (body['tool_choice'] as Block)['type'] === 'none' ? [] : tools,
    lines,
  };
}

function ofOpenAI(body: Block): Asked {
  const input = (body['input'] ?? body['messages']) as readonly Block[];
  const tools = ((body['tools'] ?? []) as readonly Block[]).map((tool) =>
    String(tool['name'] ?? (tool['function'] as Block)['name']),
  );
  must(tools.every((name) => NAME.test(name)) && new Set(tools).size === tools.length, 'tools: bad names');
  must(body['tools'] === undefined || tools.length > 0, '[] is too short - tools');
  const lines: string[] = [];
  let system = '';
  const open = new Set<unknown>();
  for (const item of input) {
    const { role, type } = item;
    if (type === 'function_call') {
      open.add(item['call_id']);
      lines.push(`call: ${String(item['name'])}`);
    } else if (type === 'function_call_output') {
      must(
        open.delete(item['call_id']),
        `No tool call found for function call output with call_id ${String(item['call_id'])}`,
      );
      lines.push(`result: ${String(item['output'])}`);
    } else if (role === 'tool') {
      must(
        open.delete(item['tool_call_id']),
        "messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
      );
      lines.push(`result: ${textOf(item['content'])}`);
    } else if (role === 'system' || role === 'developer') system += textOf(item['content']);
    else {
      must(open.size === 0, "An assistant message with 'tool_calls' must be followed by tool messages");
      if (textOf(item['content']) !== '') lines.push(`${String(role)}: ${textOf(item['content'])}`);
      for (const call of (item['tool_calls'] ?? []) as readonly Block[]) {
        open.add(call['id']);
        lines.push(`call: ${String((call['function'] as Block)['name'])}`);
      }
    }
  }
  must(open.size === 0, 'No tool output found for function call');
  return { system, tools, lines };
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && new Set([...one, ...other]).size === one.length;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content.map((part) => ((part as Block)['text'] as string | undefined) ?? '').join('')
    : '';
}
