import type { StreamableHTTPClientTransportOptions, Transport } from '@modelcontextprotocol/client';
import { SkeinError } from '../../base/errors.js';
import { ownValue } from '../../base/json.js';
import { BARE_SECRET, VARIABLE_REFERENCE, expressionVariable } from '../../base/text.js';
import type { McpServerSpec, SandboxUse } from '../../plan/agent-spec.js';
import { cleanEnvironment, type Environment } from '../tools/clean-env.js';
import { limitedFetch, type Breaker } from './limited-fetch.js';
import { StdioTransport } from './stdio-transport.js';

/** The constructor of the client package's HTTP transport; the caller loads the package when it is first needed. */
export type HttpTransportClass = new (
  url: URL,
  options?: StreamableHTTPClientTransportOptions,
) => Transport & { terminateSession(): Promise<void> };

/** A transport to a server; `goodbye` ends the session on the server. */
export interface Way {
  readonly transport: Transport;
  readonly goodbye?: () => Promise<void>;
}

export interface TransportSettings {
  readonly env: Environment;
  readonly cwd: string;
  readonly breaker: Breaker;
  /** Memory limit of a server's program, in bytes. */
  readonly memory: number | undefined;
  /** Returns the command line that runs another one in a sandbox; `path` is the `PATH` of the program. */
  confine(argv: readonly string[], use: SandboxUse, path: string | undefined): Promise<[string, ...string[]]>;
}

/**
 * Creates the transport to a server: a process with its standard streams, or streamable HTTP. Replaces references to environment variables.
 * A process gets only its own `env` and what every program needs. Starts nothing yet.
 *
 * @throws SkeinError `SKEIN_MCP` for an entry that cannot work
 */
export function makeTransport(
  name: string,
  spec: McpServerSpec,
  settings: TransportSettings,
  HttpTransport: HttpTransportClass,
): Way {
  const where = `MCP server "${name}"`;
  const references = { env: settings.env, cwd: settings.cwd, where };
  if (spec.type === 'sse') {
    throw new SkeinError('SKEIN_MCP', `${where}: servers of the legacy type "sse" are not supported`, {
      hint: 'use the streamable HTTP address of the server with type "http"',
    });
  }
  const { command, url } = spec;
  if (command !== undefined && url === undefined) {
    const own = expandPairs(spec.env, references, 'env', asReference);
    const args = (spec.args ?? []).map((arg) => expandVariables(arg, { ...references, where: `${where}, args` }));
    const env = { ...cleanEnvironment(settings.env, 'tool-server'), ...own };
    const { sandbox } = spec;
    const transport = new StdioTransport(name, {
      line: async () =>
        sandbox === undefined ? [command, ...args] : settings.confine([command, ...args], sandbox, env['PATH']),
      command,
      env,
      cwd: settings.cwd,
      memory: settings.memory,
    });
    return { transport };
  }
  if (url === undefined || command !== undefined) {
    throw new SkeinError('SKEIN_MCP', `${where} needs either a command or a url`);
  }
  const transport = new HttpTransport(
    serverUrl(expandVariables(url, { ...references, where: `${where}, url` }), where),
    {
      requestInit: { headers: expandPairs(spec.headers, references, 'header') },
      fetch: limitedFetch(name, settings.breaker),
    },
  );
  return { transport, goodbye: () => transport.terminateSession() };
}

function expandPairs(
  pairs: Readonly<Record<string, string>> | undefined,
  references: References,
  label: string,
  written = (value: string): string => value,
): Record<string, string> {
  const expanded = Object.entries(pairs ?? {}).map(([key, value]) => {
    return [key, expandVariables(written(value), { ...references, where: `${references.where}, ${label} ${key}` })];
  });
  return Object.fromEntries(expanded) as Record<string, string>;
}

/** Copilot's files may also contain the bare name of a secret. */
function asReference(value: string): string {
  return BARE_SECRET.test(value) ? `$${value}` : value;
}

function serverUrl(text: string, where: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new SkeinError('SKEIN_MCP', `${where}: the url is not an http or https address`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new SkeinError('SKEIN_MCP', `${where}: the url must not contain a user name or password`, {
      hint: 'use headers',
    });
  }
  return url;
}

/** The source of variables, and the name of the place in errors. */
interface References {
  readonly env: Environment;
  /** The value of `${{ github.workspace }}`. */
  readonly cwd: string;
  /** `mcp server "x", env "Y"`. */
  readonly where: string;
}

/**
 * Inserts environment variables into a text of an MCP server entry: `$NAME`, `${NAME}`, `${NAME:-default}`, and, as in Copilot's files,
 * `${{ secrets.NAME }}`, `${{ vars.NAME }}`, `${{ env.NAME }}` and `${{ github.workspace }}`. One pass: inserted text is never expanded
 * again. A `$` before anything else stays as it is.
 *
 * @throws SkeinError `SKEIN_MCP` that names the variable if it is not set and has no default
 */
function expandVariables(text: string, references: References): string {
  return text.replaceAll(VARIABLE_REFERENCE, (whole, ...more) => {
    return valueOf(whole, more.at(-1) as Groups, text, references);
  });
}

type Groups = Readonly<Record<string, string | undefined>>;

function valueOf(whole: string, groups: Groups, text: string, references: References): string {
  const { expression, braced, fallback, plain } = groups;
  if (expression !== undefined) return expandExpression(expression.trim(), whole, references);
  const name = braced ?? plain;
  if (name === undefined) throw badReference(`${JSON.stringify(text)} is not a reference to a variable`, references);
  const value = ownValue(references.env, name);
  // As in a shell, `:-` also replaces an empty value.
  if (fallback !== undefined && (value === undefined || value === '')) return fallback;
  if (typeof value !== 'string') throw notSet(name, references);
  return value;
}

function expandExpression(expression: string, whole: string, references: References): string {
  if (expression === 'github.workspace') return references.cwd;
  const name = expressionVariable(expression);
  if (name === undefined) throw badReference(`${whole} is an expression that only GitHub can evaluate`, references);
  const value = ownValue(references.env, name);
  if (typeof value !== 'string') throw notSet(name, references);
  return value;
}

function notSet(name: string, { where }: References): SkeinError {
  return new SkeinError('SKEIN_MCP', `${where}: the environment variable ${name} is not set`, {
    hint: `set ${name}, or remove the server from the agent`,
  });
}

function badReference(message: string, { where }: References): SkeinError {
  return new SkeinError('SKEIN_MCP', `${where}: ${message}`, { hint: 'write $NAME or ${NAME}' });
}
