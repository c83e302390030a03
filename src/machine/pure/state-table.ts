import { BUDGET_KEYS } from './read-spec.js';
import type { Budget, Spec, State } from './spec.js';

type Mode = 'replace' | 'append';

/** A state in the form in which the machine looks it up. */
export interface StateRow {
  readonly state: State;
  /** Names of its events, sorted. */
  readonly events: readonly string[];
  readonly targets: ReadonlyMap<string, string>;
  readonly isTerminal: boolean;
  /** The mode of each artifact that the state declares. */
  readonly modes: ReadonlyMap<string, Mode>;
  /** How often the state may be entered. */
  readonly maxVisits: number;
}

/** What a machine looks up in a spec. Maps are used so that names of states never reach the host's object properties. */
export interface StateTable {
  readonly states: ReadonlyMap<string, StateRow>;
  /** The limits that are set, in the order in which they are checked. */
  readonly budget: readonly (readonly [limit: keyof Budget, max: number])[];
  /** The mode of each declared artifact, by the first state that declares it. */
  readonly modes: ReadonlyMap<string, Mode>;
}

/** Tables of specs that were read, which are frozen. */
const TABLES = new WeakMap<Spec, StateTable>();

/** @param spec a frozen spec, as {@link readSpec} returns it */
export function tableOf(spec: Spec): StateTable {
  const known = TABLES.get(spec);
  if (known !== undefined) return known;
  const states = new Map(Object.entries(spec.states).map(([name, state]) => [name, rowOf(state)]));
  const modes = new Map([...states.values()].toReversed().flatMap((row) => [...row.modes]));
  const table = {
    states,
    budget: BUDGET_KEYS.map((limit) => [limit, boundOf(spec.engine?.budget?.[limit])] as const).filter(
      ([, max]) => max !== Number.POSITIVE_INFINITY,
    ),
    modes,
  };
  TABLES.set(spec, table);
  return table;
}

function rowOf(state: State): StateRow {
  const events = sortedEvents(state.on_event);
  return {
    state,
    events,
    targets: new Map(Object.entries(state.on_event ?? {})),
    modes: new Map(Object.entries(state.artifacts ?? {}).map(([name, { mode = 'replace' }]) => [name, mode])),
    isTerminal: state.terminal === true || events.length === 0,
    maxVisits: boundOf(state.max_visits),
  };
}

/** Returns a limit to compare with: 0 and absent mean no limit. */
function boundOf(most: number | undefined): number {
  return most === undefined || most === 0 ? Number.POSITIVE_INFINITY : most;
}

/**
 * Returns the event names of a state, sorted.
 *
 * @example
 * sortedEvents({ Submit: 'review', Abort: 'done' }); // ['Abort', 'Submit']
 */
export function sortedEvents(onEvent: Readonly<Record<string, string>> | undefined): string[] {
  return Object.keys(onEvent ?? {}).toSorted();
}
