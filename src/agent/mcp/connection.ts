import { messageOf } from '../../base/thrown.js';
import { countText } from '../../base/text.js';
import type { Client, CallToolResult } from '@modelcontextprotocol/client';
import { sentKey } from '../../base/address.js';
import { SkeinError, stepCancelled } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import type { McpServerSpec } from '../../plan/agent-spec.js';
import type { ServerTools } from '../../plan/tool-names.js';
import { listTools, offeredTools, type OfferedTool } from './offered.js';
import { Pins } from './pins.js';
import { Breaker } from './limited-fetch.js';
import { StdioTransport } from './stdio-transport.js';
import { makeTransport, type TransportSettings, type Way } from './transport.js';
import { cleanText } from './untrusted.js';
import type { ToolIo } from '../tool.js';
import { within } from '../tools/process-group.js';
import type { ToolPins } from '../tools/provider-options.js';
import { headAndTail } from '../tools/text.js';

/** How a server is started, and its time limits. */
export interface McpSettings extends Omit<TransportSettings, 'breaker'> {
  readonly agent: string;
  /** Tools whose calls need a person's approval, by server. */
  readonly approve?: ReadonlyMap<string, ServerTools>;
  readonly signal: AbortSignal;
  readonly startMs: number;
  readonly callMs: number;
  /** The record of what servers offer. */
  readonly pins: ToolPins | undefined;
  warn(code: string, message: string): void;
}

interface Link extends Way {
  readonly name: string;
  readonly client: Client;
  readonly breaker: Breaker;
  readonly settings: McpSettings;
}

/** A connected server: its tools as listed at the start, and the calls of them. */
export class McpConnection {
  private constructor(
    private readonly link: Link,
    private readonly pins: Pins,
    readonly tools: readonly OfferedTool[],
  ) {}

  /**
   * Starts or reaches a server, and lists its tools.
   *
   * @throws SkeinError `SKEIN_MCP`; nothing is left running
   */
  static async open(name: string, spec: McpServerSpec, settings: McpSettings): Promise<McpConnection> {
    const sdk = await import('@modelcontextprotocol/client');
    const breaker = new Breaker();
    const way = makeTransport(name, spec, { ...settings, breaker }, sdk.StreamableHTTPClientTransport);
    const client = new sdk.Client({ name: 'skein', version: '1' }, { capabilities: {} });
    const { transport } = way;
    const link = { ...way, name, client, breaker, settings };
    const limits = { timeout: settings.startMs, maxTotalTimeout: settings.startMs };
    try {
      const pins = new Pins(name, () => listTools(name, client, limits));
      client.setNotificationHandler('notifications/tools/list_changed', () => pins.markChanged());
      await client.connect(transport, { ...limits, signal: settings.signal });
      const listed = await listTools(name, client, { ...limits, signal: settings.signal });
      const tools = offeredTools(name, listed, (tool, why) => {
        settings.warn('mcp-tool-refused', `agent ${settings.agent}: MCP server "${name}", tool ${tool}: ${why}`);
      });
      pins.hold(tools);
      return new McpConnection(link, pins, tools);
    } catch (error) {
      await closeQuietly(link);
      throw startError(link, error);
    }
  }

  /**
   * Calls a tool.
   *
   * @throws SkeinError `SKEIN_MCP` if the server is gone, breaks its protocol, or changed the tool; `SKEIN_TOOL_FAILED` if the tool fails
   *   or times out; `SKEIN_CANCELLED`
   */
  async call(tool: OfferedTool, input: JsonObject, { signal, idempotencyKey }: ToolIo): Promise<string> {
    const { client, name, settings } = this.link;
    const broken = this.link.breaker.signal;
    try {
      await this.pins.check(tool);
      const result = await client.request(
        {
          method: 'tools/call',
          params: {
            name: tool.name,
            arguments: input,
            // The server can recognise a call that a crash repeats.
            _meta: { 'skein/idempotency-key': sentKey(idempotencyKey) },
          },
        },
        { signal: AbortSignal.any([signal, broken]), timeout: settings.callMs, maxTotalTimeout: settings.callMs },
      );
      if (!('content' in result)) throw new SkeinError('SKEIN_MCP', `MCP server "${name}" answered with no content`);
      return resultText(result);
    } catch (error) {
      if (broken.aborted && SkeinError.isInstance(broken.reason)) throw broken.reason;
      throw callError(this.link, tool, error, signal);
    }
  }

