import { systemClock } from '../base/clock.js';
import { SkeinError, textToRecord } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import { nodesOf } from '../plan/nodes.js';
import type { Plan } from '../plan/plan.js';
import { answerRun } from './answering.js';
import { deliveredAnswer } from './delivered.js';
import { readRun } from './overview.js';
import type { RunStatus } from './run-overview.js';
import { readHistory } from './session.js';
import type { Store } from './store.js';
import { readStored } from './stored.js';

/** A delivered event. */
export interface DeliveredEvent {
  /** Path of the step that waited for the event; absent if none did, and the event is kept for the next step that waits. */
  readonly path?: string;
}

/** Statuses of runs that never wait again. */
const OVER: ReadonlySet<RunStatus> = new Set(['succeeded', 'degraded', 'cancelled']);

/**
 * Delivers an event to a run, whether or not a process runs it. A step that waits for an event of this name takes it; otherwise it is kept,
 * in order, for the next steps that wait. Each event is taken once: one that is delivered twice is two events.
 *
 * @throws SkeinError `SKEIN_ANSWER` if the run is over, none of its nodes waits for such an event, or `data` does not match the schema of
 * the waiting step; `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`, `SKEIN_NOT_JSON`
 * @example
 * deliverEvent(store, runId, 'payment', { amount: 12 });
 * await flow.run(undefined, { store, resume: runId }); // when no process runs it
 */
export function deliverEvent(store: Store, runId: string, name: string, data: unknown = null): DeliveredEvent {
  const at = systemClock.now();
  const { status, questions } = readRun(store, runId, { now: at });
  if (OVER.has(status)) {
    throw new SkeinError('SKEIN_ANSWER', `the run is ${status}: it is not waiting for an event`);
  }
  const open = questions.find((pause) => pause.question === undefined && pause.name === name && pause.overdue !== true);
  if (open !== undefined) return { path: answerRun(store, runId, { key: open.key, value: data }).path };
  checkName(store, runId, name);
  const text = textToRecord(data, `what comes with the event '${name}'`);
  // Another process may deliver an event at the same moment: use the first free number.
  for (let number = 1; !store.answer(runId, deliveredAnswer(name, number, text, at)); number += 1);
  return {};
}

/** Refuses unknown names: an event with a misspelt name would be kept forever. */
function checkName(store: Store, runId: string, name: string): void {
  const names = new Set<string>();
  for (const { node } of nodesOf(readStored(store, readHistory(store, runId).current.plan) as Plan))
    if (node.kind === 'wait' && node.event !== undefined) names.add(node.event);
  if (names.has(name)) return;
  const list = names.size === 0 ? 'no node of it waits for an event' : `events: ${[...names].slice(0, 20).join(', ')}`;
  const near = didYouMean(name, [...names]);
  throw new SkeinError('SKEIN_ANSWER', `the run waits for no event that is called '${name}'`, {
    hint: near === undefined ? list : `${near} ${list}`,
  });
}
