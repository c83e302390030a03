import { isoTime } from '../../../base/clock.js';
import { SkeinError } from '../../../base/errors.js';
import { present, type JsonObject } from '../../../base/json.js';
import { madeOnce } from '../../../base/collections.js';
import type { Context } from '../../../machine/pure/context-data.js';
import { MaxVisitsExceededError } from '../../../machine/pure/errors.js';
import type { StateMachine, TransitionResult } from '../../../machine/pure/machine.js';
import { PendingTransitions, setArtifactCall } from '../../../machine/pure/pending.js';
import { TRANSITION_TOOL, toolsOf, type MachineTool } from '../../../machine/pure/tools.js';
import type { Guide, GuideCounts, GuideEnd, GuideOf, GuideStep, GuideTool, GuideVerdict } from '../../../plan/guide.js';
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

/** Creates the guide of a state's agent. The machine is rebuilt from the state the step sees, so a replay has the same result. */
export function guideOf(setup: MachineSetup): GuideOf {
  const tools = new Map<string, readonly MachineTool[]>();
  return (step) => {
    // Only these keys are read, so that growing lists need not be assembled.
    const { position, artifacts, message, workflow_context: context } = step.state as MachineState;
    if (position === undefined) throw new TypeError('a state speaks after the node that begins a turn');
    const machine = machineAt(setup, position, artifacts, workingClock(step));
    const declared = madeOnce(tools, machine.currentState, () => toolsOf(machine));
    return new StateGuide({ setup, declared, seen: { position, message, context } }, machine, step);
  };
}

/** A clock that stops while people are asked, or no process has the run. */
function workingClock(step: GuideStep): { now(): number } {
  const start = step.now() - step.worked();
  return { now: () => start + step.worked() };
}

/** The state that a step sees. */
interface Seen {
  readonly position: Standing;
  readonly message: MachineState['message'];
  readonly context: MachineState['workflow_context'];
}

interface Guided {
  readonly setup: MachineSetup;
  readonly seen: Seen;
  readonly declared: readonly MachineTool[];
}

class StateGuide implements Guide {
  readonly tools: readonly GuideTool[];
  private readonly pending: PendingTransitions;
  private readonly log: LogEntry[] = [];
  private readonly artifacts = new Map<string, string>();
  /** Tool calls of this step that the machine has already counted. */
  private counted = 0;
  private moved: TransitionResult | undefined = undefined;
  private movedBy = '';
  /** The reason why no event of the state works. */
  private stuck: SkeinError | undefined = undefined;
  /** Whether a bound ended the step, before the state had said what it had to say. */
  private isCut = false;

  private readonly setup: MachineSetup;
  private readonly seen: Seen;

