import { systemClock } from '../../../base/clock.js';
import type { SkeinError } from '../../../base/errors.js';
import type { Context } from '../../../machine/pure/context-data.js';
import { MaxVisitsExceededError, TerminalStateError } from '../../../machine/pure/errors.js';
import { StateMachine, type TransitionResult } from '../../../machine/pure/machine.js';
import type { StateOf } from '../../../plan/builder-input.js';
import { goto, type Goto } from '../../../plan/goto.js';
import { END } from '../../../plan/plan.js';
import {
  isTransient,
  logged,
  machineAt,
  stateOf,
  type LogEntry,
  type MachineSetup,
  type MachineState,
  type Standing,
} from './standing.js';

/** The user message for providers that require one if nobody has said anything. */
const GO_ON = 'Continue.';

/** Returns the function of the node that begins a turn. It throws for a refused turn, so that the turn does not count. */
export function beginOf(setup: MachineSetup): (state: StateOf) => Goto {
  return (state) => new Beginning(setup, state).go();
}

class Beginning {
  private readonly machine: StateMachine;
  private readonly before: Standing;
  private readonly log: LogEntry[] = [];
  private readonly moved: TransitionResult | undefined;

  constructor(
    private readonly setup: MachineSetup,
    private readonly state: MachineState,
  ) {
    const { position, artifacts } = state;
    this.before = position ?? this.newStanding();
    this.machine = machineAt(
      setup,
      this.before,
      position === undefined ? this.before.machine.artifacts : artifacts,
      systemClock,
    );
    this.checkOpen();
    this.moved = this.takeEvent();
  }

  /** @throws SkeinError for a turn that the machine refuses */
  go(): Goto {
    const { setup, machine, moved, before } = this;
    const { isEntered } = this;
    const { message = null } = this.state;
    const { currentState } = machine;
    const isComposed = stateOf(setup, currentState).orchestration === 'composition';
    const isAside = isTransient(setup, currentState);
    const speaks = message !== null || machine.isTerminal;
    const text = message ?? (speaks && (isAside || !before.open) ? GO_ON : null);
    const said = text === null ? [] : [{ role: 'user', text, state: currentState }];
    const isKept = said.length > 0 && !isAside;
    const update: Record<string, unknown> = { ...this.accounted(isKept), said: '', message: text };
    if (moved !== undefined) update['workflow_context'] = this.contextFor(moved);
    if (isKept) update['conversation'] = said;
    // On entry, a transient state gets the message as the prompt of its node.
    if (isEntered) update['aside'] = undefined;
    else if (isAside) update['aside'] = said;
    return goto(speaks ? this.nodeOf(currentState, isAside && isEntered && !isComposed) : END, update);
  }

  /** Whether the current state begins now. A bound may have ended a transient state before it spoke: what it heard is in `aside`. */
  private get isEntered(): boolean {
    const { aside = [] } = this.state;
    return this.moved !== undefined || (!this.before.spoken && aside.length === 0);
  }

  /** Returns the position of the machine, and what it did. */
  private accounted(isKept: boolean): Record<string, unknown> {
    const { setup, machine, moved, before, log } = this;
    const { message = null, artifacts = before.machine.artifacts ?? {} } = this.state;
    const account = machine.account();
    if (moved !== undefined) log.push(logged(this.withData(moved), account));
    const position: Standing = {
      machine: account,
      spoken: moved === undefined && before.spoken,
      open: before.open || isKept,
      kept: isKept || message === null,
      handOvers: 0,
      stuck: false,
      ...(stateOf(setup, machine.currentState).orchestration === 'composition' ? { at: systemClock.now() } : {}),
    };
    const known = this.state.artifacts ?? {};
    const names = [...setup.artifacts, ...Object.keys(artifacts)].filter((name) => !Object.hasOwn(known, name));
    const missing = names.map((name) => [name, Object.hasOwn(artifacts, name) ? artifacts[name] : ''] as const);
    return {
      position,
      ...(log.length === 0 ? {} : { log }),
      ...(missing.length === 0 ? {} : { artifacts: Object.fromEntries(missing) }),
    };
  }

  private newStanding(): Standing {
    const { spec, limits } = this.setup;
    const clock = systemClock;
    const { start = null } = this.state;
    const machine =
      start === null
        ? new StateMachine(spec, { ...limits, clock })
        : StateMachine.restore(spec, start, { ...limits, clock });
    const began = machine.context();
    this.log.push({ began });
    const account: Context = {
      ...machine.account(),
      ...(began.artifacts === undefined ? {} : { artifacts: began.artifacts }),
    };
    return { machine: account, spoken: false, open: false, kept: false, handOvers: 0, stuck: false };
  }

  /** Refuses a turn of a machine that has ended. */
  private checkOpen(): void {
    const { machine, before, setup } = this;
    if (machine.isTerminal && before.spoken && !setup.endless) throw new TerminalStateError(machine.currentState, true);
    const exhausted = machine.exhaustedBudget() ?? (before.stuck ? noWayOut(machine) : undefined);
    if (exhausted !== undefined) throw exhausted;
  }

  private takeEvent(): TransitionResult | undefined {
    const { event = null } = this.state;
    return event === null ? undefined : this.machine.processEvent(event);
  }

  private withData(moved: TransitionResult): TransitionResult {
    const { data = null } = this.state;
    return data === null ? moved : { ...moved, host_extras: data };
  }

  private contextFor({ from }: TransitionResult): string {
    const { context = null, conversation = [] } = this.setup.carryForward
      ? this.state
      : { context: this.state.context };
    if (context !== null) return context;
    return this.setup.carryForward ? carriedForward(from, conversation) : '';
  }

  private nodeOf(state: string, isFresh: boolean): string {
    const { enters, speaks } = this.setup.nodes;
    return (isFresh ? enters : speaks).get(state) ?? END;
  }
}

/** Returns why no event of the state works. Undefined if one does. */
function noWayOut(machine: StateMachine): SkeinError | undefined {
  let why: SkeinError | undefined;
  for (const event of machine.availableEvents()) {
    try {
      machine.preview(event);
      return undefined;
    } catch (error) {
      if (error instanceof MaxVisitsExceededError) why ??= error;
    }
  }
  return why;
}

/** The number of last messages carried forward, and the maximum characters of each. */
const MOST_MESSAGES = 10;
const LONGEST_LINE = 200;

/** Returns a summary of the previous state's conversation for the next state. Empty if nothing was said. */
export function carriedForward(state: string, conversation: NonNullable<MachineState['conversation']>): string {
  const said = conversation.filter((message) => message.state === state);
  const lines = said.slice(-MOST_MESSAGES).flatMap(({ role, text = '' }) => {
    if (text === '') return [];
    return [`${role}: ${text.length > LONGEST_LINE ? `${cut(text)}...` : text}`];
  });
  if (said.length === 0) return '';
  return [`[Previous state: ${state}, ${said.length} messages]`, ...lines].join('\n');
}

/** Cuts a text without leaving half of a surrogate pair. */
function cut(text: string): string {
  return text.slice(0, LONGEST_LINE).replace(/[\uD800-\uDBFF]$/, '');
}
