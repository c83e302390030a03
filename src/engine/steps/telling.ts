import { countInner } from '../../events/call-fold.js';
import type { EventBody, StepNote } from '../../events/event.js';
import type { Endorser, TrustFacts } from '../../events/trust.js';
import { CLEAN } from '../../guard/label.js';
import type { RunServices } from '../services.js';
import type { ReadChannel } from '../../lang/json-path.js';
import { missingIn } from '../../lang/template.js';
import type { Template } from '../../lang/values.js';
import { madeOnce } from '../../base/collections.js';
import { SkeinError, toErrorData } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import type { CallUnderWay } from '../ports/executor.js';
import type { LoopNote } from '../../events/step-notes.js';
import { RoundTexts, type RoundChange } from '../../lang/lines.js';
import type { CompiledNode } from '../graph/compile.js';

interface Labelled {
  readonly given: number;
  readonly run: Pick<RunServices, 'labels' | 'reporter'>;
  emit(body: EventBody): void;
}

/** Reports to listeners what influenced a step, unless only the user did. */
export function tellLabel(step: Labelled): void {
  const { given, run } = step;
  if (given === CLEAN || !run.reporter.observed) return;
  step.emit({ type: 'step.note', note: { kind: 'guard.label', ...factsOf(step) } });
}

interface Succeeding {
  readonly path: string;
  readonly run: Pick<RunServices, 'durable' | 'tallies' | 'reporter'>;
  emit(body: EventBody): void;
}

/** Counts what a reused step saves of the calls that runs inside it had made: its record is used in place of those runs. */
export function tellReused(step: Succeeding): void {
  const { durable, tallies, reporter } = step.run;
  if (!durable.replaying) return;
  for (const note of durable.innerCalls?.(step.path) ?? []) {
    countInner(tallies.saved, note);
    if (reporter.observed) step.emit({ type: 'step.note', note });
  }
}

/** Reports to listeners that the result of a step is about to be endorsed, with its label so far. */
export function tellEndorsed(step: Labelled, endorsedBy: Endorser): void {
  if (!step.run.reporter.observed) return;
  step.emit({ type: 'step.note', note: { kind: 'guard.endorsed', endorsedBy, ...factsOf(step) } });
}

function factsOf({ given, run }: Labelled): TrustFacts {
  const { level, isPrivate, sources, more } = run.labels.get(given);
  return { level, private: isPrivate, sources, ...(more === true ? { more } : {}) };
}

/** A step whose texts are being rendered. */
interface Filled {
  readonly run: { readonly reporter: { readonly observed: boolean } };
  reader(): ReadChannel;
  emit(event: { readonly type: 'step.note'; readonly note: StepNote }): void;
}

/** Warns listeners of values that the texts of a step expect and no step has written. */
export function warnOfMissing(step: Filled, templates: Iterable<Template>): void {
  if (!step.run.reporter.observed) return;
  const read = step.reader();
  for (const template of templates) {
    for (const message of missingIn(template, read))
      step.emit({ type: 'step.note', note: { kind: 'warning', code: 'missing-output', message } });
  }
}

/** The note about a model call in progress at the end of its step. */
export function cutOffNote({ asking, reserved }: CallUnderWay): StepNote {
  const details = { spent: reserved as unknown as JsonObject };
  const error = toErrorData(new SkeinError('SKEIN_CANCELLED', 'its step ended first', { details }));
  return { kind: 'model.failed', ...asking, error };
}

export function roundNotes({ change, repeated, oscillating }: RoundChange, round: number): readonly LoopNote[] {
  const notes: LoopNote[] = [{ kind: 'loop.round', round, change }];
  if (repeated) notes.push({ kind: 'loop.repeated', round });
  if (oscillating) notes.push({ kind: 'loop.oscillating', round });
  return notes;
}

/** Texts of agents on a cycle, by node index. */
const said = new WeakMap<object, Map<number, RoundTexts>>();

/** A step that may be one of several visits. */
interface Visited {
  readonly compiled: CompiledNode;
  readonly visit: number;
  readonly owner: object;
  emit(body: EventBody): void;
}

/** Reports how the text of an agent on a cycle has changed: its visits are like the rounds of a loop. Skips the first visit. */
export function tellVisit(step: Visited, output: unknown): void {
  const { compiled, owner, visit } = step;
  if (compiled.node.kind !== 'agent' || typeof output !== 'string' || compiled.hops.every(({ leaves }) => leaves))
    return;
  const visits = madeOnce(said, owner, () => new Map<number, RoundTexts>());
  const change = madeOnce(visits, compiled.index, () => new RoundTexts()).take(output);
  if (visit > 1) for (const note of roundNotes(change, visit)) step.emit({ type: 'step.note', note });
}
