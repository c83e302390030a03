import { SkeinError, toErrorData } from '../../base/errors.js';
import { modelCallName } from '../../base/address.js';
import { digestText } from '../../base/hash.js';
import { present } from '../../base/json.js';
import type { ModelSettings, StructuredOutput } from '../../plan/agent-spec.js';
import { MODEL_TRIES } from '../../plan/limits.js';
import type { StepIo } from '../../engine/ports/durable.js';
import type { Message, Model, ModelRequest, ModelTurn, ToolCall, ToolResult, ToolSpec } from '../model.js';
import type { AgentStep, OpenedModel } from '../session.js';
import { circumstances, specsDigest } from './identities.js';
import { takeTurn } from './model-turn.js';
import { outputInstructions, outputRequest } from './structured-output.js';

/** First delay between tries, in milliseconds; doubles, up to {@link LONGEST_DELAY_MS}. */
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
/** A provider that asks for a longer pause than this, in milliseconds, is not waited for. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Runs the `index`-th call of a back end with a loop of its own. */
type Dispatch = (call: ToolCall, io: StepIo, index: number) => Promise<ToolResult>;

/** What all turns of an agent have in common. */
interface Turns extends AgentStep {
  readonly dispatch: Dispatch;
  /** Digest of what an answer depends on, apart from model and conversation. */
  circumstances(): string;
  /** Warnings of this step that were told. */
  readonly told: Set<string>;
}

/** Makes a turn of an agent step: the answer to the conversation as it is now. */
export type ModelCaller = (turn: number) => Promise<ModelTurn>;

/** Errors after which the same model is not tried again, but the next of the list is. */
const NEXT_AT_ONCE: ReadonlySet<string> = new Set([
  'SKEIN_MODEL_UNAVAILABLE',
  'SKEIN_MODEL_UNKNOWN',
  'SKEIN_NO_KEY',
  'SKEIN_PACKAGE_MISSING',
  'SKEIN_REPLAY_MISS',
]);

/**
 * One model call after the other, each an effect `model#TURN`, or of the name of its phase. Retryable errors are tried again with growing delays; when they
 * stay, or the model is not there at all, the next model of the list takes over for the rest of the step.
 */
export function modelCaller(agentStep: AgentStep, dispatch: Dispatch): ModelCaller {
  const { step, spec, phase, fields, opened, stepTools, transcript, use, replayed } = agentStep;
  let current = 0;
  let same: string | undefined;
  const turns: Turns = {
    step,
    spec,
    phase,
    fields,
    opened,
    stepTools,
    transcript,
    use,
    replayed,
    dispatch,
    circumstances: () => (same ??= circumstances(spec, [specsDigest(stepTools), opened.toolsDigest])),
    told: new Set(),
  };
  return async (turn) => {
    let failures = 0;
    for (let call = 1; ; call++) {
      const model = opened.models[current];
      if (model === undefined) throw new SkeinError('SKEIN_NO_MODEL', `agent "${spec.name}" has no model`);
      try {
        return await callOnce(turns, model, { name: modelCallName(turn, call, phase), turn });
      } catch (error) {
        if (!SkeinError.isInstance(error)) throw error;
        const pause = phase === undefined ? `pause#${turn}.${call}` : `${phase}.pause.${call}`;
        const next = await afterFailure(turns, { error, model, current, failures, pause });
        if (next === 'next-model') {
          current += 1;
          failures = 0;
        } else failures += 1;
      }
    }
  };
}

interface Failure {
  readonly error: SkeinError;
  readonly model: OpenedModel;
  readonly current: number;
  readonly failures: number;
  readonly pause: string;
}

/** Waits and says to try again, says to take the next model, or throws. */
async function afterFailure(options: Turns, failure: Failure): Promise<'again' | 'next-model'> {
  const { error, model } = failure;
  const next = options.opened.models[failure.current + 1];
  const asked = error.retryAfterMs;
  const tooLong = asked !== undefined && asked > LONGEST_RETRY_AFTER_MS;
  if (error.retryable && failure.failures + 1 < MODEL_TRIES && !tooLong) {
    const delayMs = asked ?? Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** failure.failures);
    options.step.note({ kind: 'model.retrying', model: model.id, error: toErrorData(error), delayMs });
    await options.step.sleep(failure.pause, delayMs);
    return 'again';
  }
  if (next !== undefined && (error.retryable || NEXT_AT_ONCE.has(error.code))) {
    options.step.note({ kind: 'model.fallback', from: model.id, to: next.id, error: toErrorData(error) });
    return 'next-model';
  }
  throw error.retryable && tooLong ? waitsTooLong(error, asked) : error;
}

interface Call {
  readonly name: string;
  readonly turn: number;
}

