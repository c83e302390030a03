import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { sentKey } from '../../base/address.js';
import { SkeinError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import type { Tool, ToolIo } from '../tool.js';
import { htmlToText } from './html-text.js';
import { sendHop, type Hop, type NetworkRules } from './http-hop.js';
import { headOf } from './text.js';
import { badInput, flag, optionalText, refused, requiredText } from './tool-input.js';

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_CHARS = 100_000;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;
const TEXT_TYPE = /^(?:text\/|application\/(?:[a-z0-9.+-]*\+)?(?:json|xml|javascript|x-ndjson|yaml|x-yaml|toml)\b)/;

/**
 * `fetch`: the text of a page on the public Internet. Follows redirects on its own and checks each hop anew, by what influenced the call too; returns HTML as its readable
 * text unless `raw` is set. No cookies, no credentials, no proxy. Reads at most 4 MiB and returns at most 100,000 characters, within 30
 * seconds. A POST carries an `Idempotency-Key`.
 */
export function fetchCode(rules: NetworkRules, closing: AbortSignal): Tool['execute'] {
  return async (input, io) => {
    const first = firstHop(input, io.idempotencyKey);
    const late = AbortSignal.timeout(TIMEOUT_MS);
    const signal = AbortSignal.any([io.signal, closing, late]);
    try {
      const { response, url } = await follow({ ...first, signal }, rules, io.follows);
      return await show(response, url, flag(input, 'raw'));
    } catch (error) {
      if (io.signal.aborted || closing.aborted) throw new SkeinError('SKEIN_CANCELLED', 'the tool call was cancelled');
      if (late.aborted) {
        throw new SkeinError(
          'SKEIN_TOOL_FAILED',
          `${first.url.host} did not answer within ${TIMEOUT_MS / 1_000} seconds`,
        );
      }
      throw error;
    }
  };
}

function firstHop(input: JsonObject, key: string): Omit<Hop, 'signal'> {
  const text = requiredText(input, 'url');
  if (!URL.canParse(text))
    throw badInput(`${JSON.stringify(headOf(text, 200))} is not an address`, 'such as https://example.org/page');
  const method = optionalText(input, 'method') ?? 'GET';
  if (method !== 'GET' && method !== 'POST') throw badInput('"method" must be GET or POST');
  const body = optionalText(input, 'body');
  if (body !== undefined && method === 'GET') throw badInput('a GET has no body');
  const type = optionalText(input, 'content_type') ?? 'application/json';
  if (!/^[\w.+/-]{1,100}(?:; ?charset=[\w-]{1,40})?$/.test(type))
    throw badInput('"content_type" is not a content type');
  const sent = method === 'POST' ? { 'content-type': type, 'idempotency-key': sentKey(key) } : {};
  return {
    url: new URL(text),
    method,
    body: method === 'POST' ? (body ?? '') : undefined,
    headers: { ...HEADERS, ...sent },
  };
}

const HEADERS = {
  'user-agent': 'skein',
  accept: 'text/html, application/json, text/plain, text/*;q=0.9, */*;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
};

async function follow(
  first: Hop,
  rules: NetworkRules,
  follows: ToolIo['follows'],
): Promise<{ response: IncomingMessage; url: URL }> {
  let hop = first;
  for (let count = 0; count <= MAX_REDIRECTS; count++) {
    const response = await sendHop(hop, rules);
    const next = redirectOf(response, hop);
    if (next === undefined) return { response, url: hop.url };
    response.destroy();
    if (follows?.(next.url) === false) {
      throw refused(
        `${hop.url.host} redirects to ${headOf(next.url.href, 500)}`,
        'get that address itself if it is right',
      );
    }
    hop = next;
  }
  throw refused(`${first.url.host} redirects more than ${MAX_REDIRECTS} times`);
}

function redirectOf(response: IncomingMessage, hop: Hop): Hop | undefined {
  const status = response.statusCode ?? 0;
  const location = response.headers.location;
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  if (!URL.canParse(location, hop.url.href))
    throw refused(`${hop.url.host} redirects to something that is not an address`);
  const url = new URL(location, hop.url);
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw refused(`${hop.url.host} redirects from https to http`);
  }
  const keeps = status === 307 || status === 308;
  if (keeps && hop.method === 'POST' && url.origin !== hop.url.origin) {
    throw refused(
      `${hop.url.host} wants the text sent to ${url.host} instead`,
      'send it there yourself if that is right',
    );
  }
  return keeps ? { ...hop, url } : { ...hop, url, method: 'GET', body: undefined, headers: HEADERS };
}

async function show(response: IncomingMessage, url: URL, raw: boolean): Promise<string> {
  const type = (response.headers['content-type'] ?? 'text/plain').toLowerCase();
  const status = `HTTP ${response.statusCode ?? 0} ${response.statusMessage ?? ''}`.trim();
  if (!TEXT_TYPE.test(type)) {
    response.destroy();
    throw refused(`${url.host} answered with ${type.split(';')[0] ?? ''}, which is not text (${status})`);
  }
  const { bytes, cut } = await readBody(response);
  const text = decode(bytes, type);
  const isPage = !raw && type.startsWith('text/html');
  const { text: body, cut: short } = isPage ? htmlToText(text, MAX_CHARS) : { text, cut: false };
  const tooLong = body.length > MAX_CHARS;
  const note = cut || short || tooLong ? '\n[the rest is left out]' : '';
  return `${status}\n${url.href}\n\n${tooLong ? headOf(body, MAX_CHARS) : body}${note}`;
}

async function readBody(response: IncomingMessage): Promise<{ bytes: Buffer; cut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let cut = false;
  // Destroying the decoder does not destroy its source, so both are destroyed.
  const body = decoded(response);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) {
        cut = true;
        break;
      }
    }
  } catch (error) {
    throw new SkeinError('SKEIN_TOOL_FAILED', 'the answer was cut off or damaged', { cause: error });
  } finally {
    body.destroy();
    response.destroy();
  }
  return { bytes: Buffer.concat(chunks).subarray(0, MAX_BYTES), cut };
}

function decoded(response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return response;
  const decoder = DECODERS.get(encoding)?.();
  if (decoder === undefined) {
    response.destroy();
    throw refused(`the answer is encoded in a way that is not understood (${headOf(encoding, 40)})`);
  }
  response.on('error', (error) => decoder.destroy(error));
  return response.pipe(decoder);
}

const DECODERS = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

function decode(bytes: Buffer, type: string): string {
  const label = /charset="?([\w-]{1,40})/.exec(type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
