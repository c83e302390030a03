import { nodePathOf } from '../base/address.js';
import type { Listener } from '../events/event.js';
import type { Plan } from '../plan/plan.js';

/** Convergences that came to their cap, in a run that is under way. */
export interface CapWatch {
  readonly listener: Listener;
  /** The caps by the names of the convergences; inside of a goal `goal.name`. */
  failures(): Record<string, number>;
}

/** Watches over the convergences of a plan; undefined for one without. What a replay repeats counts like what happens for the first time. */
export function watchCaps(plan: Plan): CapWatch | undefined {
  const names = new Map(convergencesIn(plan, '', ''));
  if (names.size === 0) return undefined;
  const caps = new Map<string, number>();
  return {
    listener(event) {
      if (event.type !== 'step.note') return;
      const { note } = event;
      const name =
        note.kind === 'loop.round' || note.kind === 'loop.capped' ? names.get(nodePathOf(event.path)) : undefined;
      if (name === undefined) return;
      if (note.kind === 'loop.capped') caps.set(name, note.rounds);
      // It begins anew: a retry, or after a correction.
      else if (note.kind === 'loop.round' && note.round === 1) caps.delete(name);
    },
    failures: () => Object.fromEntries(caps),
  };
}

function* convergencesIn({ nodes }: Plan, path: string, around: string): Generator<readonly [string, string]> {
  for (const node of nodes) {
    if (node.kind !== 'loop' && node.kind !== 'call') continue;
    const name = `${around}${node.plan.name}`;
    if (node.kind === 'loop') yield [`${path}${node.id}`, name];
    yield* convergencesIn(node.plan, `${path}${node.id}/`, `${name}.`);
  }
}
