import type { WaitNode } from '../plan/plan.js';
import { text } from '../text/forms.js';
import type { Fields } from '../text/shape.js';
import { duration, LONGEST_WAIT_MS, readDuration } from './duration-key.js';

/** The keys of a step that waits, in YAML. */
export const WAIT_KEYS = {
  for: duration(
    'how long: 30s, 2h, or a number of seconds; with event: how long for it at most',
    0.0005,
    LONGEST_WAIT_MS / 1_000,
  ),
  event: text('the name of an outside event, which skein answer delivers', { blank: false }),
} as const;

/** A wait, as it was written: for time to pass, or for an event within a time. */
export type WaitDef = Pick<WaitNode, 'ms' | 'event'>;

/** Reads the keys of a wait. Problem codes: `missing-wait`, `bad-duration`, `bad-name`. */
export function readWaitKeys(fields: Fields): WaitDef {
  const ms = readDuration(fields, 'for', { min: 1, max: LONGEST_WAIT_MS });
  const event = fields.scalar('event')?.text;
  if (!fields.has('for') && !fields.has('event') && fields.lacks('for') && fields.lacks('event')) {
    const hint = 'add "for: 30s", or "event: NAME"';
    fields.findings.error('missing-wait', `nothing says what ${fields.name} waits for`, fields.at, hint);
  }
  if (event?.trim() === '') fields.error('bad-name', 'event', `event of ${fields.name} is empty`, 'write event: NAME');
  return { ...(ms === undefined ? {} : { ms }), ...(event === undefined ? {} : { event }) };
}
