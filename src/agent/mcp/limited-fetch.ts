import type { FetchLike } from '@modelcontextprotocol/client';
import type { Transformer } from 'node:stream/web';
import { SkeinError } from '../../base/errors.js';

/** Longest answer of a server that is not an event stream, and longest single event of one that is. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Ends the calls that wait for an answer which turned out too long: the client itself would let them wait. */
export class Breaker {
  private controller = new AbortController();

  /** For the calls that begin now. Its reason is what {@link Breaker.trip} was given. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Fails the calls that are open; later ones are not concerned. */
  trip(error: SkeinError): void {
    const { controller } = this;
    this.controller = new AbortController();
    controller.abort(error);
  }
}

/**
 * `fetch` whose answers have a limit: a server can't fill the memory. Event streams may go on as long as they like, but no
 * event may be longer than a message. Redirects to another host are refused: headers and messages are for the server that was named.
 */
export function limitedFetch(name: string, breaker: Breaker): FetchLike {
  return async (url, init) => {
    const response = await fetchAtHome(name, url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const body = response.body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(limit(name, isStream, breaker)));
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

const MAX_HOPS = 5;

async function fetchAtHome(name: string, first: string | URL, init: RequestInit | undefined): Promise<Response> {
  let url = new URL(first);
  for (let hops = 0; ; hops++) {
    const response = await fetch(url.href, { ...init, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (next?.origin !== url.origin) throw redirected(name, next);
    // Only these two say that the same is to be sent again.
    const sent = init?.method ?? 'GET';
    if (hops === MAX_HOPS || (sent !== 'GET' && response.status !== 307 && response.status !== 308)) return response;
    url = next;
  }
}

function redirected(name: string, to: URL | undefined): SkeinError {
  const where = to === undefined ? 'an invalid address' : to.origin;
  return new SkeinError('SKEIN_MCP', `MCP server "${name}" redirects to ${where}, which is not followed`, {
    hint: 'if you trust that host, make its address the url of the server',
  });
}

function limit(name: string, isStream: boolean, breaker: Breaker): Transformer<Uint8Array, Uint8Array> {
  let size = 0;
  return {
    transform(chunk, controller) {
      size += chunk.length;
      if (size > MAX_MESSAGE_BYTES) {
        const most = `${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`;
        const error = new SkeinError('SKEIN_MCP', `MCP server "${name}" sent a message of more than ${most}`);
        breaker.trip(error);
        controller.error(error);
        return;
      }
      // Every line of an event stream ends something; an event that is one endless line is what fills the memory.
      if (isStream && chunk.includes(10)) size = chunk.length - chunk.lastIndexOf(10) - 1;
      controller.enqueue(chunk);
    },
  };
}
