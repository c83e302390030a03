import { after, isThenable } from '../base/at-once.js';
import { present } from '../base/json.js';
import { SkeinError } from '../base/errors.js';
import type { StepIo } from '../engine/ports/durable.js';
import type { StepContext } from '../engine/ports/executor.js';
import type { Phase } from '../events/supervision.js';
import type { PriceTable } from '../budget/prices.js';
import type { AgentSpec } from '../plan/agent-spec.js';
import { functionTools, type ToolRunOptions } from './function-tools.js';
import type { AnswerFields } from './loop/answer-fields.js';
import { specsDigest } from './loop/identities.js';
import type { Model, ModelSource, ReplayedCall, ToolSpec } from './model.js';
import { surroundingsOf, type Surroundings } from './system-prompt.js';
import { NO_TOOLS, type StepTool, type Tool, type ToolSession, type ToolSource, type ToolProvider } from './tool.js';
import type { Transcript } from './transcript.js';
import { takes } from '../plan/built-in-tools.js';
import { builtInOf } from '../plan/tool-names.js';

/** The record of an opened session: all that a replay needs, so that it opens nothing. */
export interface Opened {
  readonly models: readonly OpenedModel[];
  readonly tools: readonly OpenedTool[];
  readonly toolsDigest: string;
  /** Absent if the agent does not depend on them. */
  readonly surroundings?: Surroundings;
  /** Set if its commands may run files that an earlier run wrote under untrusted influence. */
  readonly planted?: true;
}

export interface OpenedModel {
  readonly id: string;
  readonly structuredOutput: boolean;
}

export interface OpenedTool extends Pick<Tool, 'name' | 'effect' | 'trust' | 'origin' | 'code' | 'pretended'> {
  /** A person must allow each call, or with `code` those that the tool chooses. */
  readonly approve?: true | 'code';
  /** Set if it finds out what became of an interrupted call. */
  readonly probes?: true;
}

/** Open models and tools, for effects that actually run. */
export interface OpenParts {
  model(recorded: OpenedModel): Model;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly specs: readonly ToolSpec[];
  other(name: string): Promise<Model>;
}

/** Signals to an effect that its step is cancelled. The signal is costly, and created at the first access. */
export type Cancelled = Pick<StepIo, 'signal'>;

/** One execution of an agent node, as seen by its loop, its model calls and its tool calls. */
export interface AgentStep {
  readonly step: StepContext;
  readonly spec: AgentSpec;
  /** The caller's name in questions; absent: the agent by its name. */
  readonly who?: string | undefined;
  /** Set if a judge of the step calls the model: its text is not streamed to listeners like the step's own. */
  readonly phase?: Phase | undefined;
  /** Name of the effect of a phase's call. Defaults to the phase. */
  readonly callName?: string | undefined;
  /** Timeout of a call. Absent if calls have none. */
  readonly timeoutMs?: number | undefined;
  readonly fields?: AnswerFields | undefined;
  readonly opened: Opened;
  readonly stepTools: readonly StepTool[];
  /** The messages so far; receives those that the step adds. */
  readonly transcript: Transcript;
  /** Returns the open parts; called by effects that actually run. */
  readonly use: (effect: Cancelled) => OpenParts | Promise<OpenParts>;
  readonly prices?: PriceTable | undefined;
  /** Called for model calls that are answered from the record. */
  readonly replayed: (call: ReplayedCall) => void;
}

export interface SessionOptions {
  readonly models: ModelSource;
  readonly tools: ToolProvider;
  readonly spec: AgentSpec;
  readonly step: StepContext;
  /** Passed to tools that start runs of their own. */
  readonly runOptions?: ToolRunOptions | undefined;
  /** Set if the step calls a tool directly: there is no model. */
  readonly isAlone?: true;
}

export interface AgentSession {
  /** Opens everything and returns what is to be recorded. */
  open(effect: Cancelled): Opened | Promise<Opened>;
  /** Returns the open parts, and opens them first if a replay has opened nothing. A difference to the record is a warning. */
  use(effect: Cancelled, recorded: Opened): OpenParts | Promise<OpenParts>;
  /** Safe at any time, also while opening; happens once. Undefined if there is nothing to close. */
  close(): Promise<void> | undefined;
}

interface Live {
  readonly models: readonly Model[];
  readonly tools: readonly Tool[];
}

/** Creates the resources of one step. Each effect's signal closes them too if necessary: a cancelled step may never be woken again. */
export function agentSession(options: SessionOptions): AgentSession {
  let source: ToolSource | undefined;
  let live: Live | Promise<Live> | undefined;
  let closing: Promise<void> | undefined;
  let isClosed = false;
  let compared = false;
  let isWatched = false;
  const watched = new WeakSet<AbortSignal>();

  function close(): Promise<void> | undefined {
    isClosed = true;
    if (source !== undefined && source !== NO_TOOLS) closing ??= source.close().catch(() => undefined);
    return closing;
  }
  function watch({ signal }: Cancelled): void {
    if (watched.has(signal)) return;
    watched.add(signal);
    if (signal.aborted) void close();
    else signal.addEventListener('abort', () => void close(), { once: true });
  }
  function load(effect: Cancelled): Live | Promise<Live> {
    const { spec, step } = options;
    return after(options.models.resolve(spec, { path: step.path, agent: spec.name }), (models) => {
      const opening = options.tools.open(spec, toolSession(options, effect));
      isWatched = opening !== NO_TOOLS;
      if (isWatched) watch(effect);
      return after(opening, (opened) => (isClosed ? tooLate(opened) : take(models, opened)));
    });
  }
  function take(models: readonly Model[], opened: ToolSource): Live {
    const { spec, step } = options;
    source = opened;
    const tools = distinct([...functionTools(spec, step, options), ...opened.tools]);
    return { models, tools: tools.map((tool) => gated(tool, spec)) };
  }
  function ensure(effect: Cancelled): Live | Promise<Live> {
    if (isWatched) watch(effect);
    const opening = (live ??= load(effect));
    // After a failure, a later effect may try to open it again.
    if (!isThenable(opening)) return opening;
    return opening.catch((error: unknown) => {
      if (live === opening) live = undefined;
      throw error;
    });
  }
  return {
    close,
    open(effect) {
      compared = true;
      return after(ensure(effect), recordOf);
    },
    use(effect, recorded) {
      return after(ensure(effect), (parts) => {
        if (!compared) warnChanges(options, recorded, recordOf(parts));
        compared = true;
        return openParts(parts, recorded, (name) => otherModel(options, name));
      });
    },
  };
}

