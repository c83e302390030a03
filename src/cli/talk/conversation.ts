import { resolve } from 'node:path';
import { SkeinError, type ErrorData } from '../../base/errors.js';
import { present, type JsonObject } from '../../base/json.js';
import type { Store } from '../../journal/store.js';
import type { WorkflowResult } from '../../index.js';
import type { RunOutcome } from '../../events/census.js';
import type { Spending } from '../../events/spending.js';
import type { OpenQuestion } from '../../events/question.js';
import {
  KeptState,
  checkTurn,
  completeVariables,
  markedInputs,
  refusalOf,
  sharedModels,
  standOf,
  variablesFromTexts,
  wasRefused,
  type Context,
  type LoadedMachine,
  type LogEntry,
  type SharedModels,
  type Stand,
} from '../../talking.js';
import type { ModuleWorkflow } from '../modules/load-module.js';
import { needsYes } from '../run/needs-yes.js';
import { followRun, runOptions } from '../run/execute-run.js';
import { keptIn, type Recording } from '../run/recording.js';
import { nameOf } from '../run/report-end.js';
import type { CommonFlags } from '../run/run-flags.js';
import type { ThreadFlags } from '../run/thread-options.js';
import { RunLog } from '../view/run-log.js';

type Kept = KeptState | undefined;
type Values = Readonly<Record<string, unknown>>;

export interface ConversationParts {
  readonly flags: CommonFlags & ThreadFlags & { readonly store: boolean };
  /** What the user is told of the inputs when the first turn starts. */
  readonly told: readonly string[];
  readonly file: string;
  readonly cwd: string;
  readonly workflow: ModuleWorkflow;
  readonly machine: LoadedMachine;
  readonly thread: string;
  /** Values of variables given on this command line. */
  readonly variables: Values;
  /** The start of a new conversation. Undefined for the entry state. */
  readonly start: Context | undefined;
  /** The common part of the recorded runs. `store` is absent until the first turn creates it. */
  readonly recording: Pick<Recording, 'store' | 'open' | 'origin'>;
}

export interface TurnInputs {
  readonly message?: string | undefined;
  readonly event?: string | undefined;
  readonly context?: string | undefined;
  readonly data?: JsonObject | undefined;
}

export interface TurnEnd {
  readonly runId: string;
  readonly outcome: RunOutcome;
  /** The text of the state that spoke last. */
  readonly text: string;
  /** The texts of earlier states, in order. */
  readonly before: readonly { readonly state: string; readonly text: string }[];
  readonly transitions: readonly Extract<LogEntry, { readonly to: string }>[];
  readonly stand: Stand;
  readonly questions: readonly OpenQuestion[];
  readonly error: ErrorData | undefined;
  readonly spent: Spending;
}

interface Said {
  readonly role: string;
  readonly text?: string;
  readonly state: string;
}

/** The parts of a turn's state that are reported. */
interface Left {
  readonly position?: KeptState['position'];
  readonly log?: readonly LogEntry[];
  readonly conversation?: readonly Said[];
  readonly said?: unknown;
}

type Nullable<T> = { readonly [K in keyof T]: T[K] | null };

/** A conversation with a pack: each turn is a run, reported as runs are. */
export class Conversation {
  private store: Store | undefined;
  private told: readonly string[];
  private models: SharedModels | undefined = undefined;

  /** Whether no turn counted before this command. */
  readonly isNew: boolean;

  constructor(private readonly parts: ConversationParts) {
    this.store = parts.recording.store;
    this.told = parts.told;
    this.isNew = this.kept()?.position === undefined;
  }

  get thread(): string {
    return this.parts.thread;
  }

  /** Whether the next command finds the conversation again. */
  get isKept(): boolean {
    return keptIn(this.store) !== undefined && this.kept() !== undefined;
  }

  /** Whether a turn counted: what was given with it is kept. */
  get hasBegun(): boolean {
    return this.kept()?.position !== undefined;
  }

  /** The name of a run in commands. Undefined if they don't find it. */
  nameOf(runId: string): string | undefined {
    return nameOf(this.store, runId);
  }

  /** Whether the next command needs `--trust`: a command without the flag would have been refused, if it is needed. */
  async needsYes(): Promise<boolean> {
    const { flags, file, cwd } = this.parts;
    return flags.trust === true && (await needsYes({ file: resolve(file), cwd, flags }));
  }

  get stand(): Stand {
    const { machine, start } = this.parts;
    return standOf(machine.setup, this.kept()?.position, start);
  }

