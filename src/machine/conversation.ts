import type { ModelRegistry } from '../agent/models/registry-options.js';
import { passTo } from '../base/at-once.js';
import { systemClock } from '../base/clock.js';
import { SkeinError } from '../base/errors.js';
import { systemIds } from '../base/ids.js';
import { dataAsGiven, present, type Json } from '../base/json.js';
import type { CompiledPlan } from '../engine/graph/compile.js';
import type { RunResult } from '../engine/run.js';
import { answerRun } from '../journal/answering.js';
import type { Store } from '../journal/store.js';
import { noThread } from '../journal/thread-overview.js';
import { checkThreadId } from '../journal/thread-rows.js';
import { namesOf } from '../notations/machine/pack-names.js';
import type { Pack } from '../notations/machine/pack.js';
import {
  contextOf,
  isOver,
  machineAt,
  stateOf,
  type MachineSetup,
  type Standing,
} from '../notations/machine/plan/standing.js';
import { completeVariables } from '../notations/machine/variables.js';
import { recordedIn } from '../runtime/backends/recorded.js';
import { launch, openModels } from '../runtime/launch.js';
import type { RunOptions } from '../runtime/options.js';
import type { ThreadOptions } from '../runtime/threads/open-turn.js';
import { endingEvent, TurnLog, stamped } from './turn-log.js';
import { KeptState } from './kept-state.js';
import { refusalOf, wasRefused } from './stand.js';
import {
  checkedMessage,
  checkTransition,
  checkTurnOptions,
  type TransitionExtras,
  type TurnOptions,
} from './transition-extras.js';
import type { Context } from './pure/context-data.js';
import { StateMachine } from './pure/machine.js';
import type { Orchestration } from './pure/spec.js';
import { beginTurn, type Turn } from './turn.js';
import type { PackMessage, TurnEvent, TurnResult } from './turn-types.js';

export interface ConversationParts {
  readonly pack: Pack;
  readonly compiled: CompiledPlan;
  readonly setup: MachineSetup;
  readonly runs: RunOptions & { readonly store: Store };
  /** Where a new machine begins; undefined for the entry. */
  readonly start: Context | undefined;
  /** Whether to continue a conversation that has already begun from where it stands, regardless of `start`. */
  readonly continues: boolean;
  readonly variables: Readonly<Record<string, Json>>;
  readonly thread: ThreadOptions | undefined;
}

type TurnInputs = TransitionExtras & { readonly event?: string };
type OfTurn = Pick<RunOptions, 'inputs' | 'thread' | 'runId' | 'resume'>;

/**
 * A conversation with a pack: a thread in which each message and each event is a turn. Made by `openPack`.
 *
 * @example
 * const conversation = await openPack(pack, { store, thread: 'customer-4711' });
 * const { text, state } = await conversation.send('My order is late.');
 * if (conversation.availableEvents.includes('Escalate')) await conversation.transition('Escalate');
 */
export class Conversation {
  private readonly named: { id: string; isNew: boolean };
  private readonly store: Store;
  private readonly listeners = new Set<(event: TurnEvent) => void>();
  private readonly running = new Set<Promise<unknown>>();
  private variables: Readonly<Record<string, Json>>;
  private models: ModelRegistry | undefined = undefined;
  private closed: Promise<void> | undefined = undefined;

  /**
   * @throws SkeinError `SKEIN_THREAD` for a conversation with another pack, `SKEIN_USAGE` if one that has begun is asked to begin elsewhere
   */
  constructor(private readonly parts: ConversationParts) {
    const { thread, runs, variables, start, continues } = parts;
    this.named = { id: thread?.id ?? systemIds.next(), isNew: thread === undefined };
    this.store = runs.store;
    this.variables = dataAsGiven(variables);
    const kept = this.keptOf(this.id);
    if (start === undefined || continues || kept?.position === undefined) return;
    throw new SkeinError('SKEIN_USAGE', `the conversation '${this.id}' has begun already`, {
      hint: 'leave out state and context, or begin another thread',
    });
  }

  /** The name of the thread: that of the option `thread`, or the id of the first run. */
  get id(): string {
    return this.named.id;
  }

  get currentState(): string {
    return this.machine.currentState;
  }

  /** Name of the current state's prompt; empty if it has none. */
  get currentPromptTask(): string {
    return this.machine.currentPromptTask;
  }

  /** Who fires the events of the current state. */
  get orchestration(): Orchestration {
    return stateOf(this.parts.setup, this.currentState).orchestration ?? 'internal';
  }

