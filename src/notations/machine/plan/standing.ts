import { writtenTime } from '../../../base/clock.js';
import { ownValue, type JsonObject } from '../../../base/json.js';
import type { ArtifactLimits } from '../../../machine/pure/artifacts.js';
import { divided, type Context, type StateTransition } from '../../../machine/pure/context-data.js';
import { MachineContext } from '../../../machine/pure/context.js';
import { tableOf } from '../../../machine/pure/state-table.js';
import { StateMachine, type TransitionResult } from '../../../machine/pure/machine.js';
import type { Spec, State } from '../../../machine/pure/spec.js';

/** What all nodes of a machine's plan share. */
export interface MachineSetup {
  readonly spec: Spec;
  /** True for a prompt without a workflow, which never ends. */
  readonly endless: boolean;
  readonly nodes: StateNodes;
  /** Names of artifacts that templates may show. */
  readonly artifacts: readonly string[];
  readonly limits: ArtifactLimits;
  /** Maximum transitions in one turn that models may fire. */
  readonly maxHandOvers: number;
  /** Whether an outside event passes the latest messages to the next state. */
  readonly carryForward: boolean;
}

/** A machine's position between two steps: all it needs to continue, whatever came before. The channel `position`. */
export interface Standing {
  /** The machine's context without its growing parts, histories and artifacts. Its totals are in the metadata. */
  readonly machine: Context;
  /** True if the current state has spoken since it was entered. */
  readonly spoken: boolean;
  /** True if anything has been said in the conversation. */
  readonly open: boolean;
  /** True if the message of this turn is in the conversation, or need not be. */
  readonly kept: boolean;
  /** Transitions of this turn that models fired. */
  readonly handOvers: number;
  /** True if a model requested an event when no event of its state worked. */
  readonly stuck: boolean;
  /** The start of a turn that runs a composition, in milliseconds since 1970. */
  readonly at?: number;
}

/** What a machine did, in order: the channel `log`. The first entry is its initial context. */
export type LogEntry =
  | { readonly began: Context }
  | { readonly set: string; readonly value: string; readonly append?: true }
  | LoggedTransition;

/** A transition, with the account at that time. */
export interface LoggedTransition extends StateTransition, TransitionResult {
  readonly tool_calls: number;
  readonly alive_ms: number;
}

/** The state that nodes of the plan see. */
export interface MachineState {
  readonly message?: string | null;
  readonly event?: string | null;
  readonly context?: string | null;
  readonly data?: JsonObject | null;
  readonly start?: Context | null;
  readonly position?: Standing;
  readonly workflow_context?: string;
  readonly artifacts?: Readonly<Record<string, string>>;
  /** Messages of the current state, if it is transient. */
  readonly aside?: readonly object[];
  readonly conversation?: readonly { readonly role: string; readonly text?: string; readonly state?: string }[];
}

/** Creates a machine that continues from a position. */
export function machineAt(
  { spec, limits }: MachineSetup,
  { machine }: Pick<Standing, 'machine'>,
  artifacts: MachineState['artifacts'],
  clock: { now(): number },
): StateMachine {
  // Declared artifacts that were never set hold the empty text.
  const set = Object.fromEntries(Object.entries(artifacts ?? {}).filter(([, value]) => value !== ''));
  // The account comes from a machine of Skein, so it is not checked.
  const account = MachineContext.of({ data: machine, ...divided(machine.metadata ?? {}) }, limits, set);
  return StateMachine.continued(spec, account, { clock, ...limits });
}

/** Returns a transition as it is logged. `account` is that of the machine after it. */
export function logged(result: TransitionResult, account: Context): LoggedTransition {
  const { updated_at, total_tool_calls = 0, metadata = {} } = account;
  // Node 20 adds keys to the copy of a spread ten times slower.
  return Object.assign({}, result, {
    timestamp: updated_at,
    tool_calls: total_tool_calls,
    alive_ms: Number(metadata['skein.alive_ms'] ?? 0),
  });
}

/** Returns a state by its name, which may be any text. */
export function stateOf({ spec }: Pick<MachineSetup, 'spec'>, name: string): State {
  return (ownValue(spec.states, name) as State | undefined) ?? {};
}

/** Whether messages in a state are dropped when the machine leaves it. */
export function isTransient(setup: Pick<MachineSetup, 'spec'>, name: string): boolean {
  return stateOf(setup, name).persistence === 'transient';
}

