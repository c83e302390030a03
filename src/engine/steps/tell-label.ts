import type { EventBody } from '../../events/event.js';
import { CLEAN } from '../../guard/label.js';
import type { RunServices } from '../services.js';

/** A step whose end is near. */
interface Labelled {
  /** The label of what it gave. */
  readonly given: number;
  readonly run: Pick<RunServices, 'labels' | 'reporter'>;
  emit(body: EventBody): void;
}

/** Tells listeners what had a say in what a step did; where nobody but the user had, there is nothing to tell. */
export function tellLabel(step: Labelled): void {
  const { given, run } = step;
  if (given === CLEAN || !run.reporter.observed) return;
  const { level, isPrivate, sources, more } = run.labels.get(given);
  const facts = { level, private: isPrivate, sources, ...(more === true ? { more } : {}) };
  step.emit({ type: 'step.note', note: { kind: 'guard.label', ...facts } });
}
