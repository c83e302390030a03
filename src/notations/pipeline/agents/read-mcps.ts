import { mayBeAddress } from '../../source/address.js';
import { quoteShort } from '../../../lang/value-text.js';
import type { Position } from '../../../base/problem.js';
import type { McpServerSpec } from '../../../plan/agent-spec.js';
import type { Findings } from '../../../text/findings.js';
import { describe } from '../../../text/nodes.js';
import type { SourceScalar } from '../../../text/nodes.js';
import { present } from '../../../base/json.js';
import type { Fields } from '../../../text/shape.js';
import { MCP, REMOTE } from './keys.js';
import { readSupported } from '../../../text/unsupported.js';

/** An MCP server of the section `mcps`, or of a toolset. */
export interface McpDef {
  /** Undefined: it is not supported, or something is wrong with it; a problem says so. */
  readonly server: McpServerSpec | undefined;
  /** Its tools that may be used; absent: all. */
  readonly tools: readonly string[] | undefined;
}

const DOCKER_HINT = 'start the server by a command, or reach it by remote: { url: ... }';

/**
 * Reads the section `mcps`: servers that toolsets name. Problem codes: `mcp-server`, `bad-reference`, `not-supported`.
 *
 * @example
 * const mcps = readMcps(root, findings);
 */
export function readMcps(root: Fields, findings: Findings): ReadonlyMap<string, McpDef> {
  const mcps = new Map<string, McpDef>();
  for (const entry of root.entries('mcps') ?? []) {
    const name = `MCP server ${quoteShort(entry.key)}`;
    const fields = readSupported(entry.value, name, MCP, findings);
    mcps.set(entry.key, fields === undefined ? NOTHING : readMcp(fields, name, findings));
  }
  return mcps;
}

const NOTHING: McpDef = { server: undefined, tools: undefined };

/**
 * Reads what a server is: a `command`, or a `remote` address. A `ref` into Docker's catalogue is not supported.
 *
 * @example
 * const { server, tools } = readMcp(fields, 'MCP server "github"', findings);
 */
export function readMcp(fields: Fields, name: string, findings: Findings): McpDef {
  const tools = fields.texts('tools')?.map((tool) => tool.text);
  const ref = fields.scalar('ref');
  if (ref !== undefined) {
    refProblem(ref, name, findings);
    return { server: undefined, tools };
  }
  const server = fields.has('remote') ? readRemote(fields, name, findings) : readCommand(fields, name, findings);
  return { server, tools };
}

function refProblem(ref: SourceScalar, name: string, findings: Findings): void {
  if (ref.text.startsWith('docker:')) {
    findings.lost('meaning', `${quoteShort(ref.text)} of ${name} is not supported`, ref.at, DOCKER_HINT);
    return;
  }
  const message = `ref of ${name} must begin with docker:, not be ${quoteShort(ref.text)}`;
  findings.error('unknown-value', message, ref.at, DOCKER_HINT);
}

function readCommand(fields: Fields, name: string, findings: Findings): McpServerSpec | undefined {
  const command = fields.text('command')?.trim() ?? '';
  if (command === '') {
    const hint = 'add command: PROGRAM, or remote: { url: ADDRESS }';
    findings.error('mcp-server', `${name} needs a command, or a remote address`, fields.placeOf('command'), hint);
    return undefined;
  }
  const args = fields.texts('args')?.map((arg) => variables(arg.text, `args of ${name}`, arg.at, findings));
  return present({ command, args, env: readPairs(fields, 'env', name, findings) });
}

function readRemote(fields: Fields, owner: string, findings: Findings): McpServerSpec | undefined {
  const node = fields.node('remote');
  const name = `remote of ${owner}`;
  const remote = node === undefined ? undefined : readSupported(node, name, REMOTE, findings);
  if (remote === undefined) return undefined;
  if (remote.word('transport_type', REMOTE.keys.transport_type) === 'sse') {
    const message = `${name}: the old sse transport is not supported`;
    const hint = 'streamable HTTP is tried at the same address';
    findings.warning('mcp-transport', message, remote.placeOf('transport_type'), hint);
  }
  const written = remote.text('url')?.trim() ?? '';
  const url = variables(written, `url of ${name}`, remote.placeOf('url'), findings);
  const headers = readPairs(remote, 'headers', name, findings);
  if (mayBeAddress(url)) return present({ url, headers });
  const message = `${name} needs a url that begins with http:// or https://`;
  findings.error('mcp-server', message, remote.placeOf('url'), 'add url: https://...');
  return undefined;
}

function readPairs(
  fields: Fields,
  key: string,
  name: string,
  findings: Findings,
): Readonly<Record<string, string>> | undefined {
  const pairs = fields.entries(key)?.flatMap(({ key: pair, value }): [string, string][] => {
    if (value.kind === 'scalar')
      return [[pair, variables(value.text, `${key}.${pair} of ${name}`, value.at, findings)]];
    const message = `${key}.${pair} of ${name} must be text, not ${describe(value)}`;
    findings.error('wrong-type', message, value.at, 'write one text, in quotes where it is needed');
    return [];
  });
  return pairs === undefined ? undefined : Object.fromEntries(pairs);
}

/** `${env.NAME}` of the other system is `${NAME}` here. Other expressions can't be evaluated (`bad-reference`). */
function variables(text: string, where: string, at: Position, findings: Findings): string {
  const plain = text.replaceAll(/\$\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}/g, '${$1}');
  const wrong = /\$\{(?!\{|[A-Za-z_][A-Za-z0-9_]*(?::-[^{}]*)?\})[^}]{0,60}\}?/.exec(plain);
  if (wrong !== null) {
    const message = `${quoteShort(wrong[0])} in ${where} is not a reference to an environment variable`;
    findings.error('bad-reference', message, at, 'write ${NAME}');
  }
  return plain;
}