  /** @throws SkeinError what keeps the turn from starting */
  async turn(given: TurnInputs): Promise<TurnEnd> {
    const { machine, start, flags, workflow, cwd } = this.parts;
    const before = this.kept();
    // Where a turn leads that has not ended is not known yet: the machine then refuses the turn after it.
    if (before?.isOpen !== true) checkTurn(machine.setup, before, { start, event: given.event });
    if (workflow.plan === undefined) throw new SkeinError('SKEIN_DEFINITION', 'the pack has no plan');
    const recording: Recording = {
      ...this.parts.recording,
      ...present({ store: this.store }),
      thread: this.threadOptions(before),
    };
    const inputs = this.inputs(given, before);
    const named = (mark: 'untrusted' | 'private'): readonly string[] =>
      markedInputs(machine.pack, { names: flags[mark] ?? [], mark, variables: this.parts.variables });
    const marked = { ...toldAs(flags), untrusted: named('untrusted'), private: named('private') };
    const { told } = this;
    const execution = { flags: marked, told, cwd, workflow, inputs, log: new RunLog(workflow.plan), recording };
    this.told = [];
    this.models ??= sharedModels(runOptions(execution));
    let from = before;
    const { result } = await followRun({
      ...execution,
      models: this.models.models,
      // Another turn may have come first: this one begins where that one has ended.
      listener: ({ type }) => {
        if (type === 'run.started' && recording.store !== undefined)
          from = KeptState.read(recording.store, this.parts.thread);
      },
    });
    this.store ??= recording.store;
    const refusal = refusalOf(result);
    if (refusal !== undefined) throw refusal;
    const { position } = (result.outcome === 'paused' ? result.state : {}) as Left;
    const stand = position === undefined ? this.stand : standOf(machine.setup, position, start);
    return { ...turnEnd(result, from), stand };
  }

  /**
   * @throws SkeinError `SKEIN_SCRIPT` for a script that a whole conversation has not used up, `SKEIN_FILE` for an unwritable recording
   */
  async close(): Promise<void> {
    const isWhole = this.isNew && this.parts.start === undefined && this.stand.complete;
    try {
      await this.models?.finish();
    } catch (error) {
      if (isWhole || !SkeinError.isInstance(error) || error.code !== 'SKEIN_SCRIPT') throw error;
    } finally {
      this.store?.close();
    }
  }

  private kept(): Kept {
    return this.store === undefined ? undefined : KeptState.read(this.store, this.parts.thread);
  }

  private threadOptions(before: Kept): NonNullable<Recording['thread']> {
    const { onBusy, onFailed } = this.parts.flags;
    const isRefused = onFailed === 'retry' && this.store !== undefined && wasRefused(this.store, before);
    return { id: this.parts.thread, ...present({ onBusy, onFailed: isRefused ? 'skip' : onFailed }) };
  }

  /** Absent inputs are passed as null: a thread would keep those of the turn before. */
  private inputs(
    { message = null, event = null, context = null, data = null }: Nullable<TurnInputs>,
    before: Kept,
  ): Values {
    const start = before?.position === undefined ? (this.parts.start ?? null) : null;
    return { message, event, context, data, start, variables: this.variables(before) };
  }

  /** The variables given now, over those of the turn before. */
  private variables(before: Kept): JsonObject {
    const { machine, variables } = this.parts;
    const { pack, setup } = machine;
    const from = setup.endless ? { prompt: setup.spec.entry } : { state: this.stand.state };
    const former = Object.entries(before?.variables ?? {}).filter(
      ([name, value]) => !name.includes('.') && value !== '',
    );
    const given = { ...Object.fromEntries(former), ...variablesFromTexts(pack, variables) };
    return completeVariables(pack, from, given);
  }
}

/** A conversation shows its answers, not the text of each agent. */
function toldAs(flags: CommonFlags): CommonFlags {
  const isShown = flags.verbose === true || flags.stream === true || process.stderr.isTTY;
  return { ...flags, exec: false, quiet: flags.quiet ?? !isShown };
}

/** The result of a turn: a failed turn leaves nothing, and a waiting one has no final text. */
function turnEnd(result: WorkflowResult, before: Kept): Omit<TurnEnd, 'stand'> {
  const { runId, outcome, state, questions, error, spent } = result;
  const counts = outcome !== 'failed' && outcome !== 'cancelled';
  const { log = [], conversation = [], said } = (counts ? state : {}) as Left;
  const text = outcome !== 'paused' && typeof said === 'string' ? said : '';
  const spoken = conversation
    .slice(before?.conversation.length ?? 0)
    .flatMap(({ role, text: words = '', state: where }) =>
      role === 'assistant' && words !== '' ? [{ state: where, text: words }] : [],
    );
  if (spoken.at(-1)?.text === text) spoken.pop();
  const transitions = log.slice(before?.log.length ?? 0).flatMap((entry) => ('to' in entry ? [entry] : []));
  return { runId, outcome, text, before: spoken, transitions, questions, error, spent };
}