export function isOver(
  { spec, endless }: Pick<MachineSetup, 'spec' | 'endless'>,
  position: Standing | undefined,
): boolean {
  if (position === undefined || endless || !position.spoken) return false;
  return tableOf(spec).states.get(position.machine.current_state)?.isTerminal === true;
}

const NO_LIMITS = { maxArtifactBytes: Number.POSITIVE_INFINITY, maxAllArtifactBytes: Number.POSITIVE_INFINITY };

/**
 * Returns the whole context of a machine, in PromptKit's form: the initial context, and everything since.
 *
 * @param stored if true and the machine is in a transient state, returns the context as of the last persistent one
 */
export function contextOf(
  setup: Pick<MachineSetup, 'spec'>,
  log: readonly LogEntry[],
  standing: Standing,
  stored = false,
): Context {
  const isBack = stored && isTransient(setup, standing.machine.current_state);
  const { account, last } = folded(setup, isBack ? storedPart(setup, log) : log);
  const context = account.toJSON();
  const { total_tool_calls, metadata } = isBack ? context : standing.machine;
  const calls = last !== undefined && isBack ? last.tool_calls : (total_tool_calls ?? 0);
  const alive = last !== undefined && isBack ? last.alive_ms : (metadata?.['skein.alive_ms'] ?? 0);
  return {
    ...context,
    ...(calls === 0 ? {} : { total_tool_calls: calls }),
    ...(alive === 0 ? {} : { metadata: { ...context.metadata, 'skein.alive_ms': alive } }),
  };
}

/** Replays a log. Returns the account and the last transition. */
function folded({ spec }: Pick<MachineSetup, 'spec'>, log: readonly LogEntry[]) {
  let account = new MachineContext(spec.entry, 0, NO_LIMITS);
  let last: LoggedTransition | undefined;
  for (const entry of log) {
    if ('began' in entry) account = MachineContext.from(entry.began, NO_LIMITS);
    else if ('set' in entry) account.setArtifact(entry.set, entry.value, entry.append === true ? 'append' : 'replace');
    else {
      const { from, to, event, timestamp } = entry;
      account.recordTransition(from, to, event, writtenTime(timestamp) ?? 0);
      last = entry;
    }
  }
  return { account, last };
}

/** Returns the log up to the machine's last persistent state. */
function storedPart(setup: Pick<MachineSetup, 'spec'>, log: readonly LogEntry[]): readonly LogEntry[] {
  const isLeft = (entry: LogEntry | undefined): boolean =>
    entry !== undefined && 'to' in entry && isTransient(setup, entry.to);
  const entered = log.findLastIndex((entry) => 'to' in entry || 'began' in entry);
  if (!isLeft(log[entered])) return log;
  const stays = log.findLastIndex((entry) => ('to' in entry || 'began' in entry) && !isLeft(entry));
  const next = log.findIndex((entry, at) => at > stays && 'to' in entry);
  return log.slice(0, next);
}

/** Characters of a state's name kept in the id of its node. A name may contain any others. */
const PLAIN = /[A-Za-z0-9_-]/;

/** Longer names are cut in the id, which is limited to 200 characters. */
const LONGEST = 150;

/** The ids of the nodes of states. A transient state is entered by its own node, which sees no earlier messages. */
export interface StateNodes {
  readonly speaks: ReadonlyMap<string, string>;
  readonly enters: ReadonlyMap<string, string>;
  /** The nodes after compositions. */
  readonly ends: ReadonlyMap<string, string>;
}

/** Returns ids for all states of a spec, whatever their names: `review` is `state.review`, `a/b` is `state.a.2f.b`. */
export function stateNodes(spec: Spec): StateNodes {
  const ids = Object.keys(spec.states).map((state, at) => [state, idOf(state, at)] as const);
  const named = (kind: string): Map<string, string> => new Map(ids.map(([state, id]) => [state, `${kind}.${id}`]));
  return { speaks: named('state'), enters: named('fresh'), ends: named('said') };
}

function idOf(state: string, at: number): string {
  const parts = Array.from({ length: state.length }, (_, index) => {
    const one = state.charAt(index);
    return PLAIN.test(one) ? one : `.${state.charCodeAt(index).toString(16)}.`;
  });
  const id = parts.join('');
  return id.length <= LONGEST ? id : `${id.slice(0, LONGEST)}.n${at}`;
}
