import type { Client, Transport } from '@modelcontextprotocol/client';
import { SkeinError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import type { McpServerSpec } from '../../plan/agent-spec.js';
import type { Environment } from '../tools/clean-env.js';
import type { OfferedTool } from './offered.js';
import { listTools, offeredTools, pinOf } from './offered.js';
import { resultText } from './result-text.js';
import { StdioTransport } from './stdio-transport.js';
import { makeTransport } from './transport.js';
import { cleanText } from './untrusted.js';

/** What a server is started with, and how long it may take. */
export interface McpSettings {
  readonly cwd: string;
  readonly env: Environment;
  readonly agent: string;
  readonly signal: AbortSignal;
  readonly startMs: number;
  readonly callMs: number;
  warn(code: string, message: string): void;
}

/** A connected server: its tools as they were at the start, and a way to call them. */
export class McpConnection {
  private changed = false;
  private refusedPins: ReadonlyMap<string, string> | undefined;

  private constructor(
    private readonly name: string,
    private readonly client: Client,
    private readonly transport: Transport,
    private readonly settings: McpSettings,
    readonly tools: readonly OfferedTool[],
  ) {}

  /**
   * Starts or reaches a server, and lists its tools.
   *
   * @throws SkeinError `SKEIN_MCP`; nothing is left running then
   */
  static async open(name: string, spec: McpServerSpec, settings: McpSettings): Promise<McpConnection> {
    const sdk = await import('@modelcontextprotocol/client');
    const transport = makeTransport(name, spec, settings, sdk.StreamableHTTPClientTransport);
    const client = new sdk.Client({ name: 'skein', version: '1' }, { capabilities: {} });
    const options = { timeout: settings.startMs, maxTotalTimeout: settings.startMs, signal: settings.signal };
    try {
      await client.connect(transport, options);
      const listed = await listTools(name, client, options);
      const tools = offeredTools(name, listed, (tool, why) => {
        settings.warn('mcp-tool-refused', `agent ${settings.agent}: MCP server "${name}", tool ${tool}: ${why}`);
      });
      const connection = new McpConnection(name, client, transport, settings, tools);
      client.setNotificationHandler('notifications/tools/list_changed', () => {
        connection.changed = true;
      });
      return connection;
    } catch (error) {
      await closeQuietly(client, transport);
      throw startError(name, spec, error, transport, settings);
    }
  }

  /**
   * Calls a tool. When the server has said that its tools changed, they are compared with what they were at the start, and
   * one that differs is refused from then on: a model has only agreed to what it was shown.
   *
   * @throws SkeinError `SKEIN_MCP` when the server is gone, breaks its protocol, or the tool changed; `SKEIN_TOOL_FAILED` when
   * the tool fails or takes too long; `SKEIN_CANCELLED`
   */
  async call(tool: OfferedTool, input: JsonObject, signal: AbortSignal): Promise<string> {
    try {
      await this.checkPin(tool, signal);
      const result = await this.client.request(
        { method: 'tools/call', params: { name: tool.name, arguments: input } },
        { signal, timeout: this.settings.callMs, maxTotalTimeout: this.settings.callMs },
      );
      if (!('content' in result))
        throw new SkeinError('SKEIN_MCP', `MCP server "${this.name}" answered with no content`);
      return resultText(result);
    } catch (error) {
      throw this.callError(tool, error, signal);
    }
  }

  /** Ends the connection and the server's processes. */
  async close(): Promise<void> {
    await closeQuietly(this.client, this.transport);
  }

  private async checkPin(tool: OfferedTool, signal: AbortSignal): Promise<void> {
    if (this.changed) {
      this.changed = false;
      const options = { signal, timeout: this.settings.startMs, maxTotalTimeout: this.settings.startMs };
      try {
        const now = await listTools(this.name, this.client, options);
        this.refusedPins = new Map(now.map((one) => [one.name, pinOf(one)]));
      } catch (error) {
        this.changed = true;
        throw error;
      }
    }
    if (this.refusedPins === undefined || this.refusedPins.get(tool.name) === tool.pin) return;
    throw new SkeinError('SKEIN_MCP', `MCP server "${this.name}" changed its tool ${tool.name} during the session`, {
      hint: 'the tool is refused until the step starts anew',
    });
  }

  private callError(tool: OfferedTool, error: unknown, signal: AbortSignal): unknown {
    if (SkeinError.isInstance(error)) return error;
    if (signal.aborted) return new SkeinError('SKEIN_CANCELLED', 'the tool call was cancelled');
    const failure = this.transport instanceof StdioTransport ? this.transport.failure : undefined;
    if (failure !== undefined) return failure;
    const what = `MCP server "${this.name}", tool ${tool.name}`;
    if (isTimeout(error)) {
      return new SkeinError('SKEIN_TOOL_FAILED', `${what}: no answer within ${this.settings.callMs} ms`, {
        cause: error,
      });
    }
    return new SkeinError('SKEIN_MCP', `${what}: ${messageOf(error)}`, { cause: error });
  }
}

async function closeQuietly(client: Client, transport: Transport): Promise<void> {
  try {
    await client.close();
  } catch {
    // The server may be gone already; what matters is below.
  }
  // A client that never got connected does not close the transport.
  await transport.close().catch(() => undefined);
}

function startError(
  name: string,
  spec: McpServerSpec,
  error: unknown,
  transport: Transport,
  settings: McpSettings,
): SkeinError {
  if (SkeinError.isInstance(error)) return error;
  if (settings.signal.aborted) return new SkeinError('SKEIN_CANCELLED', 'the step was cancelled');
  const stdio = transport instanceof StdioTransport ? transport : undefined;
  if (stdio?.failure !== undefined) return stdio.failure;
  const what = `MCP server "${name}"`;
  if (isTimeout(error)) {
    const stray =
      stdio === undefined || stdio.stray === 0 ? '' : `; it wrote ${stdio.stray} lines that are no messages`;
    const words = stdio === undefined || stdio.lastWords === '' ? '' : `:\n${stdio.lastWords}`;
    return new SkeinError('SKEIN_MCP', `${what} did not get ready within ${settings.startMs} ms${stray}${words}`, {
      cause: error,
    });
  }
  return new SkeinError('SKEIN_MCP', `${what} could not be reached: ${messageOf(error)}`, {
    cause: error,
    ...(spec.url === undefined
      ? {}
      : { hint: 'check the url; servers that only speak the legacy SSE form are not supported' }),
  });
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'REQUEST_TIMEOUT';
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return cleanText(`${text}${cause}`);
}
