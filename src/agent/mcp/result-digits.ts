import { keepDigits } from '../../base/json.js';

/** What only the answer of a call has. In others, such as lists of tools, a long number is one of a schema and stays a number. */
const STRUCTURED = '"structuredContent"';
const STRUCTURED_EVENT = /^data:.*"structuredContent".*$/gm;

/** Returns a message in which long whole numbers of a structured result are texts with all their digits, as in other JSON from outside. */
export function keepResultDigits(message: string): string {
  return message.includes(STRUCTURED) ? keepDigits(message) : message;
}

/** Does the same to the messages in an answer over HTTP: its body, or each event of a stream. */
export function withResultDigits(response: Response): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const body = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(isStream ? eventLines() : wholeBody())
    .pipeThrough(new TextEncoderStream());
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

function eventLines(): TransformStream<string, string> {
  // The beginning of a line whose end has not come; joined once, since a line can come in many pieces.
  let pieces: string[] = [];
  return new TransformStream({
    transform(chunk, controller) {
      const end = Math.max(chunk.lastIndexOf('\n'), chunk.lastIndexOf('\r')) + 1;
      if (end > 0) {
        controller.enqueue(inEvents([...pieces, chunk.slice(0, end)].join('')));
        pieces = [];
      }
      pieces.push(chunk.slice(end));
    },
    flush(controller) {
      controller.enqueue(inEvents(pieces.join('')));
    },
  });
}

function inEvents(lines: string): string {
  return lines.replaceAll(STRUCTURED_EVENT, keepDigits);
}

function wholeBody(): TransformStream<string, string> {
  const pieces: string[] = [];
  return new TransformStream({
    transform(chunk) {
      pieces.push(chunk);
    },
    flush(controller) {
      controller.enqueue(keepResultDigits(pieces.join('')));
    },
  });
}
