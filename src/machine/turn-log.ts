import { nodePathOf } from '../base/address.js';
import type { ChannelWrite } from '../engine/ports/executor.js';
import type { Keeper, ToldStep } from '../engine/reporter.js';
import type { Listener } from '../events/event.js';
import {
  stateOf,
  type LogEntry,
  type LoggedTransition,
  type MachineSetup,
  type Standing,
} from '../notations/machine/plan/standing.js';
import { tableOf } from './pure/state-table.js';
import type { TransitionResult } from './pure/machine.js';
import type { PackMessage, TurnEvent, WorkflowEvent } from './turn-types.js';
import type { ErrorData } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';

/** A message as the conversation stores it. */
export type KeptMessage = Omit<PackMessage, 'current_workflow_state'> & { readonly state: string };

/** Collects what happens in a turn from the writes of its steps, so that a replay yields the same. */
export class TurnLog implements Keeper {
  /** Messages and events of the machine, in order. */
  readonly kept: Exclude<TurnEvent, { readonly type: 'text' }>[] = [];
  readonly transitions: TransitionResult[] = [];
  /** Where the machine stands after the steps so far. */
  position: Standing | undefined = undefined;
  private readonly states: ReadonlyMap<string, string>;
  /** Messages of supervised states that are not accepted yet, by path. */
  private readonly held = new Map<string, TurnEvent[]>();

  constructor(
    private readonly setup: MachineSetup,
    private readonly tell: (event: TurnEvent) => void,
  ) {
    const { speaks, enters } = setup.nodes;
    this.states = new Map([...speaks, ...enters].map(([state, node]) => [node, state]));
  }

  get events(): WorkflowEvent[] {
    return this.kept.filter((one) => one.type !== 'message');
  }

  get messages(): PackMessage[] {
    return this.kept.flatMap((one) => (one.type === 'message' ? [one.message] : []));
  }

  started(): void {
    // The writes of a step contain everything.
  }

  succeeded(_at: number, _again: boolean, { owner }: ToldStep, output: unknown): void {
    // The states report through their writes; the node before them returns an update.
    if (owner.parent === '' && typeof output === 'object' && output !== null)
      this.takeAll(Object.entries(output).map(([channel, value]) => ({ channel, value: value as unknown })));
  }

  wrote({ owner }: ToldStep, writes: readonly ChannelWrite[]): void {
    if (owner.parent === '') this.takeAll(writes);
  }

  readonly told: Listener = (event) => {
    if (event.type !== 'step.note') return;
    const { note } = event;
    const state = this.states.get(nodePathOf(event.path));
    if (state === undefined) return;
    if (note.kind === 'model.delta') this.speak(event.path, { type: 'text', state, text: note.text });
    else if (note.kind === 'supervision.commit' || note.kind === 'supervision.corrected') this.held.set(event.path, []);
    else if (note.kind === 'supervision.accepted') this.accept(event.path);
  };

  /** Holds back the messages of a supervised state until they are accepted. */
  private speak(path: string, said: TurnEvent): void {
    const held = this.held.get(path);
    if (held === undefined) this.tell(said);
    else held.push(said);
  }

  private accept(path: string): void {
    const held = this.held.get(path) ?? [];
    this.held.delete(path);
    for (const said of held) this.tell(said);
  }

  keep(event: Exclude<TurnEvent, { readonly type: 'text' }>): void {
    this.kept.push(event);
    this.tell(event);
  }

  /** Messages come before the events that they caused, and those of a transient state before the one that it leaves to the next. */
  private takeAll(writes: readonly ChannelWrite[]): void {
    const of = (name: string): unknown[] =>
      writes.flatMap(({ channel, value }) => (channel === name && value !== undefined ? [value] : []));
    for (const said of [...of('aside'), ...of('conversation')])
      for (const message of said as readonly KeptMessage[])
        this.keep({ type: 'message', message: stamped(this.setup, message) });
    const [position] = of('position');
    if (position !== undefined) this.position = position as Standing;
    for (const entries of of('log'))
      for (const entry of entries as readonly LogEntry[]) if ('to' in entry) this.transition(entry);
  }

  private transition(entry: LoggedTransition): void {
    const { timestamp: _at, tool_calls: _calls, alive_ms: _alive, ...result } = entry;
    const { from: from_state, to: to_state, event, host_extras, original_target } = result;
    this.transitions.push(result);
    const { spec } = this.setup;
    if (original_target !== undefined)
      this.keep({
        type: 'workflow.max_visits_exceeded',
        from_state,
        original_target,
        event,
        visit_count: this.position?.machine.visit_counts?.[original_target] ?? 0,
        max_visits: stateOf(this.setup, original_target).max_visits ?? 0,
        redirected_to: to_state,
        terminated: false,
      });
    const prompt_task = stateOf(this.setup, to_state).prompt_task ?? '';
    const extras = host_extras === undefined ? {} : { host_extras };
    this.keep({ type: 'workflow.transitioned', from_state, to_state, event, prompt_task, ...extras });
    if (tableOf(spec).states.get(to_state)?.isTerminal === true)
      this.keep({ type: 'workflow.completed', final_state: to_state, transition_count: transitionsOf(this.position) });
  }
}

export function transitionsOf(position: Standing | undefined): number {
  return Number(position?.machine.metadata?.['skein.transitions'] ?? 0);
}

export function stamped(setup: MachineSetup, { state, ...message }: KeptMessage): PackMessage {
  const { description } = stateOf(setup, state);
  const terminal = tableOf(setup.spec).states.get(state)?.isTerminal === true && !setup.endless;
  return {
    ...message,
    current_workflow_state: { current_state: state, ...(description === undefined ? {} : { description }), terminal },
  };
}

/** Returns the machine's event if a limit ended the turn; undefined for other endings. */
export function endingEvent({ code, details }: ErrorData, position: Standing | undefined): WorkflowEvent | undefined {
  if (!isPlainObject(details)) return undefined;
  const text = (key: string): string => {
    const value = details[key];
    return typeof value === 'string' ? value : '';
  };
  if (code === 'SKEIN_BUDGET')
    return {
      type: 'workflow.budget_exhausted',
      limit: text('limit'),
      current: Number(details['current']),
      max: Number(details['max']),
      current_state: text('state'),
      transition_count: transitionsOf(position),
    };
  if (code !== 'SKEIN_STATE_VISITS') return undefined;
  return {
    type: 'workflow.max_visits_exceeded',
    from_state: position?.machine.current_state ?? '',
    original_target: text('original_target'),
    event: text('event'),
    visit_count: Number(details['visit_count']),
    max_visits: Number(details['max_visits']),
    redirected_to: '',
    terminated: true,
  };
}
