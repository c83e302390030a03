import type { Transformer } from 'node:stream/web';

/** How long an answer of a server may be, in bytes after decompression. */
export interface AnswerLimits {
  /** An answer that is not an event stream, or a single line of a stream. */
  readonly message: number;
  /** A whole event stream; absent: it may last indefinitely. */
  readonly stream?: number;
}

/**
 * Limits the body of an answer, so that a server cannot fill the memory. `tooLong` is called once, with the exceeded limit, and its error
 * ends the body.
 */
export function limitedAnswer(response: Response, limits: AnswerLimits, tooLong: (limit: string) => Error): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const limiting = limiter(isStream ? limits : { message: limits.message, stream: limits.message }, tooLong);
  const body = response.body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(limiting));
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

function limiter({ message, stream = Infinity }: AnswerLimits, tooLong: (limit: string) => Error): Transformer {
  let whole = 0;
  let line = 0;
  return {
    transform(chunk: Uint8Array, controller) {
      whole += chunk.length;
      line += chunk.length;
      if (line > message || whole > stream) {
        controller.error(tooLong(`${Math.min(line > message ? message : stream, stream) / 1024 / 1024} MiB`));
        return;
      }
      // A newline resets the count of a line: only a single endless one can fill the memory.
      if (chunk.includes(10)) line = chunk.length - chunk.lastIndexOf(10) - 1;
      controller.enqueue(chunk);
    },
  };
}