  /** Events of the current state, sorted. */
  get availableEvents(): readonly string[] {
    return this.machine.availableEvents();
  }

  /** True once a terminal state has spoken: the conversation accepts no further turn. */
  get isComplete(): boolean {
    return isOver(this.parts.setup, this.kept?.position);
  }

  /** All messages, in order. Messages of a transient state are dropped when it is left. */
  get messages(): readonly PackMessage[] {
    return (this.kept?.messages ?? []).map((message) => stamped(this.parts.setup, message));
  }

  /**
   * Returns where the machine is and what it did, in PromptKit's format.
   *
   * @param options `stored`: in a transient state, returns the context of the last persistent state
   */
  context({ stored = false }: { readonly stored?: boolean } = {}): Context {
    const { setup } = this.parts;
    const { kept } = this;
    if (kept?.position === undefined) return this.machine.context();
    return contextOf(setup, kept.log, kept.position, stored);
  }

  /** Sends a message. The current state answers, and after hand-overs the states that follow. */
  send(message: string, options: TurnOptions = {}): Turn {
    return this.turn(options, () => {
      checkTurnOptions(options);
      return { message: checkedMessage(message) };
    });
  }

  /** Fires an event of the current state from outside, regardless of the state's orchestration. */
  transition(event: string, extras: TransitionExtras = {}): Turn {
    return this.turn(extras, () => {
      checkTransition(event, extras);
      return { ...extras, event };
    });
  }

  /** Answers a question of the waiting turn and continues the turn. */
  answer(key: string, value: unknown, options: TurnOptions = {}): Turn {
    return this.continued(options, () => {
      const run = this.openRun() ?? this.stoppedRun();
      if (run === undefined)
        throw new SkeinError('SKEIN_ANSWER', `no turn of the conversation '${this.id}' waits for an answer`);
      answerRun(this.store, run, { key, value });
      return run;
    });
  }

  /**
   * Continues a conversation of the store, by default this one. Completes a turn that was interrupted, or whose answers have arrived, and
   * with `onFailed: 'retry'` one that failed or was cancelled; returns undefined if there is no such turn.
   *
   * @throws SkeinError `SKEIN_NO_THREAD`
   */
  async resume(id: string = this.id, options: TurnOptions = {}): Promise<TurnResult | undefined> {
    this.checkOpen();
    checkTurnOptions(options);
    checkThreadId(id);
    if (this.keptOf(id) === undefined) throw noThread(id);
    this.named.id = id;
    this.named.isNew = false;
    const run = this.openRun() ?? (this.onFailed === 'retry' ? this.kept?.failedRun : undefined);
    return run === undefined ? undefined : await this.continued(options, () => run);
  }

  /** Sets variables for the turns that begin afterwards. */
  setVariables(values: Readonly<Record<string, Json>>): void {
    this.variables = { ...this.variables, ...dataAsGiven(values) };
  }

