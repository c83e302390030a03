import type { McpServerSpec } from '../../plan/agent-spec.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import { mayBeAddress } from '../source/address.js';
import { describe } from '../../text/nodes.js';
import type { SourceEntry, SourceNode } from '../../text/nodes.js';
import { present } from '../../base/json.js';
import { isEmptyText, readFields } from '../../text/shape.js';
import type { Fields } from '../../text/shape.js';
import { reportUnsupported } from '../../text/unsupported.js';
import { SERVER_NAME, TRANSPORTS, UNSUPPORTED_OF_SERVERS } from './agent-keys.js';
import type { AgentTraits } from './definition.js';

/**
 * Reads what agent files and inline agents have in common: description, model, tools, which of their calls a person must allow, MCP servers.
 *
 * @example
 * const traits = readTraits(fields, 'agent "critic"', findings);
 */
export function readTraits(fields: Fields, label: string, findings: Findings): AgentTraits {
  return {
    description: fields.text('description'),
    models: readModels(fields, `model of ${label}`, findings),
    tools: readTools(fields, 'tools', label, findings),
    approve: readTools(fields, 'approve', label, findings),
    mcpServers: readServers(fields, label, findings),
  };
}

/**
 * The key `model`: one name, or a list of names to try in order. None when the key is absent.
 *
 * @example
 * readModels(fields, 'model of config', findings); // ['openai/gpt-5-mini']
 */
export function readModels(fields: Fields, called: string, findings: Findings): readonly string[] {
  const node = fields.node('model');
  if (node === undefined) return [];
  const nodes = node.kind === 'list' ? node.items : isEmptyText(node) ? [] : [node];
  const models: string[] = [];
  for (const item of nodes) {
    const name = item.kind === 'scalar' && typeof item.value === 'string' ? item.text.trim() : '';
    if (name !== '') models.push(name);
    else
      findings.error(
        'wrong-type',
        `${called} must be a name or a list of names, not ${describe(item)}`,
        item.at,
        'write model: openai/gpt-5-mini',
      );
  }
  return models;
}

/**
 * The keys `tools` and `approve`: a list, or one text with commas (the form of Claude's agent files). Undefined when the key is absent.
 * An entry with commas is split too, but not within parentheses: `Bash(git add, git commit)` is one entry.
 */
function readTools(
  fields: Fields,
  key: 'tools' | 'approve',
  label: string,
  findings: Findings,
): readonly string[] | undefined {
  const node = fields.node(key);
  if (node === undefined) return undefined;
  const tools = new Set<string>();
  for (const item of node.kind === 'list' ? node.items : [node]) {
    if (item.kind === 'scalar' && item.value !== null) splitTools(item.text).forEach((tool) => tools.add(tool));
    else {
      const hint = 'write a list: [read_file, grep]';
      findings.error('wrong-type', `${key} of ${label} must be a list of names, not ${describe(item)}`, item.at, hint);
    }
  }
  return [...tools];
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

function readServers(fields: Fields, label: string, findings: Findings): AgentTraits['mcpServers'] {
  const entries = fields.entries('mcp-servers');
  if (entries === undefined) return undefined;
  const servers: [string, McpServerSpec][] = [];
  for (const entry of entries) {
    if (!SERVER_NAME.test(entry.key)) {
      const hint = 'use letters, digits, _, - and ., at most 64';
      findings.error('bad-name', `${quoteShort(entry.key)} is not a valid MCP server name`, entry.at, hint);
    }
    const server = readServer(entry, `MCP server ${quoteShort(entry.key)} of ${label}`, findings);
    if (server !== undefined) servers.push([entry.key, server]);
  }
  return Object.fromEntries(servers);
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
    findings.error('unknown-value', `type of ${label} is ${quoteShort(type)}`, fields.placeOf('type'), hint);
  }
  if (disagrees(fields, type, label, findings)) return undefined;
  const tools = fields.texts('tools')?.map((tool) => tool.text);
  if (TRANSPORTS.get(type) === 'url') return readRemote(fields, type, { label, tools }, findings);
  const command = fields.text('command') ?? '';
  if (command.trim() === '') {
    findings.error(
      'mcp-server',
      `${label} needs a command, or a url`,
      fields.placeOf('command'),
      'add command: PROGRAM, or url: ADDRESS',
    );
    return undefined;
  }
  const args = fields.texts('args')?.map((arg) => arg.text);
  return present({ command, args, env: readPairs(fields, 'env', label, findings), tools });
}

/** A type that goes with an address beside a command alone, or the other way round: one of the two is not what was meant. */
function disagrees(fields: Fields, type: string, label: string, findings: Findings): boolean {
  const wanted = TRANSPORTS.get(type);
  const other = wanted === 'url' ? 'command' : 'url';
  if (wanted === undefined || fields.given(wanted) !== undefined || fields.given(other) === undefined) return false;
  const message = `${label} has the type ${type}, which goes with a ${wanted}, and a ${other}`;
  const hint =
    other === 'command'
      ? 'write type: local, or a url in place of the command'
      : 'write type: http, or a command in place of the url';
  findings.error('mcp-server', message, fields.placeOf(other), hint);
  return true;
}

function isOff(node: SourceNode | undefined, off: boolean): boolean {
  return node?.kind === 'scalar' && node.value === off;
}

function readRemote(
  fields: Fields,
  type: string,
  server: { readonly label: string; readonly tools: readonly string[] | undefined },
  findings: Findings,
): McpServerSpec | undefined {
  const { label, tools } = server;
  if (type === 'sse') {
    const message = `${label}: the old sse transport is not supported`;
    findings.warning('mcp-transport', message, fields.placeOf('type'), 'streamable HTTP is tried at the same address');
  }
  const url = fields.text('url')?.trim() ?? '';
  const headers = readPairs(fields, 'headers', label, findings);
  if (mayBeAddress(url)) return present({ url, headers, tools });
  findings.error(
    'mcp-server',
    `${label} needs a url that begins with http:// or https://`,
    fields.placeOf('url'),
    'add url: https://...',
  );
  return undefined;
}

function readPairs(
  fields: Fields,
  key: string,
  label: string,
  findings: Findings,
): Readonly<Record<string, string>> | undefined {
  const entries = fields.entries(key);
  if (entries === undefined) return undefined;
  const pairs: [string, string][] = [];
  for (const entry of entries) {
    const value: SourceNode = entry.value;
    if (value.kind === 'scalar') pairs.push([entry.key, value.text]);
    else
      findings.error(
        'wrong-type',
        `${key}.${entry.key} of ${label} must be text, not ${describe(value)}`,
        value.at,
        'write one text, in quotes where it is needed',
      );
  }
  return Object.fromEntries(pairs);
}
