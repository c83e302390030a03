import { systemClock, type Clock } from '../../base/clock.js';
import { madeOnce } from '../../base/collections.js';
import { SkeinError } from '../../base/errors.js';
import { Governor } from '../../budget/governor.js';
import type { Pass, ProviderLimits } from '../../budget/pass.js';
import type { Model, ModelPart, ModelRequest } from '../model.js';
import { limitsIn } from './rate-headers.js';

/** A wait longer than this, in milliseconds, is reported. */
const TOLD_AFTER_MS = 1_000;
/** Approximate number of characters in a token. */
const TOKEN_CHARS = 4;
/** Expected output of a call that sets no limit, in tokens; the real figure counts when the call ends. */
const USUAL_OUTPUT = 500;

/** Most governors to keep, apart from those in use. */
const MOST = 200;
const governors = new Map<string, Governor>();
/** Governors of custom providers, by the object that makes their models. */
const own = new WeakMap<object, Governor>();

/** The governor of a provider, address and key, shared by all runs of the process. */
export function governorOf(identity: string | object): Governor {
  if (typeof identity !== 'string') return madeOnce(own, identity, () => new Governor(systemClock));
  const governor = governors.get(identity) ?? new Governor(systemClock);
  governors.delete(identity);
  governors.set(identity, governor);
  if (governors.size > MOST)
    for (const [key, { isIdle }] of governors) if (isIdle && key !== identity) governors.delete(key);
  return governor;
}

export interface Governed {
  readonly governor: Governor;
  readonly limits?: ProviderLimits | undefined;
  readonly clock?: Clock;
}

/** Returns a model whose calls wait for their turn at its provider. */
export function governed(model: Model, options: Governed): Model {
  const { id, structuredOutput } = model;
  return {
    id,
    ...(structuredOutput === undefined ? {} : { structuredOutput }),
    stream: (request) => inTurn(model, options, request),
  };
}

async function* inTurn(model: Model, options: Governed, request: ModelRequest): AsyncGenerator<ModelPart> {
  const { governor, limits, clock = systemClock } = options;
  const { run = '', again = false } = request.turn ?? {};
  const pass = governor.enter({ run, again, limits, model: model.id, ...thought(request) });
  let used: number | undefined;
  let isRefused = false;
  const heard: ModelRequest['heard'] = (answer) => {
    const told = limitsIn(answer, clock.now());
    isRefused ||= told.refused;
    pass.tell(told);
  };
  try {
    await turnOf(pass, request, clock);
    for await (const part of model.stream({ ...request, heard })) {
      if (part.type === 'finish') used = part.usage && part.usage.inputTokens + part.usage.outputTokens;
      yield part;
    }
  } catch (error) {
    // In the middle of a stream, the headers are no longer available.
    const isOverload = SkeinError.isInstance(error) && error.code === 'SKEIN_MODEL_OVERLOADED';
    if (isOverload && !isRefused) pass.tell({ allowances: {}, refused: true, retryAfterMs: error.retryAfterMs });
    throw error;
  } finally {
    pass.leave(used);
  }
}

/** Estimates the tokens of a call from the length of its texts: quick, and only a guess. */
function thought({ messages, settings }: ModelRequest): { readonly input: number; readonly output: number } {
  let chars = 0;
  for (const message of messages) {
    if (message.role === 'tool') for (const { output } of message.results) chars += output.length;
    else chars += message.text.length;
  }
  return {
    input: Math.ceil(chars / TOKEN_CHARS),
    output: Math.min(settings.maxOutputTokens ?? USUAL_OUTPUT, USUAL_OUTPUT),
  };
}

/** Waits until the call may be made; a cancelled call leaves the line. */
async function turnOf(pass: Pass, { signal, turn }: ModelRequest, clock: Clock): Promise<void> {
  const ready = pass.ready();
  if (ready === undefined) return;
  signal.throwIfAborted();
  const since = clock.now();
  const goOn = turn?.waits();
  let isTold = false;
  const stopTelling = clock.setTimer(TOLD_AFTER_MS, () => {
    isTold = true;
    turn?.queued(pass.ahead);
  });
  let stop: (() => void) | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      stop = () => reject(signal.reason as Error);
      signal.addEventListener('abort', stop, { once: true });
      void ready.then(resolve);
    });
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
    stopTelling();
    goOn?.();
  }
  if (isTold) turn?.admitted(clock.now() - since);
}
