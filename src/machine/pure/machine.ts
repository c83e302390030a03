import type { Clock } from '../../base/clock.js';
import { systemClock } from '../../base/clock.js';
import { SkeinError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import { didYouMean } from '../../base/suggest.js';
import type { ArtifactLimits } from './artifacts.js';
import type { Context } from './context-data.js';
import { MachineContext } from './context.js';
import {
  BudgetExhaustedError,
  InvalidEventError,
  MaxVisitsExceededError,
  TerminalStateError,
  quoted,
} from './errors.js';
import { specOf } from './read-spec.js';
import type { Budget, Spec } from './spec.js';
import type { StateRow, StateTable } from './state-table.js';
import { tableOf } from './state-table.js';

/**
 * What a machine is made with in addition to its spec: the clock that tells the time, and bounds of artifacts in bytes.
 *
 * @example
 * const options = { clock: { now: () => 0 }, maxArtifactBytes: 64 * 1024 } satisfies MachineOptions;
 */
export interface MachineOptions extends ArtifactLimits {
  /** Default: the clock of the host. A fake one makes tests repeatable. */
  readonly clock?: Pick<Clock, 'now'>;
}

/**
 * What came of an event. A redirect is a transition like others: `to` is where it led, `original_target` what the event named.
 *
 * @example
 * const result = machine.processEvent('Submit');
 * if (result.redirected) console.log(result.redirect_reason); // max_visits (3) reached for "draft"
 */
export interface TransitionResult {
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly redirected?: true;
  readonly redirect_reason?: string;
  readonly original_target?: string;
  /** What the caller of the transition tool gave in addition; no model sees it. */
  readonly host_extras?: JsonObject;
}

/**
 * A state machine without any model: it says which events there are, takes one, and keeps count. It is synchronous, and an error changes
 * nothing.
 *
 * @example
 * const machine = new StateMachine({
 *   version: 2,
 *   entry: 'draft',
 *   states: { draft: { prompt_task: 'draft', on_event: { Submit: 'done' } }, done: { prompt_task: 'done', terminal: true } },
 * });
 * machine.processEvent('Submit'); // { from: 'draft', to: 'done', event: 'Submit' }
 * machine.isTerminal; // true
 */
export class StateMachine {
  /** A frozen copy of what the machine was made with. */
  readonly spec: Spec;
  private readonly table: StateTable;
  private readonly clock: Pick<Clock, 'now'>;
  private readonly kept: MachineContext;
  /** Until when the time that the machine was alive is counted, in milliseconds since 1970. */
  private countedUntil: number;

  /**
   * @param account what it continues from; absent: at the entry
   * @throws SkeinError `SKEIN_DEFINITION` when the form of the spec is wrong, `SKEIN_USAGE` for a wrong option
   */
  constructor(spec: Spec, options: MachineOptions = {}, account?: MachineContext) {
    this.spec = specOf(spec);
    this.table = tableOf(this.spec);
    this.clock = options.clock ?? systemClock;
    this.countedUntil = this.clock.now();
    this.kept = account ?? new MachineContext(this.spec.entry, this.countedUntil, options);
  }

  /**
   * A machine that continues from a context, of which it takes a copy.
   *
   * @throws SkeinError `SKEIN_CONTEXT` when it is not one, or stands in a state that the spec does not have
   * @example
   * const machine = StateMachine.restore(spec, JSON.parse(text));
   */
  static restore(spec: Spec, context: Context, options: MachineOptions = {}): StateMachine {
    return StateMachine.continued(spec, MachineContext.from(context, options), options);
  }

  /**
   * A machine that continues an account, which is its own from now on.
   *
   * @throws SkeinError `SKEIN_CONTEXT` when the account stands in a state that the spec does not have
   */
  static continued(spec: Spec, account: MachineContext, options: MachineOptions = {}): StateMachine {
    const machine = new StateMachine(spec, options, account);
    const { currentState, table } = machine;
    if (table.states.has(currentState)) return machine;
    throw new SkeinError('SKEIN_CONTEXT', `the context stands in state ${quoted(currentState)}, not found in spec`, {
      hint: didYouMean(currentState, table.states.keys()) ?? 'is it the context of another pack?',
      details: { state: currentState },
    });
  }

  get currentState(): string {
    return this.kept.current_state;
  }

  /** Name of the prompt of the current state; empty when it has none. */
  get currentPromptTask(): string {
    return this.row?.state.prompt_task ?? '';
  }

  /** Whether the current state takes no events. */
  get isTerminal(): boolean {
    return this.row?.isTerminal ?? true;
  }

  /** All transitions, those that the history no longer keeps too. */
  get transitionCount(): number {
    return this.kept.transitionCount();
  }

  /** Events of the current state, sorted; none when it is terminal. Some may lead to states that are full: {@link preview} tells. */
  availableEvents(): string[] {
    return this.isTerminal ? [] : [...(this.row?.events ?? [])];
  }

  /**
   * Takes an event. The checks come in this order: budget, current state, terminal, event, visits of the target.
   *
   * @throws BudgetExhaustedError, InvalidEventError, TerminalStateError, MaxVisitsExceededError; the machine stays as it was
   */
  processEvent(event: string): TransitionResult {
    const result = this.preview(event);
    this.kept.recordTransition(result.from, result.to, event, this.clock.now());
    return result;
  }

  /**
   * What {@link processEvent} would give now. Changes nothing.
   *
   * @throws what `processEvent` throws
   */
  preview(event: string): TransitionResult {
    const exhausted = this.exhaustedBudget();
    if (exhausted !== undefined) throw exhausted;
    const { row, currentState: from } = this;
    if (row === undefined) throw notFound(from, event, from);
    if (row.isTerminal) throw new TerminalStateError(from);
    const target = row.targets.get(event);
    if (target === undefined) {
      const reason = `event ${quoted(event)} not defined for state ${quoted(from)} (available: [${row.events.join(' ')}])`;
      throw new InvalidEventError(reason, event, from, row.events);
    }
    const { to, full, end } = this.wayFrom(target);
    if (end === 'unknown') throw notFound(to, event, from);
    if (end !== 'open') throw this.visitsExceeded(target, to, full, end);
    if (full.length === 0) return { from, to, event };
    return { from, to, event, redirected: true, redirect_reason: this.reasonOf(full), original_target: target };
  }

  /**
   * The first bound of the budget that is reached, in the order total visits, tool calls, wall time; undefined when none is. It keeps
   * transitions from happening; who drives a machine asks before each call of a model or a tool too.
   */
  exhaustedBudget(): BudgetExhaustedError | undefined {
    for (const [limit, max] of this.table.budget) {
      const current = this.used(limit);
      if (current >= max) return new BudgetExhaustedError(limit, current, max, this.currentState);
    }
    return undefined;
  }

  /**
   * Sets an artifact. Whether it is replaced or added to says the current state, else the first state that declares it.
   *
   * @throws SkeinError `SKEIN_ARTIFACT` without a name, and beyond the bounds of bytes; nothing changes then
   */
  setArtifact(name: string, value: string): void {
    const mode = this.row?.modes.get(name) ?? this.table.modes.get(name);
    this.kept.setArtifact(name, value, mode);
  }

  /** The current artifacts by name: a copy. */
  artifacts(): Record<string, string> {
    return this.kept.artifacts();
  }

  /** Counts calls of tools that were carried out, those of the machine's own tools too. */
  countToolCalls(n: number): void {
    this.kept.incrementToolCalls(n);
  }

  /** All that is known of the machine, as data: a copy, to be kept and given to {@link StateMachine.restore}. */
  context(): Context {
    this.countTime();
    return this.kept.toJSON();
  }

  /** What is known of the machine without what grows: histories, whose totals are in the metadata, and artifacts. */
  account(): Context {
    this.countTime();
    return this.kept.account();
  }

  private get row(): StateRow | undefined {
    return this.table.states.get(this.currentState);
  }

  private isFull(state: string, { maxVisits }: StateRow): boolean {
    return this.kept.visitsOf(state) >= maxVisits;
  }

  /** Follows redirects from a state, as long as states are full. */
  private wayFrom(target: string): Way {
    const full = new Set<string>();
    for (let to = target; ;) {
      const row = this.table.states.get(to);
      if (row === undefined) return { to, full: [...full], end: 'unknown' };
      if (!this.isFull(to, row)) return { to, full: [...full], end: 'open' };
      if (full.has(to)) return { to, full: [...full], end: 'loop' };
      full.add(to);
      const { on_max_visits: next = '' } = row.state;
      if (next === '') return { to, full: [...full], end: 'full' };
      to = next;
    }
  }

  private reasonOf(full: readonly string[]): string {
    const reasons = full.map((state) => `max_visits (${this.maxVisitsOf(state)}) reached for ${quoted(state)}`);
    return reasons.join(', ');
  }

  private visitsExceeded(target: string, state: string, full: readonly string[], end: Way['end']): SkeinError {
    const { events = [], targets } = this.row ?? {};
    return new MaxVisitsExceededError({
      state,
      visit_count: this.kept.visitsOf(state),
      max_visits: this.maxVisitsOf(state),
      original_target: target,
      redirects: end === 'loop' ? [...full.slice(full.indexOf(state)), state] : [],
      working_events: events.filter((event) => this.wayFrom(targets?.get(event) ?? '').end === 'open'),
    });
  }

  private maxVisitsOf(state: string): number {
    return this.table.states.get(state)?.maxVisits ?? 0;
  }

  private used(limit: keyof Budget): number {
    switch (limit) {
      case 'max_total_visits':
        return this.kept.totalVisits();
      case 'max_tool_calls':
        return this.kept.totalToolCalls();
      case 'max_wall_time_sec':
        this.countTime();
        return Math.floor(this.kept.aliveMs() / 1_000);
    }
  }

  /** Adds the time since it was last added. A clock that is set back adds nothing. */
  private countTime(): void {
    const now = this.clock.now();
    this.kept.addAliveMs(Math.max(0, now - this.countedUntil));
    this.countedUntil = now;
  }
}

/** Where an event leads: `full` are the states passed on the way, `end` what the last one is. */
interface Way {
  readonly to: string;
  readonly full: readonly string[];
  readonly end: 'open' | 'full' | 'loop' | 'unknown';
}

function notFound(missing: string, event: string, state: string): InvalidEventError {
  return new InvalidEventError(`state ${quoted(missing)} not found in spec`, event, state);
}
