import { systemClock } from '../base/clock.js';
import type { ErrorData, SkeinError } from '../base/errors.js';
import { readRun } from '../journal/overview.js';
import type { Store } from '../journal/store.js';
import { BEGIN } from '../notations/machine/plan/machine-plan.js';
import { machineAt, stateOf, type MachineSetup, type Standing } from '../notations/machine/plan/standing.js';
import type { KeptState } from './kept-state.js';
import { TerminalStateError, machineError } from './pure/errors.js';
import { StateMachine } from './pure/machine.js';
import type { Budget, Spec } from './pure/spec.js';
import type { Context } from './pure/context-data.js';
import { sortedEvents, tableOf } from './pure/state-table.js';

export interface Stand {
  readonly state: string;
  /** Events of the state, sorted; none if it is terminal. */
  readonly events: readonly string[];
  readonly complete: boolean;
  /** How often the state was entered, and how often it may be. */
  readonly visits: number;
  readonly maxVisits?: number;
  /** Limits of the whole machine, and how much of each is used. */
  readonly budget: readonly { readonly limit: keyof Budget; readonly current: number; readonly max: number }[];
}

/** Returns the position of a conversation; before its first turn, where it begins. */
export function standOf(setup: MachineSetup, position: Standing | undefined, start: Context | undefined): Stand {
  const { spec, endless } = setup;
  const context: Partial<Context> = position?.machine ?? start ?? {};
  const { current_state: state = spec.entry, visit_counts = { [state]: 1 } } = context;
  const isEnd = tableOf(spec).states.get(state)?.isTerminal === true;
  const { on_event, max_visits = 0 } = stateOf(setup, state);
  return {
    state,
    events: isEnd ? [] : sortedEvents(on_event),
    complete: isEnd && !endless && position?.spoken === true,
    visits: Object.hasOwn(visit_counts, state) ? (visit_counts[state] ?? 0) : 0,
    ...(max_visits === 0 ? {} : { maxVisits: max_visits }),
    budget: budgetOf(spec, { ...context, visit_counts }),
  };
}

function budgetOf(
  { engine }: Spec,
  { visit_counts = {}, total_tool_calls = 0, metadata }: Partial<Context>,
): Stand['budget'] {
  const alive = Number(metadata?.['skein.alive_ms'] ?? 0);
  const used = {
    max_total_visits: Object.values(visit_counts).reduce((sum, count) => sum + count, 0),
    max_tool_calls: total_tool_calls,
    max_wall_time_sec: Math.floor(alive / 1_000),
  } satisfies Record<keyof Budget, number>;
  const bounds = engine?.budget ?? {};
  return (Object.keys(used) as (keyof Budget)[]).flatMap((limit) => {
    const max = bounds[limit] ?? 0;
    return max === 0 ? [] : [{ limit, current: used[limit], max }];
  });
}

/**
 * Throws at once if the machine would refuse the turn, so that nothing runs for it.
 *
 * @throws SkeinError `SKEIN_TERMINAL_STATE`, `SKEIN_CONTEXT`, `SKEIN_INVALID_EVENT`, `SKEIN_STATE_VISITS`, `SKEIN_BUDGET`
 */
export function checkTurn(
  setup: MachineSetup,
  kept: Pick<KeptState, 'position' | 'artifacts'> | undefined,
  { start, event }: { readonly start: Context | undefined; readonly event: string | undefined },
): void {
  const { position, artifacts } = kept ?? {};
  const clock = systemClock;
  const { complete, state } = standOf(setup, position, start);
  if (complete) throw new TerminalStateError(state, true);
  // A state that the pack no longer has refuses messages too.
  const machine = position === undefined ? undefined : machineAt(setup, position, artifacts, clock);
  if (event === undefined) return;
  if (machine !== undefined) machine.processEvent(event);
  else if (start !== undefined) StateMachine.restore(setup.spec, start, { clock }).processEvent(event);
  else new StateMachine(setup.spec, { clock }).processEvent(event);
}

interface Ended {
  readonly error?: ErrorData | undefined;
  readonly steps: readonly { readonly path: string; readonly outcome?: string }[];
}

/** Returns why the machine refused a turn that was begun; undefined if it did not. */
export function refusalOf({ error, steps }: Ended): SkeinError | undefined {
  const isRefused = steps.some(({ path, outcome }) => path === BEGIN && outcome === 'failed');
  return error === undefined || !isRefused ? undefined : machineError(error);
}

/** Whether the machine refused the last turn of a conversation, and so would refuse it again. */
export function wasRefused(store: Store, kept: Pick<KeptState, 'failedRun'> | undefined): boolean {
  const { failedRun } = kept ?? {};
  return failedRun !== undefined && refusalOf(readRun(store, failedRun)) !== undefined;
}
