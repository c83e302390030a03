import { present } from '../base/json.js';
import type { Position } from '../base/problem.js';
import type { McpServerSpec } from '../plan/agent-spec.js';
import { NO_PROGRAM } from '../plan/check-agents.js';
import { describe, type SourceEntry } from '../text/nodes.js';
import type { Fields } from '../text/shape.js';
import { quoteShort } from '../lang/value-text.js';
import type { Findings } from '../text/findings.js';

/** A reference to an environment variable, in the forms that MCP server entries may hold. */
const VARIABLE = /\$\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$[A-Za-z_][A-Za-z0-9_]*/g;

export const SERVER_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

/** Reports a name that a tool server can't have. Problem code: `bad-name`. */
export function checkServerName({ key, at }: SourceEntry, findings: Findings): void {
  if (SERVER_NAME.test(key)) return;
  const hint = 'use letters, digits, _, - and ., at most 64';
  findings.error('bad-name', `${quoteShort(key)} is not a valid MCP server name`, at, hint);
}

/** The beginning of a server's address, for rows of key tables. */
export const ADDRESS_FORM = { pattern: '^\\s*(?:[Hh][Tt][Tt][Pp][Ss]?://|\\$)' } as const;

/** Converts a text of a file to the form used in plans. `where` is its name in messages. */
export type ReadText = (text: string, where: string, at: Position) => string;

const asItIs: ReadText = (text) => text;

/** Reads a server at an address: `url`, `headers`. `type` is the value of `typeKey`. Codes: `mcp-server`, `mcp-transport`, `wrong-type`. */
export function readRemote(
  fields: Fields,
  {
    type,
    typeKey,
    read = asItIs,
  }: { readonly type: string | undefined; readonly typeKey: string; readonly read?: ReadText },
): Pick<McpServerSpec, 'url' | 'headers'> | undefined {
  const { name } = fields;
  if (type === 'sse') {
    const hint = 'streamable HTTP is tried at the same address';
    fields.warning('mcp-transport', typeKey, `${name}: the old sse transport is not supported`, hint);
  }
  const url = read(fields.text('url')?.trim() ?? '', `url of ${name}`, fields.placeOf('url'));
  const headers = readPairs(fields, 'headers', { read });
  refuseSandbox(fields);
  if (mayBeAddress(url)) return present({ url, headers });
  const message = `${name} needs a url that begins with http:// or https://`;
  fields.error('mcp-server', 'url', message, 'add url: https://...');
  return undefined;
}

/** Reports the key `sandbox` beside an address: a remote server cannot be sandboxed. Problem code: `mcp-server`. */
export function refuseSandbox(fields: Fields): void {
  if (!fields.has('sandbox')) return;
  fields.error('mcp-server', 'sandbox', `${fields.name} ${NO_PROGRAM.what}`, NO_PROGRAM.hint);
}

/** True for an http or https address, and for a text that its variables, once filled in, may make one. It is checked again then. */
function mayBeAddress(text: string): boolean {
  const start = text.search(VARIABLE);
  if (start === 0) return true;
  return /^https?:\/\//i.test(text) && URL.canParse(text.replaceAll(VARIABLE, '1'));
}

/** Reads texts under user-chosen names, such as variables and headers. `name` is the owner's name in messages. */
export function readPairs(
  fields: Fields,
  key: string,
  { read = asItIs, name: owner = fields.name }: { readonly read?: ReadText; readonly name?: string } = {},
): Readonly<Record<string, string>> | undefined {
  const pairs = fields.entries(key)?.flatMap(({ key: name, value }): [string, string][] => {
    const where = `${key}.${name} of ${owner}`;
    if (value.kind === 'scalar') return [[name, read(value.text, where, value.at)]];
    const hint = 'write one text, in quotes where it is needed';
    fields.findings.error('wrong-type', `${where} must be text, not ${describe(value)}`, value.at, hint);
    return [];
  });
  return pairs === undefined ? undefined : Object.fromEntries(pairs);
}
