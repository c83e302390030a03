import type { Spec, State } from 'skein/machine';
import { StateMachine } from 'skein/machine';
import { FakeClock } from 'skein/testing';

/** 2026-01-01T00:00:00.000Z, where a fake clock starts. */
export const START = '2026-01-01T00:00:00.000Z';

/** A spec of states given by name; prompts have the names of their states. */
export function specOf(
  states: Readonly<Record<string, State | Readonly<Record<string, string>>>>,
  more: Partial<Spec> = {},
): Spec {
  const [entry = ''] = Object.keys(states);
  const all = Object.entries(states).map(([name, state]): [string, State] => [
    name,
    isState(state) ? { prompt_task: name, ...state } : { prompt_task: name, on_event: state },
  ]);
  return { version: 2, entry, states: Object.fromEntries(all), ...more };
}

const KEYS = new Set([
  'on_event',
  'terminal',
  'max_visits',
  'on_max_visits',
  'artifacts',
  'persistence',
  'orchestration',
  'composition',
]);

/** A state that has none of these keys is a table of its events. */
function isState(state: State | Readonly<Record<string, string>>): state is State {
  const keys = Object.keys(state);
  return keys.length === 0 || keys.some((key) => KEYS.has(key));
}

/** draft, review, done: the ways of most tests. */
export const DRAFT = specOf({
  draft: { Submit: 'review', Abort: 'done' },
  review: { Approve: 'done', Reject: 'draft' },
  done: { terminal: true },
});

export function machineOf(spec: Spec): { machine: StateMachine; clock: FakeClock } {
  const clock = new FakeClock();
  return { machine: new StateMachine(spec, { clock }), clock };
}

/** Fires events one after the other. */
export function fire(machine: StateMachine, ...events: readonly string[]): void {
  for (const event of events) machine.processEvent(event);
}