  /** Calls a function for each event of later turns, until it fails, which affects no turn. Returns a function that stops this. */
  on(listener: (event: TurnEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Refuses further turns and waits for those in progress. The conversation stays in the store. */
  close(): Promise<void> {
    this.closed ??= Promise.allSettled(this.running).then(() => this.models?.finish());
    return this.closed;
  }

  /** The stored state of the conversation; undefined before its first turn. */
  private get kept(): KeptState | undefined {
    return KeptState.read(this.store, this.id);
  }

  /** @throws SkeinError `SKEIN_THREAD` for a conversation with another pack */
  private keptOf(id: string): KeptState | undefined {
    return KeptState.of(this.store, id, this.parts.compiled.plan);
  }

  /** The machine as it stands between turns. */
  private get machine(): StateMachine {
    const { kept } = this;
    const { setup, start } = this.parts;
    const { position } = kept ?? {};
    const options = { ...setup.limits, clock: systemClock };
    if (position !== undefined) return machineAt(setup, position, kept?.artifacts, systemClock);
    return start === undefined
      ? new StateMachine(setup.spec, options)
      : StateMachine.restore(setup.spec, start, options);
  }

  /** The run of an unfinished turn. A process that died as the turn began may have left none: then the next message passes over the turn. */
  private openRun(): string | undefined {
    const { record } = this.kept?.head ?? {};
    return record?.t === 'turn' ? this.store.run(record.run)?.id : undefined;
  }

  /** The run of a last turn that a budget stopped, which may ask how much more it may spend. */
  private stoppedRun(): string | undefined {
    const { record } = this.kept?.head ?? {};
    return record?.t === 'ended' && record.outcome === 'out_of_budget' ? record.run : undefined;
  }

  /** What the next turn does about a failed one. A turn that the machine refused is not tried again. */
  private get onFailed(): ThreadOptions['onFailed'] {
    const { onFailed } = this.parts.thread ?? {};
    return onFailed === 'retry' && wasRefused(this.store, this.kept) ? 'skip' : onFailed;
  }

  private turn(options: TurnOptions, given: () => TurnInputs): Turn {
    return this.begin(options, () => {
      const inputs = this.inputsOf(given());
      const { id, isNew } = this.named;
      // The first run has the name of the thread.
      this.named.isNew = false;
      const thread = { ...this.parts.thread, id, ...present({ onFailed: this.onFailed }) };
      return { inputs, thread, ...(isNew ? { runId: id } : {}) };
    });
  }

  private continued(options: TurnOptions, run: () => string): Turn {
    return this.begin(options, () => {
      checkTurnOptions(options);
      return { resume: run() };
    });
  }

  private begin(options: TurnOptions, optionsOf: () => OfTurn): Turn {
    const turn = beginTurn((tell) => {
      const log = new TurnLog(this.parts.setup, (event) => {
        tell(event);
        for (const listener of this.listeners) passTo(listener, event, () => this.listeners.delete(listener));
      });
      return { kept: log.kept, result: this.run(log, () => ({ ...optionsOf(), ...this.stoppedBy(options) })) };
    });
    this.running.add(turn);
    const ended = (): boolean => this.running.delete(turn);
    turn.then(ended, ended);
    return turn;
  }

  /** A turn is stopped by its own signal, and by that of the conversation. */
  private stoppedBy({ signal: own }: TurnOptions): Pick<RunOptions, 'signal'> {
    const { signal } = this.parts.runs;
    if (own === undefined) return {};
    return { signal: signal === undefined ? own : AbortSignal.any([own, signal]) };
  }

  private async run(log: TurnLog, optionsOf: () => OfTurn & Pick<RunOptions, 'signal'>): Promise<TurnResult> {
    this.checkOpen();
    const { compiled, runs } = this.parts;
    const options = { ...runs, ...optionsOf() };
    this.models ??= openModels(runs);
    const models = { ...this.models, finish: () => Promise.resolve() };
    return this.resultOf(
      await launch({ compiled, models, options, keeper: log, backend: recordedIn(this.store) }).result,
      log,
    );
  }

  private checkOpen(): void {
    if (this.closed !== undefined) throw new SkeinError('SKEIN_USAGE', 'workflow conversation is closed');
  }

  private inputsOf({ message, event, context, data }: TurnInputs): Record<string, unknown> {
    const { pack, setup, start } = this.parts;
    const { currentState } = this.machine;
    const from = setup.endless ? { prompt: setup.spec.entry } : { state: currentState };
    const { kept } = this;
    const given = { ...givenBefore(pack, kept?.variables ?? {}), ...this.variables };
    const variables = completeVariables(pack, from, given);
    const isNew = kept?.position === undefined;
    return {
      message: message ?? null,
      event: event ?? null,
      context: context ?? null,
      data: data ?? null,
      start: isNew ? (start ?? null) : null,
      variables,
    };
  }

  /** @throws SkeinError if the machine refuses the turn, which then does not count */
  private resultOf(ended: RunResult, log: TurnLog): TurnResult {
    const refusal = refusalOf(ended);
    if (refusal !== undefined) throw refusal;
    const { runId, outcome, state, error, questions, spent, saved } = ended;
    const counts = outcome !== 'failed' && outcome !== 'cancelled';
    const position = counts ? (state['position'] as Standing | undefined) : this.kept?.position;
    const ending = error === undefined || outcome !== 'out_of_budget' ? undefined : endingEvent(error, position);
    if (ending !== undefined) log.keep(ending);
    return {
      text: typeof state['said'] === 'string' ? state['said'] : '',
      state: position?.machine.current_state ?? this.currentState,
      complete: isOver(this.parts.setup, position),
      events: log.events,
      transitions: log.transitions,
      messages: log.messages,
      outcome,
      ...(error === undefined ? {} : { error }),
      spent,
      saved,
      pauses: questions,
      runId,
    };
  }
}

/** Values that earlier turns received. A variable with a default uses the pack's current value instead. */
function givenBefore(pack: Pack, values: Readonly<Record<string, Json>>): Record<string, Json> {
  const names = [...namesOf(pack).variables].flatMap(([name, declared]) =>
    [...declared.values()].some((one) => one.default !== undefined) ? [] : [name],
  );
  return Object.fromEntries(
    names.flatMap((name): [string, Json][] => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}
