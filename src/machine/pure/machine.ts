import { systemClock, type Clock } from '../../base/clock.js';
import { SkeinError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json.js';
import { checkMethod, checkOptions, type OptionForms } from '../../base/options.js';
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
import { tableOf, type StateRow, type StateTable } from './state-table.js';

/**
 * Options of a machine, without its spec: its clock, and limits of artifacts in bytes.
 *
 * @example
 * const options = { clock: { now: () => 0 }, maxArtifactBytes: 64 * 1024 } satisfies MachineOptions;
 */
export interface MachineOptions extends ArtifactLimits {
  /** Default: the host's clock. A fake clock makes tests repeatable. */
  readonly clock?: Pick<Clock, 'now'>;
}

const OPTIONS: OptionForms<MachineOptions> = {
  clock: 'an object',
  maxArtifactBytes: 'a number',
  maxAllArtifactBytes: 'a number',
};

/**
 * The result of an event. A redirect is an ordinary transition: `to` is where it led, `original_target` the target that the event named.
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
  /** Additional data from the caller of the transition tool; no model sees it. */
  readonly host_extras?: JsonObject;
}

/**
 * A state machine without any model: it lists its events, processes one at a time, and keeps count. It is synchronous, and an error changes
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
  /** A frozen copy of the machine's spec. */
  readonly spec: Spec;
  private readonly table: StateTable;
  private readonly clock: Pick<Clock, 'now'>;
  private readonly kept: MachineContext;
  /** The time up to which the machine's lifetime is counted, in milliseconds since 1970. */
  private countedUntil: number;

  /**
   * @param account the account to continue; absent: start at the entry
   * @throws SkeinError `SKEIN_DEFINITION` if the form of the spec is wrong, `SKEIN_USAGE` for an invalid option
   */
  constructor(spec: Spec, options: MachineOptions = {}, account?: MachineContext) {
    checkOptions<MachineOptions>('a machine', options, OPTIONS);
    checkMethod('clock', options.clock, 'now', 'a clock');
    this.spec = specOf(spec);
    this.table = tableOf(this.spec);
    this.clock = options.clock ?? systemClock;
    this.countedUntil = this.clock.now();
    this.kept = account ?? new MachineContext(this.spec.entry, this.countedUntil, options);
  }

  /**
   * Makes a machine that continues from a copy of a context.
   *
   * @throws SkeinError `SKEIN_CONTEXT` if it is not a context, or if the spec does not have its state
   * @example
   * const machine = StateMachine.restore(spec, JSON.parse(text));
   */
  static restore(spec: Spec, context: Context, options: MachineOptions = {}): StateMachine {
    return StateMachine.continued(spec, MachineContext.from(context, options), options);
  }

  /**
   * Makes a machine that continues an account and takes ownership of it.
   *
   * @throws SkeinError `SKEIN_CONTEXT` if the spec does not have the account's state
   */
  static continued(spec: Spec, account: MachineContext, options: MachineOptions = {}): StateMachine {
    const machine = new StateMachine(spec, options, account);
    const { currentState, table } = machine;
    if (table.states.has(currentState)) return machine;
    throw new SkeinError('SKEIN_CONTEXT', `the context stands in state ${quoted(currentState)}, not found in spec`, {
      hint:
        didYouMean(currentState, table.states.keys()) ??
        `is it the context of another pack, or has the state another name now? its states: ${[...table.states.keys()].slice(0, 10).join(', ')}`,
      details: { state: currentState },
    });
  }

  get currentState(): string {
    return this.kept.current_state;
  }

  /** Name of the current state's prompt; empty if it has none. */
  get currentPromptTask(): string {
    return this.row?.state.prompt_task ?? '';
  }

  /** Whether the current state accepts no events. */
  get isTerminal(): boolean {
    return this.row?.isTerminal ?? true;
  }

  /** Number of all transitions, including those dropped from the history. */
  get transitionCount(): number {
    return this.kept.transitionCount();
  }

  /** Returns the events of the current state, sorted; none if it is terminal. Some may lead to full states: {@link preview} tells. */
  availableEvents(): string[] {
    return this.isTerminal ? [] : [...(this.row?.events ?? [])];
  }

  /**
   * Processes an event. Checks, in this order: budget, current state, terminal, event, visits of the target.
   *
   * @throws BudgetExhaustedError, InvalidEventError, TerminalStateError, MaxVisitsExceededError; the machine stays as it was
   */
  processEvent(event: string): TransitionResult {
    const result = this.preview(event);
    this.kept.recordTransition(result.from, result.to, event, this.clock.now());
    return result;
  }

  /**
   * Returns what {@link processEvent} would return. Changes nothing.
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
   * Returns the first budget limit reached, in the order total visits, tool calls, wall time; undefined if none is. It blocks transitions;
   * a driver of the machine also checks it before each model or tool call.
   */
  exhaustedBudget(): BudgetExhaustedError | undefined {
    for (const [limit, max] of this.table.budget) {
      const current = this.used(limit);
      if (current >= max) return new BudgetExhaustedError(limit, current, max, this.currentState);
    }
    return undefined;
  }

  /**
   * Sets an artifact. The current state decides whether the value is replaced or appended, else the first state that declares the artifact.
   *
   * @throws SkeinError `SKEIN_ARTIFACT` without a name, or beyond the byte limits; nothing changes then
   */
  setArtifact(name: string, value: string): void {
    const mode = this.row?.modes.get(name) ?? this.table.modes.get(name);
    this.kept.setArtifact(name, value, mode);
  }

  /** Returns a copy of the current artifacts by name. */
  artifacts(): Record<string, string> {
    return this.kept.artifacts();
  }

  /** Counts completed tool calls, including those of the machine's own tools. */
  countToolCalls(n: number): void {
    this.kept.incrementToolCalls(n);
  }

  /** Returns the machine's whole context as a copy, to keep and pass to {@link StateMachine.restore}. */
  context(): Context {
    this.countTime();
    return this.kept.toJSON();
  }

  /** Returns the context without its growing parts: histories, whose totals are in the metadata, and artifacts. */
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

  /** Follows redirects from a state as long as states are full. */
  private wayFrom(target: string): Way {
    const first = this.table.states.get(target);
    if (first !== undefined && !this.isFull(target, first)) return { to: target, full: [], end: 'open' };
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

  /** Adds the time since the last call. A clock that is set back adds nothing. */
  private countTime(): void {
    const now = this.clock.now();
    this.kept.addAliveMs(Math.max(0, now - this.countedUntil));
    this.countedUntil = now;
  }
}

/** Where an event leads: `full` are the states passed on the way, `end` describes the last one. */
interface Way {
  readonly to: string;
  readonly full: readonly string[];
  readonly end: 'open' | 'full' | 'loop' | 'unknown';
}

function notFound(missing: string, event: string, state: string): InvalidEventError {
  return new InvalidEventError(`state ${quoted(missing)} not found in spec`, event, state);
}
