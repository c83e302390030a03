import type { Supervision } from '../plan/supervision.js';

/** What is said of the supervision of something. */
export interface Said {
  /** Who judges, or nobody; absent: as around it. */
  readonly mode?: Supervision['by'] | 'nobody';
}

/** A problem of a step that would remove the gate of a person. Its code is `human-gate`. */
export interface GateProblem {
  readonly message: string;
  readonly hint: string;
}

/**
 * What holds for an agent, or for what is inside of a step: what is said of it, and otherwise what holds around it. Nothing removes the gate of a person that
 * stands around it.
 */
export function supervisedUnder<S extends Said>(
  own: S | undefined,
  around: S | undefined,
  removesGate: (optsOut: boolean) => void,
): S | undefined {
  if (own === undefined) return around;
  const { mode } = own;
  if (around?.mode === 'human' && (mode === 'nobody' || mode === 'model')) removesGate(mode === 'nobody');
  return mode === 'nobody' || around === undefined || around.mode === 'nobody' ? own : { ...around, ...own };
}

/** The problem of a step, `step "a"`, that opts out, or has a model in place of the person. */
export function gateProblem(step: string, optsOut: boolean, hint: string): GateProblem {
  const what = optsOut ? 'opts out of the supervision by a person' : 'puts a model in place of the person';
  return { message: `${step} ${what} that holds around it`, hint };
}