  /** Ends the connection and the server's processes. */
  async close(): Promise<void> {
    await closeQuietly(this.link);
  }
}

/** Milliseconds that a server over HTTP has to accept the end of its session. */
const GOODBYE_MS = 1_000;

async function closeQuietly({ client, transport, goodbye }: Link): Promise<void> {
  if (goodbye !== undefined)
    await within(
      GOODBYE_MS,
      goodbye().catch(() => undefined),
    );
  // The server may be gone already. A client that never connected does not close its transport.
  await client.close().catch(() => undefined);
  await transport.close().catch(() => undefined);
}

function callError(link: Link, tool: OfferedTool, error: unknown, signal: AbortSignal): unknown {
  if (SkeinError.isInstance(error)) return error;
  if (signal.aborted) return new SkeinError('SKEIN_CANCELLED', 'the tool call was cancelled');
  const failure = link.transport instanceof StdioTransport ? link.transport.failure : undefined;
  if (failure !== undefined) return failure;
  const what = `MCP server "${link.name}", tool ${tool.name}`;
  if (isTimeout(error)) {
    return new SkeinError('SKEIN_TOOL_FAILED', `${what}: no answer within ${link.settings.callMs} ms`, {
      cause: error,
    });
  }
  return new SkeinError('SKEIN_MCP', `${what}: ${reasonOf(error)}`, { cause: error });
}

function startError({ name, transport, settings }: Link, error: unknown): SkeinError {
  if (SkeinError.isInstance(error)) return error;
  if (settings.signal.aborted) return stepCancelled();
  const stdio = transport instanceof StdioTransport ? transport : undefined;
  if (stdio?.failure !== undefined) return stdio.failure;
  const what = `MCP server "${name}"`;
  if (isTimeout(error)) {
    const stray =
      stdio === undefined || stdio.stray === 0
        ? ''
        : `; it wrote ${countText(stdio.stray, 'line')} that can't be read as a message`;
    const words = stdio === undefined || stdio.lastWords === '' ? '' : `:\n${stdio.lastWords}`;
    return new SkeinError('SKEIN_MCP', `${what} did not get ready within ${settings.startMs} ms${stray}${words}`, {
      cause: error,
    });
  }
  // A program that was started and answered was reached: its answer was not one that a server gives.
  if (stdio !== undefined)
    return new SkeinError('SKEIN_MCP', `${what} did not get ready: ${reasonOf(error)}`, { cause: error });
  return new SkeinError('SKEIN_MCP', `${what} could not be reached: ${reasonOf(error)}`, {
    cause: error,
    hint: 'check the url; servers that only speak the legacy SSE form are not supported',
  });
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'REQUEST_TIMEOUT';
}

function reasonOf(error: unknown): string {
  // Recursive parsers of JSON and schemas fail with this error.
  if (error instanceof RangeError) return 'what it sent is nested too deeply';
  const text = messageOf(error);
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return cleanText(`${text}${cause}`);
}

const MAX_RESULT_CHARS = 256 * 1024;

/**
 * Returns the answer of an MCP tool as text: text parts joined by newlines, a note for each other part, and the structured content if there
 * is nothing else. Cut to 256 Ki characters, beginning and end.
 *
 * @throws SkeinError `SKEIN_TOOL_FAILED` with the text if the server reports a failed call
 */
export function resultText(result: CallToolResult): string {
  const parts = result.content.map(partText).filter((part) => part !== '');
  if (parts.length === 0 && result.structuredContent !== undefined)
    parts.push(JSON.stringify(result.structuredContent));
  const text = headAndTail(parts.join('\n'), MAX_RESULT_CHARS);
  if (result.isError === true) throw new SkeinError('SKEIN_TOOL_FAILED', text === '' ? 'the tool failed' : text);
  return text === '' ? '[no output]' : text;
}

function partText(part: CallToolResult['content'][number]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.type} left out: ${part.mimeType}, ${part.data.length} characters of base64]`;
    case 'resource_link':
      return `[resource ${part.uri}: ${part.name}]`;
    case 'resource':
      return 'text' in part.resource ? part.resource.text : `[binary resource left out: ${part.resource.uri}]`;
  }
}
