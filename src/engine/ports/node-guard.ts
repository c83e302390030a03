import type { StepNote } from '../../events/event.js';
import type { Label } from '../../guard/label.js';
import type { NodeCall } from '../../plan/node-call.js';
import type { Question } from './durable.js';

/** What is decided about a call of a tool that a step makes by itself, when it is not simply made. */
export interface NodeDecision {
  /** What listeners are told. */
  readonly note: StepNote;
  /** What a person is asked; absent: it is refused. */
  readonly question?: Question;
  readonly why: string;
}

/** Decides by who had a say in the step; undefined: the call may be made. */
export type NodeGuard = (call: NodeCall, label: Label, path: string) => NodeDecision | undefined;

/** An answer that comes later than this, in milliseconds, is too late: what the call is about has changed since. */
export const GUARD_EXPIRES_MS = 7 * 24 * 60 * 60 * 1_000;
