import type { Template, ValueRef } from './values.js';

/**
 * A template without what its references are called in messages, which decides nothing.
 *
 * @example
 * withoutWording([{ channel: 'items.texts', written: '$text' }]); // [{ channel: 'items.texts' }]
 */
export function withoutWording(template: Template): Template {
  return template.map((piece) => (typeof piece === 'object' && 'channel' in piece ? bareRef(piece) : piece));
}

/** A reference without what it is called in messages. */
export function bareRef<R extends ValueRef>(ref: R): R {
  if (ref.written === undefined) return ref;
  const { written: _written, ...rest } = ref;
  return rest as R;
}
