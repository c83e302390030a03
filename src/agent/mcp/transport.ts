import type { StreamableHTTPClientTransportOptions, Transport } from '@modelcontextprotocol/client';
import { SkeinError } from '../../base/errors.js';
import type { McpServerSpec, SandboxUse } from '../../plan/agent-spec.js';
import { cleanEnvironment } from '../tools/clean-env.js';
import type { Environment } from '../tools/clean-env.js';
import type { Breaker } from './limited-fetch.js';
import { limitedFetch } from './limited-fetch.js';
import { StdioTransport } from './stdio-transport.js';
import type { References } from './variables.js';
import { BARE_SECRET } from '../../base/text.js';
import { expandVariables } from './variables.js';

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

/** What a server is started or reached with. */
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
