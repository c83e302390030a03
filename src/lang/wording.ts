import type { Template, TemplateRef } from './values.js';

/**
 * A template without what its references are called in messages, which decides nothing.
 *
 * @example
 * withoutWording([{ channel: 'items.texts', written: '$text' }]); // [{ channel: 'items.texts' }]
 */
export function withoutWording(template: Template): Template {
  return template.map((piece) => (typeof piece === 'object' && 'channel' in piece ? bareRef(piece) : piece));
}

/** A reference without what is only said about it. */
export function bareRef<R extends TemplateRef>(ref: R): R {
  if (ref.written === undefined && ref.expected === undefined) return ref;
  const { written: _written, expected: _expected, ...rest } = ref;
  return rest as R;
}