  constructor(
    { setup, seen, declared }: Guided,
    private readonly machine: StateMachine,
    private readonly step: Pick<GuideStep, 'now'>,
  ) {
    this.setup = setup;
    this.seen = seen;
    this.pending = new PendingTransitions(machine);
    this.tools = declared.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
      run: (input) => JSON.stringify(name === TRANSITION_TOOL ? this.transition(input) : this.artifact(input)),
    }));
  }

  before({ toolCalls }: GuideCounts): SkeinError | undefined {
    this.count(toolCalls);
    const bound = this.stuck ?? this.machine.exhaustedBudget() ?? this.tooManyHandOvers();
    this.isCut = bound !== undefined;
    return bound;
  }

  isOver(): boolean {
    const noted = this.pending.pending;
    if (noted === null) return this.moved !== undefined;
    try {
      const result = this.pending.commit();
      if (result === null) return false;
      this.moved = result;
      this.movedBy = noted.context;
      return true;
    } catch (error) {
      // The budget was reached during the calls of this round.
      this.stuck = SkeinError.isInstance(error) ? error : undefined;
      if (this.stuck === undefined) throw error;
      return false;
    }
  }

  end({ toolCalls }: GuideEnd): GuideVerdict {
    this.count(toolCalls);
    const { moved } = this;
    const account = this.machine.account();
    const writes: Record<string, unknown> = {};
    if (this.artifacts.size > 0) writes['artifacts'] = Object.fromEntries(this.artifacts);
    if (this.log.length > 0) writes['log'] = this.log;
    if (moved === undefined) return { writes: { ...writes, position: this.standing(account) } };
    // The machine's clock stopped while people were asked.
    const now = { ...account, updated_at: isoTime(this.step.now()) };
    writes['log'] = [...this.log, logged(moved, now)];
    if (this.movedBy !== this.seen.context) writes['workflow_context'] = this.movedBy;
    const kept = this.keptMessage(moved);
    if (isTransient(this.setup, moved.from)) writes['aside'] = undefined;
    if (kept.length > 0) writes['conversation'] = kept;
    writes['position'] = this.standing(now, kept.length > 0);
    return present({ goto: nextAfter(this.setup, moved.to), writes });
  }

  private standing(machine: Context, isKept = false): Standing {
    const { moved, stuck } = this;
    const { position } = this.seen;
    return {
      machine,
      spoken: moved === undefined && !this.isCut,
      kept: position.kept || isKept,
      open: position.open || isKept,
      handOvers: position.handOvers + (moved === undefined ? 0 : 1),
      stuck: stuck?.code === 'SKEIN_STATE_VISITS',
    };
  }

  /** Returns the message of this turn if only a transient state received it, so that the next state can answer it. */
  private keptMessage({ from, to }: TransitionResult): readonly object[] {
    const { position, message } = this.seen;
    const isDropped = isTransient(this.setup, from) && !isTransient(this.setup, to) && !position.kept;
    return isDropped ? [{ role: 'user', text: message ?? '', state: to }] : [];
  }

  private transition(input: JsonObject): unknown {
    try {
      return this.pending.execute(input);
    } catch (error) {
      if (error instanceof MaxVisitsExceededError && error.working_events.length === 0)
        this.stuck = asked(error, input['event'] as string);
      throw error;
    }
  }

  private artifact(input: JsonObject): unknown {
    const before = this.machine.artifacts();
    const result = setArtifactCall(this.machine, input);
    const { artifact: name } = result;
    const value = this.machine.artifacts()[name] ?? '';
    this.artifacts.set(name, value);
    // A value that is not a text was refused.
    const added = input['value'] as string;
    const isAppended = Object.hasOwn(before, name) && value !== added;
    this.log.push({ set: name, value: added, ...(isAppended ? { append: true as const } : {}) });
    return result;
  }

  private count(toolCalls: number): void {
    this.machine.countToolCalls(toolCalls - this.counted);
    this.counted = toolCalls;
  }

  private tooManyHandOvers(): SkeinError | undefined {
    const { handOvers } = this.seen.position;
    const { maxHandOvers } = this.setup;
    if (handOvers <= maxHandOvers) return undefined;
    return new SkeinError('SKEIN_BUDGET', `a turn may have ${maxHandOvers} hand-overs, and this one had one more`, {
      hint: 'give the pack bounds: max_visits of its states, or engine.budget; or raise maxHandOvers',
      details: { limit: 'maxHandOvers', current: handOvers, max: maxHandOvers, state: this.machine.currentState },
    });
  }
}

function asked({ code, message, hint, details }: MaxVisitsExceededError, event: string): SkeinError {
  return new SkeinError(code, message, { ...present({ hint }), details: { ...(details as JsonObject), event } });
}

/** Returns the node that continues in a state a model entered. Undefined if the turn ends. */
function nextAfter(setup: MachineSetup, state: string): string | undefined {
  const { orchestration } = stateOf(setup, state);
  if (orchestration === 'external' || orchestration === 'composition') return undefined;
  const { enters, speaks } = setup.nodes;
  return (isTransient(setup, state) ? enters : speaks).get(state);
}
