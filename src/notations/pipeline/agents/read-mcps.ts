import { present } from '../../../base/json.js';
import { quoteShort } from '../../../lang/value-text.js';
import type { McpServerSpec } from '../../../plan/agent-spec.js';
import type { Findings } from '../../../text/findings.js';
import type { SourceScalar } from '../../../text/nodes.js';
import type { Fields } from '../../../text/shape.js';
import { readSupported } from '../../../text/unsupported.js';
import { SANDBOX } from '../../model-call-keys.js';
import { readPairs, readRemote, refuseSandbox, type ReadText } from '../../mcp-servers.js';
import { MCP, REMOTE } from './keys.js';

export interface McpDef {
  /** Undefined if the server is not supported or has a mistake, which was reported. */
  readonly server: McpServerSpec | undefined;
  /** The tools that may be used. Undefined: all. */
  readonly tools: readonly string[] | undefined;
}

const DOCKER_HINT = 'start the server by a command, or reach it by remote: { url: ... }';

/** Reads the section `mcps`: servers that toolsets refer to. Problem codes: `mcp-server`, `bad-reference`, `not-supported`. */
export function readMcps(root: Fields): ReadonlyMap<string, McpDef> {
  const mcps = (root.entries('mcps') ?? []).map(({ key, value }): [string, McpDef] => {
    const name = `MCP server ${quoteShort(key)}`;
    const fields = readSupported(value, name, MCP, root.findings);
    return [key, fields === undefined ? { server: undefined, tools: undefined } : readMcp(fields, name)];
  });
  return new Map(mcps);
}

/** Reads a server: a `command`, or a `remote` address. A `ref` into Docker's catalogue is not supported. */
export function readMcp(fields: Fields, name: string): McpDef {
  const { findings } = fields;
  const tools = fields.texts('tools')?.map((tool) => tool.text);
  const ref = fields.scalar('ref');
  if (ref !== undefined) {
    refProblem(ref, name, findings);
    return { server: undefined, tools };
  }
  const node = fields.node('remote');
  if (node === undefined) return { server: readCommand(fields, name), tools };
  refuseSandbox(fields);
  const remote = readSupported(node, `remote of ${name}`, REMOTE, findings);
  const type = remote?.word('transport_type', REMOTE.keys.transport_type);
  const read = variables(findings);
  return { server: remote && readRemote(remote, { type, typeKey: 'transport_type', read }), tools };
}

function refProblem(ref: SourceScalar, name: string, findings: Findings): void {
  if (ref.text.startsWith('docker:')) {
    findings.lost('meaning', `${quoteShort(ref.text)} of ${name} is not supported`, ref.at, DOCKER_HINT);
    return;
  }
  const message = `ref of ${name} must begin with docker:, not be ${quoteShort(ref.text)}`;
  findings.error('unknown-value', message, ref.at, DOCKER_HINT);
}

function readCommand(fields: Fields, name: string): McpServerSpec | undefined {
  const read = variables(fields.findings);
  const command = fields.text('command')?.trim() ?? '';
  if (command === '') {
    const hint = 'add command: PROGRAM, or remote: { url: ADDRESS }';
    fields.error('mcp-server', 'command', `${name} needs a command, or a remote address`, hint);
    return undefined;
  }
  const args = fields.texts('args')?.map((arg) => read(arg.text, `args of ${name}`, arg.at));
  const sandbox = fields.word('sandbox', SANDBOX);
  return present({ command, args, env: readPairs(fields, 'env', { read, name }), sandbox });
}

/** Converts cagent's `${env.NAME}` to `${NAME}`. Other expressions can't be evaluated (`bad-reference`). */
const variables =
  (findings: Findings): ReadText =>
  (text, where, at) => {
    const plain = text.replaceAll(/\$\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}/g, '${$1}');
    const wrong = /\$\{(?!\{|[A-Za-z_][A-Za-z0-9_]*(?::-[^{}]*)?\})[^}]{0,60}\}?/.exec(plain);
    if (wrong !== null) {
      const message = `${quoteShort(wrong[0])} in ${where} is not a reference to an environment variable`;
      findings.error('bad-reference', message, at, 'write ${NAME}');
    }
    return plain;
  };
