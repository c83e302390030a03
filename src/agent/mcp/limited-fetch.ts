import type { FetchLike } from '@modelcontextprotocol/client';
import { SkeinError } from '../../base/errors.js';
import { limitedAnswer } from '../limited-answer.js';
import { withResultDigits } from './result-digits.js';

/** Largest answer of a server that is not an event stream, and largest single event of a stream. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Ends calls that wait for an answer that turned out too long: the client itself would let them wait. */
export class Breaker {
  private controller = new AbortController();

  /** The signal for calls that begin at this point. Its reason is the argument of {@link Breaker.trip}. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Fails the pending calls; later ones are not affected. */
  trip(error: SkeinError): void {
    const { controller } = this;
    this.controller = new AbortController();
    controller.abort(error);
  }
}

/** A `fetch` that limits answers, and each event of an event stream. Redirects to another host are refused. */
export function limitedFetch(name: string, breaker: Breaker): FetchLike {
  return async (url, init) => {
    const response = await fetchAtHome(name, url, init);
    const answer = limitedAnswer(response, { message: MAX_MESSAGE_BYTES }, (limit) => {
      const error = new SkeinError('SKEIN_MCP', `MCP server "${name}" sent a message of more than ${limit}`);
      breaker.trip(error);
      return error;
    });
    return withResultDigits(answer);
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
    // Only these two statuses require the same request again.
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
