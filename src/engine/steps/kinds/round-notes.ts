import { madeOnce } from '../../../base/collections.js';
import type { EventBody } from '../../../events/event.js';
import type { LoopNote } from '../../../events/step-notes.js';
import { RoundTexts } from '../../../lang/lines.js';
import type { RoundChange } from '../../../lang/lines.js';
import type { CompiledNode } from '../../graph/compile.js';

/** What is told of a round. */
export function roundNotes({ change, repeated, oscillating }: RoundChange, round: number): readonly LoopNote[] {
  const notes: LoopNote[] = [{ kind: 'loop.round', round, change }];
  if (repeated) notes.push({ kind: 'loop.repeated', round });
  if (oscillating) notes.push({ kind: 'loop.oscillating', round });
  return notes;
}

/** What the agents on a cycle said, by the index of their node. */
const said = new WeakMap<object, Map<number, RoundTexts>>();

/** A step that may be one of several visits. */
interface Visited {
  readonly compiled: CompiledNode;
  readonly visit: number;
  /** The scope that it belongs to. */
  readonly owner: object;
  emit(body: EventBody): void;
}

/** Tells of an agent that ways lead back to how its text has changed: its visits are the rounds of a loop. Nothing is told of the first one. */
export function tellVisit(step: Visited, output: unknown): void {
  const { compiled, owner, visit } = step;
  if (compiled.node.kind !== 'agent' || typeof output !== 'string' || compiled.hops.every(({ leaves }) => leaves))
    return;
  const visits = madeOnce(said, owner, () => new Map<number, RoundTexts>());
  const change = madeOnce(visits, compiled.index, () => new RoundTexts()).take(output);
  if (visit > 1) for (const note of roundNotes(change, visit)) step.emit({ type: 'step.note', note });
}
