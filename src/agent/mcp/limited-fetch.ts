import type { FetchLike } from '@modelcontextprotocol/client';
import type { Transformer } from 'node:stream/web';
import { SkeinError } from '../../base/errors.js';

/** Longest answer of a server that is no event stream, and longest single event of one that is. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Ends the calls that wait for an answer which turned out too long: the client itself would let them wait. */
export class Breaker {
  private controller = new AbortController();

  /** For the calls that begin now. Its reason is what {@link Breaker.trip} was told. */
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
 * event may be longer than a message.
 */
export function limitedFetch(name: string, breaker: Breaker): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const body = response.body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(limit(name, isStream, breaker)));
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
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
