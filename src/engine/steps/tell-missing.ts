import type { StepNote } from '../../events/event.js';
import { refText } from '../../lang/json-path.js';
import type { ReadChannel } from '../../lang/json-path.js';
import type { Template } from '../../lang/values.js';

/** A warning for each value that a text expects and that nobody has written. */
export function tellMissing(template: Template, read: ReadChannel, tell: (note: StepNote) => void): void {
  for (const piece of template) {
    if (typeof piece === 'string' || !('expected' in piece) || read(piece.channel) !== undefined) continue;
    const message = `${refText(piece)} has no value: that step has not run`;
    tell({ kind: 'warning', code: 'missing-output', message });
  }
}
