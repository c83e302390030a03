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

/** The constructor of the client package's HTTP transport; the package is loaded by the caller, when first needed. */
export type HttpTransportClass = new (
  url: URL,
  options?: StreamableHTTPClientTransportOptions,
) => Transport & { terminateSession(): Promise<void> };

/** A way to a server; `goodbye` tells it that its session is over. */
export interface Way {
  readonly transport: Transport;
  readonly goodbye?: () => Promise<void>;
}

/** What a server is reached or started with. */
export interface TransportSettings {
  readonly env: Environment;
  readonly cwd: string;
  readonly breaker: Breaker;
  /** Bytes that a server's program may have in memory. */
  readonly memory: number | undefined;
  /** The command line that runs another one in a sandbox; `path` is the `PATH` of the program. */
  confine(argv: readonly string[], use: SandboxUse, path: string | undefined): Promise<[string, ...string[]]>;
}

/**
 * The way to a server: a process over its standard streams, or streamable HTTP. References to environment variables are
 * replaced; a process gets its own `env` and what every program needs, nothing else. Starts nothing yet.
 *
 * @throws SkeinError `SKEIN_MCP` for an entry that can't work
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

/** Copilot's files may also give the bare name of a secret. */
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
