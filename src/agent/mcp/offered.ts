import type { Client, Tool as ServerTool } from '@modelcontextprotocol/client';
import { SkeinError } from '../../base/errors.js';
import { canonicalHash } from '../../base/hash.js';
import type { ToolSpec } from '../model.js';
import { cleanSchema, cleanText } from './untrusted.js';

/** A tool as a server offered it at the start. `pin` is the hash of its name, description, schema and hints as received. */
export interface OfferedTool extends ToolSpec {
  /** The server's hint that a second call does no harm. */
  readonly repeatable: boolean;
  readonly pin: string;
  /** The server's hint that the tool only reads. */
  readonly readOnly: boolean;
}

const MAX_TOOLS = 256;

/** @throws SkeinError `SKEIN_MCP` for too many tools, or two of the same name */
export async function listTools(
  name: string,
  client: Client,
  options: { readonly timeout: number; readonly signal?: AbortSignal },
): Promise<readonly ServerTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const { tools } = await client.listTools(undefined, { ...options, cacheMode: 'bypass' });
  if (tools.length > MAX_TOOLS) {
    throw new SkeinError(
      'SKEIN_MCP',
      `MCP server "${name}" offers ${tools.length} tools; at most ${MAX_TOOLS} are taken`,
    );
  }
  const names = new Set(tools.map((tool) => tool.name));
  if (names.size < tools.length)
    throw new SkeinError('SKEIN_MCP', `MCP server "${name}" offers two tools of the same name`);
  // Servers list tools in any order. The provider's cache and the record need a fixed order, because requests begin with the tools.
  return tools.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the tools of a server in cleaned form; a tool with a broken definition is left out and reported to `refused`. */
export function offeredTools(
  name: string,
  tools: readonly ServerTool[],
  refused: (tool: string, why: string) => void,
): readonly OfferedTool[] {
  const result: OfferedTool[] = [];
  for (const tool of tools) {
    try {
      result.push({
        name: tool.name,
        description: cleanText(`[MCP:${name}] ${tool.description ?? tool.title ?? ''}`.trim()),
        inputSchema: cleanSchema(tool.inputSchema),
        repeatable: tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true,
        pin: pinOf(tool),
        readOnly: tool.annotations?.readOnlyHint === true,
      });
    } catch (error) {
      const why = SkeinError.isInstance(error) ? error.message : 'its definition is broken';
      refused(tool.name, why);
    }
  }
  return result;
}

/** Hash of what a model sees of a tool, and of the hints that Skein relies on. */
export function pinOf({ name, title, description, inputSchema, annotations }: ServerTool): string {
  const { readOnlyHint = false, idempotentHint = false } = annotations ?? {};
  return canonicalHash({ name, says: description ?? title ?? null, inputSchema, readOnlyHint, idempotentHint });
}
