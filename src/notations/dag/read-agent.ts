import { present } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import { quoteShort } from '../../lang/value-text.js';
import type { McpServerSpec } from '../../plan/agent-spec.js';
import type { Findings } from '../../text/findings.js';
import { describe, type SourceEntry, type SourceNode } from '../../text/nodes.js';
import { isEmptyText, readFields, type Fields } from '../../text/shape.js';
import { reportUnsupported } from '../../text/unsupported.js';
import { readCache, SANDBOX, tellNearProvider } from '../model-call-keys.js';
import { readChecks } from '../checks-key.js';
import { checkServerName, readPairs, readRemote } from '../mcp-servers.js';
import { TRAITS, TRANSPORTS, UNSUPPORTED_OF_SERVERS } from './agent-keys.js';
import type { AgentTraits } from './definition.js';

/** Reads the traits that agent files and inline agents share: all keys but the prompt. */
export function readTraits(fields: Fields, label: string): AgentTraits {
  const tools = readTools(fields, 'tools', label);
  const approve = readTools(fields, 'approve', label);
  return {
    description: fields.text('description'),
    models: readModels(fields, `model of ${label}`),
    tools: tools && [...tools.keys()],
    toolPlaces: tools ?? new Map(),
    approve: approve && [...approve.keys()],
    checks: readChecks(fields, label),
    cache: readCache(fields),
    sandbox: fields.word('sandbox', SANDBOX),
    maxTokens: fields.integer('max_tokens', TRAITS.max_tokens),
    mcpServers: readServers(fields, label),
  };
}

/** Reads `model`: a name, or a list of names to try in order. Empty if absent. Problem codes: `wrong-type`, `unknown-provider`. */
export function readModels(fields: Fields, called: string): readonly string[] {
  const node = fields.node('model');
  if (node === undefined) return [];
  const nodes = node.kind === 'list' ? node.items : isEmptyText(node) ? [] : [node];
  return nodes.flatMap((item) => {
    const name = item.kind === 'scalar' && typeof item.value === 'string' ? item.text.trim() : '';
    if (name !== '') {
      tellNearProvider(name, { at: item.at }, fields.findings);
      return [name];
    }
    const message = `${called} must be a name or a list of names, not ${describe(item)}`;
    fields.findings.error('wrong-type', message, item.at, 'write model: openai/gpt-5-mini');
    return [];
  });
}

/**
 * Reads the keys `tools` and `approve`, with the place of each name: a list, or one text with commas (the form of Claude's agent files). Undefined if the key is absent.
 * A list entry with commas is also split, but not within parentheses: `Bash(git add, git commit)` is one entry.
 */
function readTools(fields: Fields, key: 'tools' | 'approve', label: string): ReadonlyMap<string, Position> | undefined {
  const node = fields.node(key);
  if (node === undefined) return undefined;
  const tools = new Map<string, Position>();
  for (const item of node.kind === 'list' ? node.items : [node]) {
    if (item.kind === 'scalar' && item.value !== null) {
      for (const tool of splitTools(item.text)) if (!tools.has(tool)) tools.set(tool, item.at);
      continue;
    }
    const message = `${key} of ${label} must be a list of names, not ${describe(item)}`;
    fields.findings.error('wrong-type', message, item.at, 'write a list: [read_file, grep]');
  }
  return tools;
}

function splitTools(text: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  let open = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const char = text[at];
    if (char === '(') open += 1;
    else if (char === ')') open -= 1;
    if (at < text.length && !(char === ',' && open <= 0)) continue;
    const part = text.slice(from, at).trim();
    if (part !== '') parts.push(part);
    from = at + 1;
  }
  return parts;
}

export function readServers(fields: Fields, label: string): AgentTraits['mcpServers'] {
  const { findings } = fields;
  const servers = fields.entries('mcp-servers')?.flatMap((entry): [string, McpServerSpec][] => {
    checkServerName(entry, findings);
    const server = readServer(entry, `MCP server ${quoteShort(entry.key)} of ${label}`, findings);
    return server === undefined ? [] : [[entry.key, server]];
  });
  return servers === undefined ? undefined : Object.fromEntries(servers);
}

function readServer(entry: SourceEntry, label: string, findings: Findings): McpServerSpec | undefined {
  const fields = readFields(entry.value, { name: label }, findings);
  if (fields === undefined || isOff(fields.node('disabled'), true) || isOff(fields.node('enabled'), false))
    return undefined;
  reportUnsupported(entry.value, label, UNSUPPORTED_OF_SERVERS, findings);
  const isRemote = fields.given('url') !== undefined;
  const type = fields.given('type')?.text.toLowerCase() ?? (isRemote ? 'http' : 'stdio');
  if (!TRANSPORTS.has(type)) {
    const hint = `known are: ${[...TRANSPORTS.keys()].join(', ')}`;
    fields.error('unknown-value', 'type', `type of ${label} is ${quoteShort(type)}`, hint);
  }
  if (disagrees(fields, type)) return undefined;
  const tools = fields.texts('tools')?.map((tool) => tool.text);
  if (TRANSPORTS.get(type) === 'url') {
    const remote = readRemote(fields, { type, typeKey: 'type' });
    return remote === undefined ? undefined : { ...remote, ...present({ tools }) };
  }
  const command = fields.text('command') ?? '';
  if (command.trim() === '') {
    const hint = 'add command: PROGRAM, or url: ADDRESS';
    fields.error('mcp-server', 'command', `${label} needs a command, or a url`, hint);
    return undefined;
  }
  const args = fields.texts('args')?.map((arg) => arg.text);
  const sandbox = fields.word('sandbox', SANDBOX);
  return present({ command, args, env: readPairs(fields, 'env'), tools, sandbox });
}

/** Reports a type that requires an address beside a command alone, or the reverse: one of the two is a mistake. */
function disagrees(fields: Fields, type: string): boolean {
  const wanted = TRANSPORTS.get(type);
  const other = wanted === 'url' ? 'command' : 'url';
  if (wanted === undefined || fields.given(wanted) !== undefined || fields.given(other) === undefined) return false;
  const message = `${fields.name} has the type ${type}, which goes with a ${wanted}, and a ${other}`;
  const better =
    other === 'command' ? 'local, or a url instead of the command' : 'http, or a command instead of the url';
  fields.error('mcp-server', other, message, `write type: ${better}`);
  return true;
}

function isOff(node: SourceNode | undefined, off: boolean): boolean {
  return node?.kind === 'scalar' && node.value === off;
}
