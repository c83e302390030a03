import { lookup } from 'node:dns/promises';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { SkeinError } from '../../base/errors.js';
import { isDeclaredHost } from '../../guard/decide.js';
import { isPublicAddress, sameAddress } from './addresses.js';
import type { ResolvedAddress } from './provider-options.js';
import { refused, systemCode } from './tool-input.js';

/** How host names are resolved, and which addresses are allowed. */
export interface NetworkRules {
  resolve(host: string): Promise<readonly ResolvedAddress[]>;
  allows(address: string): boolean;
  /** Whether requests to a host are allowed at all, whatever its addresses. */
  reaches?(host: string): boolean;
}

/**
 * The rules of the `fetch` tool: the system resolves names, and only public addresses are allowed.
 *
 * @param allowPrivate allows private and loopback addresses too; for tests and for people who know their network
 * @param domains host lists of policies: a host must be in each of them
 */
export function networkRules(allowPrivate: boolean, domains: readonly (readonly string[])[] = []): NetworkRules {
  return {
    resolve: (host) => lookup(host, { all: true, verbatim: true }),
    allows: (address) => allowPrivate || isPublicAddress(address),
    reaches: (host) => domains.every((list) => isDeclaredHost(host, list)),
  };
}

/** One request to one address, without following redirects. */
export interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Sends one request (threat A5). Resolves the name, checks *every* address as bytes, and connects to one of exactly these addresses, so a
 * second answer of the name server has no effect. Compares the address of the open connection once more.
 *
 * @throws SkeinError `SKEIN_TOOL_REFUSED` for a forbidden URL or address, `SKEIN_TOOL_FAILED` if the request fails
 */
export async function sendHop(hop: Hop, rules: NetworkRules): Promise<IncomingMessage> {
  checkUrl(hop.url);
  if (rules.reaches?.(hop.url.host) === false)
    throw refused(`a policy does not list ${hop.url.host} in its domains`, 'use what other tools give');
  const checked = await checkedAddresses(hop.url, rules, hop.signal);
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(hopError(error, hop));
    const send = hop.url.protocol === 'https:' ? httpsRequest : httpRequest;
    const sent: ClientRequest = send(hop.url, {
      method: hop.method,
      headers: { ...hop.headers, ...(hop.body === undefined ? {} : { 'content-length': Buffer.byteLength(hop.body) }) },
      lookup: pinnedLookup(checked),
      signal: hop.signal,
      // Each request has a connection of its own: a reused one could lead elsewhere.
      agent: false,
    });
    sent.on('socket', (socket) => {
      socket.once('connect', () => {
        const remote = socket.remoteAddress ?? '';
        if (!checked.some(({ address }) => sameAddress(address, remote))) {
          sent.destroy(refused(`the connection to ${hop.url.host} led to another address`));
        }
      });
    });
    sent.on('response', resolve);
    sent.on('error', fail);
    sent.end(hop.body);
  });
}

function checkUrl(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refused(`${url.protocol} addresses can't be fetched`, 'use http or https');
  }
  if (url.username !== '' || url.password !== '') throw refused('an address must not contain a user name or password');
}

async function checkedAddresses(
  url: URL,
  rules: NetworkRules,
  signal: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  // Removes the brackets of an IPv6 address, and the dot that may end a name.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const family = isIP(host);
  const addresses = family === 0 ? await resolveHost(host, rules, signal) : [{ address: host, family }];
  if (addresses.length === 0) throw new SkeinError('SKEIN_TOOL_FAILED', `the host ${host} has no address`);
  if (!addresses.every(({ address }) => rules.allows(address))) {
    throw refused(`${host} is not a public address`, 'only hosts on the public Internet can be fetched');
  }
  return addresses;
}

async function resolveHost(
  host: string,
  rules: NetworkRules,
  signal: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  try {
    return await Promise.race([
      rules.resolve(host),
      new Promise<never>((_, reject) => {
        stop = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
        signal.addEventListener('abort', stop, { once: true });
      }),
    ]);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new SkeinError('SKEIN_TOOL_FAILED', `the host ${host} was not found (${systemCode(error) ?? 'no answer'})`, {
      cause: error,
    });
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}

function pinnedLookup(checked: readonly ResolvedAddress[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = checked;
    if (options.all === true) callback(null, [...checked]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

function hopError(error: Error, hop: Hop): Error {
  if (SkeinError.isInstance(error) || hop.signal.aborted) return error;
  const code = systemCode(error) ?? 'unknown error';
  return new SkeinError('SKEIN_TOOL_FAILED', `${hop.url.host} can't be reached (${code})`, { cause: error });
}
