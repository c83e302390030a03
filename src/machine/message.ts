import { SkeinError } from '../base/errors.js';
import { kindText } from '../lang/value-text.js';

/**
 * Returns what is said to a pack.
 *
 * @throws SkeinError `SKEIN_INPUT` for anything but a text, and for an empty one
 */
export function checkedMessage(message: unknown): string {
  if (typeof message === 'string' && message.trim() !== '') return message;
  const what = message === '' || typeof message === 'string' ? 'an empty text' : kindText(message);
  throw new SkeinError('SKEIN_INPUT', `a message must be a text, not ${what}`, {
    hint: 'put what a picture or a sound says into words, or give its address',
  });
}