function toolSession({ step, spec, isAlone }: SessionOptions, effect: Cancelled): ToolSession {
  return {
    runId: step.runId,
    path: step.path,
    agent: spec.name,
    isAlone: isAlone === true,
    get signal() {
      return effect.signal;
    },
    warn: (code, message) => step.note({ kind: 'warning', code, message }),
  };
}

async function tooLate(opened: ToolSource): Promise<never> {
  await opened.close();
  throw new SkeinError('SKEIN_CANCELLED', 'the step ended while its tools were being opened');
}

/** Providers reject two tools of one name: the first stays. */
function distinct(tools: readonly Tool[]): readonly Tool[] {
  return [...new Map(tools.toReversed().map((tool) => [tool.name, tool])).values()].toReversed();
}

/** Adds `approve` by the name that the model sees; providers mark tools that they know by other names. */
function gated(tool: Tool, spec: AgentSpec): Tool {
  const approve = spec.approve?.some((name) => name === '*' || name.trim() === tool.name) === true;
  return approve ? { ...tool, execute: (input, io) => tool.execute(input, io), approve: true } : tool;
}

function recordOf({ models, tools }: Live): Opened {
  return {
    models: models.map(({ id, structuredOutput }) => ({ id, structuredOutput: structuredOutput === true })),
    tools: tools.map(({ name, effect, trust, approve, origin, code, pretended, probe }) =>
      present({ name, effect, trust, approve, origin, code, pretended, probes: probe && (true as const) }),
    ),
    toolsDigest: specsDigest(tools),
  };
}

/** Whether a tool is as recorded. The recorded labels cover only recorded tools, so the model does not see a new one. */
function isAsRecorded({ name, origin }: Tool, recorded: Opened): boolean {
  if (origin?.pin === undefined) return true;
  const before = recorded.tools.find((one) => one.name === name)?.origin;
  return before !== undefined && (before.pin === undefined || before.pin === origin.pin);
}

async function otherModel({ spec, step, models }: SessionOptions, name: string): Promise<Model> {
  const [model] = await models.resolve({ ...spec, models: [name] }, { path: step.path, agent: spec.name });
  if (model !== undefined) return model;
  throw new SkeinError('SKEIN_NO_MODEL', `there is no model ${name}`);
}

function openParts({ models, tools: all }: Live, recorded: Opened, other: OpenParts['other']): OpenParts {
  const tools = all.filter((tool) => isAsRecorded(tool, recorded));
  return {
    other,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    specs: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    model(asked) {
      const place = recorded.models.findIndex((one) => one.id === asked.id);
      const found = models.find((one) => one.id === asked.id) ?? models[place] ?? models[0];
      if (found !== undefined) return found;
      throw new SkeinError('SKEIN_NO_MODEL', `${asked.id} no longer exists`);
    },
  };
}

function warnChanges({ spec, step }: SessionOptions, before: Opened, now: Opened): void {
  const was = modelNames(before);
  const is = modelNames(now);
  if (was !== is) {
    const message = `agent ${spec.name}: the step began with the models ${was}; from here on it uses ${is}`;
    step.note({ kind: 'warning', code: 'models-changed', message });
  }
  if (before.toolsDigest !== now.toolsDigest) {
    const message = `agent ${spec.name}: its tools have changed since the step began; those of servers that changed are left out, of others the current ones are used`;
    step.note({ kind: 'warning', code: 'tools-changed', message });
  }
}

function modelNames({ models }: Opened): string {
  return models.map((model) => model.id).join(', ');
}

export function runsCommands({ name, origin, code }: OpenedTool): boolean {
  const builtIn = origin === undefined && code === undefined ? builtInOf(name) : undefined;
  return builtIn !== undefined && takes(builtIn, 'command');
}

/** Opens a session with what an agent or a step depends on beside it: its surroundings, and files that an earlier run wrote. */
export function openAround(
  { session, spec, step, cwd = process.cwd(), files }: SessionPlace,
  effect: Cancelled,
): Opened | Promise<Opened> {
  return after(session.open(effect), (opened) => {
    const surroundings = surroundingsOf(spec, step.now(), cwd);
    // Recorded, because on a replay the writes of other runs must not change a decision.
    const planted = opened.tools.some(runsCommands) && files?.planted() === true;
    return { ...opened, ...(planted ? { planted } : {}), ...present({ surroundings }) };
  });
}

interface SessionPlace {
  readonly session: AgentSession;
  readonly spec: AgentSpec;
  readonly step: StepContext;
  readonly cwd?: string | undefined;
  readonly files?: { planted(): boolean } | undefined;
}
