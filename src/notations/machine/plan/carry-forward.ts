import type { MachineState } from './standing.js';

/** So many of the last messages are carried forward, and so many characters of each. */
const MOST_MESSAGES = 10;
const LONGEST_LINE = 200;

/**
 * What the next state is told of what was said in the one before; empty when nothing was.
 *
 * @example
 * carriedForward('intake', [{ role: 'user', text: 'My order is late.', state: 'intake' }]);
 * // [Previous state: intake, 1 messages]
 * // user: My order is late.
 */
export function carriedForward(state: string, conversation: NonNullable<MachineState['conversation']>): string {
  const said = conversation.filter((message) => message.state === state);
  const lines = said.slice(-MOST_MESSAGES).flatMap(({ role, text = '' }) => {
    if (text === '') return [];
    return [`${role}: ${text.length > LONGEST_LINE ? `${cut(text)}...` : text}`];
  });
  if (said.length === 0) return '';
  return [`[Previous state: ${state}, ${said.length} messages]`, ...lines].join('\n');
}

/** No half of a pair is left at the end. */
function cut(text: string): string {
  return text.slice(0, LONGEST_LINE).replace(/[\uD800-\uDBFF]$/, '');
}
