import type { StepNote } from '../../events/event.js';
import type { ReadChannel } from '../../lang/json-path.js';
import { missingIn } from '../../lang/template.js';
import type { Template } from '../../lang/values.js';

/** A step whose texts are filled in. */
interface Filled {
  readonly run: { readonly reporter: { readonly observed: boolean } };
  reader(): ReadChannel;
  emit(event: { readonly type: 'step.note'; readonly note: StepNote }): void;
}

/** Tells whoever listens which values the texts of a step expect and nobody has written. */
export function warnOfMissing(step: Filled, templates: Iterable<Template>): void {
  if (!step.run.reporter.observed) return;
  const read = step.reader();
  for (const template of templates) {
    for (const message of missingIn(template, read))
      step.emit({ type: 'step.note', note: { kind: 'warning', code: 'missing-output', message } });
  }
}
