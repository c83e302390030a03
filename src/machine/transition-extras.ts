import { SkeinError } from '../base/errors.js';
import { isPlainObject, type JsonObject } from '../base/json.js';
import { checkMethod, refuseUnknown } from '../base/options.js';
import { kindText } from '../lang/value-text.js';

/**
 * Options of a single turn.
 *
 * @example
 * await conversation.send('My order is late.', { signal: AbortSignal.timeout(60_000) });
 */
export interface TurnOptions {
  /** Cancels this turn alone, which then does not count; a turn that waits for one before it does not begin. */
  readonly signal?: AbortSignal;
}

/**
 * Additional data of an event from outside.
 *
 * @example
 * conversation.transition('Approve', { message: 'Go ahead.', data: { ticket: 7 } });
 */
export interface TransitionExtras extends TurnOptions {
  /** A message that the destination answers at once. Without it only a terminal state speaks. */
  readonly message?: string;
  /** The value of `{{workflow_context}}` in the destination's prompt. */
  readonly context?: string;
  /** Kept as `host_extras` with the transition; no model sees it. */
  readonly data?: JsonObject;
}

const EXTRAS: readonly (keyof TransitionExtras)[] = ['message', 'context', 'data', 'signal'];

/**
 * Refuses an event without a name, and extras that would be lost.
 *
 * @throws SkeinError `SKEIN_USAGE`, `SKEIN_INPUT` for extras of another type
 */
export function checkTransition(event: unknown, extras: unknown): void {
  const hint = "transition('Approve', { message: 'Go ahead.' })";
  if (typeof event !== 'string')
    throw new SkeinError('SKEIN_USAGE', `an event is named by a text, not ${kindText(event)}`, { hint });
  if (!isPlainObject(extras))
    throw new SkeinError('SKEIN_USAGE', `the extras of an event are an object, not ${kindText(extras)}`, { hint });
  refuseUnknown('an event', extras, EXTRAS);
  checkSignal(extras);
  const { message, context, data } = extras;
  if (message !== undefined) checkedMessage(message);
  if (data !== undefined && !isPlainObject(data))
    throw new SkeinError('SKEIN_INPUT', `the data of an event must be an object, not ${kindText(data)}`);
  if (context !== undefined && typeof context !== 'string')
    throw new SkeinError('SKEIN_INPUT', `the context of an event must be a text, not ${kindText(context)}`);
}

/** @throws SkeinError `SKEIN_USAGE` */
export function checkTurnOptions(options: unknown): void {
  const hint = 'send(message, { signal })';
  if (!isPlainObject(options))
    throw new SkeinError('SKEIN_USAGE', `the options of a turn are an object, not ${kindText(options)}`, { hint });
  refuseUnknown('a turn', options, ['signal']);
  checkSignal(options);
}

function checkSignal({ signal }: Readonly<Record<string, unknown>>): void {
  checkMethod(
    'signal',
    signal === undefined ? undefined : (Object(signal) as object),
    'addEventListener',
    'an AbortSignal',
  );
}

/** @throws SkeinError `SKEIN_INPUT` for anything but a text, and for an empty one */
export function checkedMessage(message: unknown): string {
  if (typeof message === 'string' && message.trim() !== '') return message;
  const isEmpty = typeof message === 'string';
  throw new SkeinError(
    'SKEIN_INPUT',
    `a message must be a text, not ${isEmpty ? 'an empty text' : kindText(message)}`,
    {
      hint: isEmpty
        ? 'say something, or fire an event without a message'
        : 'put what a picture or a sound says into words, or give its address',
    },
  );
}