async function callOnce(options: Turns, model: OpenedModel, call: Call): Promise<ModelTurn> {
  const { step } = options;
  const { turn: number } = call;
  const ofPhase = present({ phase: options.phase });
  let performed = false;
  step.note({ kind: 'model.started', turn: number, model: model.id, ...ofPhase });
  const running = step.effect(
    call.name,
    (io) => {
      performed = true;
      return perform(options, model, call, io);
    },
    { identity: { digest: () => callIdentity(options, model) } },
  );
  const turn = await running.catch((error: unknown) => {
    if (!performed && !isOver(error)) tellReplayed(options, model, number);
    if (!isOver(error))
      step.note({ kind: 'model.failed', turn: number, model: model.id, error: toErrorData(error), ...ofPhase });
    throw error;
  });
  if (!performed) tellReplayed(options, model, number);
  step.note({
    kind: 'model.ended',
    turn: number,
    model: turn.model,
    text: turn.text,
    usage: turn.usage,
    toolCalls: turn.toolCalls.length,
    ...ofPhase,
  });
  return turn;
}

function callIdentity(options: Turns, model: OpenedModel): string {
  return digestText(`${model.id} ${model.structuredOutput} ${options.circumstances()} ${options.transcript.digest()}`);
}

/** The step ended before the call: neither made nor replayed. */
function isOver(error: unknown): boolean {
  return SkeinError.isInstance(error) && error.code === 'SKEIN_CANCELLED';
}

function tellReplayed(options: Turns, model: OpenedModel, turn: number): void {
  const { messages } = options.transcript;
  const count = messages.length;
  options.replayed({
    model: model.id,
    caller: callerOf(options, turn),
    messages: () => messagesFor(model, messages.slice(0, count), options.spec.output),
  });
}

async function perform(options: Turns, recorded: OpenedModel, call: Call, io: StepIo): Promise<ModelTurn> {
  const parts = await options.use(io);
  const model = parts.model(recorded);
  let dispatched = 0;
  /** A call from inside could not be made for now: whatever comes of the answer, it does not count. */
  let unfinished: SkeinError | undefined;
  const { spec } = options;
  const output = outputRequest(spec.output, spec.name);
  const own = options.stepTools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const tools = [...own, ...parts.specs];
  const request: ModelRequest = {
    messages: messagesFor(model, [...options.transcript.messages], spec.output),
    tools,
    settings: settingsNow(options, tools),
    signal: io.signal,
    caller: callerOf(options, call.turn),
    dispatch: async (wanted) => {
      if (unfinished !== undefined) throw unfinished;
      try {
        return await options.dispatch(wanted, io, (dispatched += 1));
      } catch (error) {
        if (SkeinError.isInstance(error) && error.code === 'SKEIN_QUESTION') unfinished = error;
        throw error;
      }
    },
    ...(output === undefined || model.structuredOutput !== true ? {} : { output }),
  };
  const answering = takeTurn(model, request, (note) => {
    if (note.kind === 'model.delta' && options.phase !== undefined) return;
    // What a provider says of the settings, it says in each turn.
    if (note.kind === 'warning' && options.told.has(note.message)) return;
    if (note.kind === 'warning') options.told.add(note.message);
    options.step.note(note);
  });
  const answer = await answering.catch((error: unknown) => {
    throw unfinished ?? error;
  });
  if (unfinished !== undefined) throw unfinished;
  return dispatched === 0 ? answer : { ...answer, dispatched };
}

/** A call that is forced is the first: after its result a model that must call again could never answer. */
function settingsNow({ spec, transcript }: Turns, tools: readonly ToolSpec[]): ModelSettings {
  const { name: agent, settings = {} } = spec;
  const { toolChoice, ...others } = settings;
  if (toolChoice === undefined || toolChoice === 'none' || toolChoice === 'auto') return settings;
  if (typeof toolChoice === 'object' && !tools.some(({ name }) => name === toolChoice.tool))
    throw new SkeinError(
      'SKEIN_DEFINITION',
      `agent "${agent}" has no tool "${toolChoice.tool}", which toolChoice names`,
    );
  return transcript.own.some(({ role }) => role === 'tool') ? others : settings;
}

function callerOf(options: Turns, turn: number): ModelRequest['caller'] {
  const { step, spec, phase, fields } = options;
  return { path: step.path, agent: spec.name, turn, ...present({ phase, fields: fields?.names }) };
}

/** Where the provider takes no schema, the system prompt says what is wanted. */
function messagesFor(
  model: Pick<Model, 'structuredOutput'>,
  messages: readonly Message[],
  output: StructuredOutput | undefined,
): readonly Message[] {
  if (output === undefined || model.structuredOutput === true) return messages;
  const instructions = outputInstructions(output);
  const first = messages[0];
  if (first?.role !== 'system') return [{ role: 'system', text: instructions }, ...messages];
  return [{ role: 'system', text: `${first.text}\n\n${instructions}` }, ...messages.slice(1)];
}

function waitsTooLong(error: SkeinError, asked: number): SkeinError {
  const seconds = Math.ceil(asked / 1_000);
  const message = `${error.message}; it asks to wait ${seconds} s, more than the ${LONGEST_RETRY_AFTER_MS / 1_000} s that are waited for`;
  return new SkeinError(error.code, message, {
    retryable: true,
    retryAfterMs: asked,
    hint: 'try again later, or name another model after this one',
    ...(error.details === undefined ? {} : { details: error.details }),
  });
}
