import { text, map, word } from '../text/forms.js';
import type { SourceScalar } from '../text/nodes.js';
import type { Fields } from '../text/shape.js';

/** The keys of a step that ends its file, in YAML. */
export const END_KEYS = {
  status: word(['succeeded', 'failed'], 'how the file ends', { default: 'succeeded' }),
  reason: text('why; the message of a file that failed', { blank: true }),
} as const;

const KEYS = map(END_KEYS, '');

/** An end, as it was written. */
export interface EndDef {
  readonly status: 'succeeded' | 'failed';
  readonly reason: SourceScalar | undefined;
}

/** Reads the keys of an end. */
export function readEnd(fields: Fields): EndDef {
  const { status = 'succeeded' } = fields.values(KEYS);
  return { status, reason: fields.given('reason') };
}
