import { SkeinError, toErrorData } from '../../base/errors.js';
import { modelCallName } from '../../base/address.js';
import { digestText } from '../../base/hash.js';
import { present } from '../../base/json.js';
import type { AgentSpec, ModelSettings, StructuredOutput } from '../../plan/agent-spec.js';
import { DEFAULT_OUTPUT_TOKENS } from '../../plan/limits.js';
import { estimateCall } from '../../budget/estimate.js';
import { hearOnlineModels, type LeftBehind } from './conversation-trust.js';
import type { Asking, StepNote, Usage } from '../../events/event.js';
import type { StepIo } from '../../engine/ports/durable.js';
import type { Identity } from '../../engine/ports/recording.js';
import type { Message, Model, ModelRequest, ModelTurn, PromptCache, ToolCall, ToolResult, ToolSpec } from '../model.js';
import type { AgentStep, OpenedModel } from '../session.js';
import { afterFailure } from './after-failure.js';
import { PricedCall, SizeOfCall, priceOfModel, type ModelPrice } from './call-cost.js';
import { cacheKey, circumstances, specsDigest } from './identities.js';
import { takeTurn, type Heard } from './model-turn.js';
import { cheaperIn, reserveCall, waitingCall } from './before-call.js';
import { outputInstructions, outputRequest } from './structured-output.js';

/** Runs the `index`-th call of a back end with a loop of its own. */
type Dispatch = (call: ToolCall, io: StepIo, index: number) => Promise<ToolResult>;

interface Turns extends AgentStep {
  readonly dispatch: Dispatch;
  readonly inside: Inside | undefined;
  /** Digest of what an answer depends on, apart from model and conversation. */
  circumstances(): string;
  /** Warnings that this step has already emitted. */
  readonly told: Set<string>;
  last: LastTurn | undefined;
  /** The model that a budget named. */
  cheaper: OpenedModel | undefined;
}

/** What calls inside a model call heard and wrote. Recorded with the call, however it ends, because a continued run does not repeat them. */
interface Inside {
  left(): LeftBehind;
  recall(past: LeftBehind): void;
}

/** The usage that a turn was billed for, and how many messages it read and wrote. */
interface LastTurn {
  readonly model: string;
  readonly usage: Usage;
  readonly messages: number;
}

export interface ModelCaller {
  readonly ask: (turn: number) => Promise<ModelTurn>;
  readonly lastCall: () => string;
}

/**
 * Makes one model call after the other, each an effect `model#TURN`, or with the name of its phase. Retryable errors are retried with
 * growing delays; if they persist, or the model is unavailable, the next model of the list takes over for the rest of the step.
 */
export function modelCaller(agentStep: AgentStep, dispatch: Dispatch, inside?: Inside): ModelCaller {
  const { step, spec, phase, callName = phase, timeoutMs, fields } = agentStep;
  const { opened, stepTools, transcript, use, prices, replayed } = agentStep;
  let current = 0;
  let repeats = 0;
  let same: string | undefined;
  let name = '';
  const turns: Turns = {
    step,
    spec,
    phase,
    timeoutMs,
    fields,
    opened,
    stepTools,
    transcript,
    use,
    prices,
    replayed,
    dispatch,
    inside,
    circumstances: () => (same ??= circumstances(spec, [specsDigest(stepTools), opened.toolsDigest])),
    told: new Set(),
    last: undefined,
    cheaper: undefined,
  };
  const ask = async (turn: number): Promise<ModelTurn> => {
    let failures = 0;
    for (let call = 1; ; call++) {
      const model = turns.cheaper ?? opened.models[current];
      if (model === undefined) throw new SkeinError('SKEIN_NO_MODEL', `agent "${spec.name}" has no model`);
      try {
        const asking = phase === undefined ? { turn, model: model.id } : { turn, model: model.id, phase };
        name = modelCallName(turn, call, callName);
        return await callOnce(turns, model, { name, asking, again: failures > 0, dispatched: 0 });
      } catch (error) {
        if (!SkeinError.isInstance(error)) throw error;
        const pause = callName === undefined ? `pause#${turn}.${call}` : `${callName}.pause.${call}`;
        const cheaper = cheaperIn(error);
        const next = cheaper ?? (turns.cheaper === undefined ? opened.models[current + 1] : undefined);
        if ((await afterFailure(turns, { error, model, next, failures, repeats, pause })) === 'again') {
          failures += 1;
          repeats += 1;
        } else {
          current += 1;
          turns.cheaper = cheaper;
          if (cheaper !== undefined) hearOnlineModels({ models: [cheaper] }, step.influence);
          failures = 0;
          repeats = 0;
        }
      }
    }
  };
  return { ask, lastCall: () => name };
}

interface Call {
  readonly name: string;
  readonly asking: Asking;
  readonly again: boolean;
  dispatched: number;
}

async function callOnce(options: Turns, model: OpenedModel, call: Call): Promise<ModelTurn> {
  const { step } = options;
  const { asking } = call;
  let performed = false;
  step.note({ kind: 'model.started', ...asking });
  const running = step.effect(
    call.name,
    (io) => {
      performed = true;
      return perform(options, model, call, io);
    },
    { identity: identityOf(options, model, call), ...present({ timeoutMs: options.timeoutMs }) },
  );
  const turn = await running.catch((error: unknown) => {
    if (isOver(error)) throw error;
    if (!performed) tellReplayed(options, model, asking.turn);
    step.note({ kind: 'model.failed', ...asking, error: toErrorData(error) }, !performed);
    throw error;
  });
  if (!performed) tellReplayed(options, model, asking.turn);
  const ended = {
    kind: 'model.ended',
    ...asking,
    model: turn.model,
    text: turn.text,
    usage: turn.usage,
    ...present({ cost: turn.cost }),
    toolCalls: turn.toolCalls.length,
  } as const;
  step.note(ended, !performed);
  const messages = options.transcript.messages.length + 1;
  options.last = turn.cost?.estimated === true ? undefined : { model: model.id, usage: turn.usage, messages };
  return turn;
}

function identityOf(options: Turns, model: OpenedModel, call: Call): Identity {
  const { inside, transcript } = options;
  const left = (): LeftBehind => (call.dispatched === 0 || inside === undefined ? {} : inside.left());
  return {
    digest: () => digestText(`${model.id} ${model.structuredOutput} ${options.circumstances()} ${transcript.digest()}`),
    heard: () => left().heard,
    wrote: () => left().wrote,
    reused: (past) => inside?.recall(past),
  };
}

/** The step ended before the call, which was neither made nor replayed. */
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
  const { asking } = call;
  const parts = await options.use(io);
  const isOther = recorded === options.cheaper;
  const model = isOther ? await parts.other(recorded.id) : parts.model(recorded);
  /** Set if a call inside the model call has to wait: the answer then does not count. */
  let unfinished: SkeinError | undefined;
  const { spec } = options;
  const output = outputRequest(spec.output, spec.name);
  const own = options.stepTools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const tools = [...own, ...parts.specs];
  const price = await priceOfModel(model, options.prices, spec.cache);
  const settings = settingsNow(options, tools);
  // Under a budget, the server never chooses the output limit.
  const { reserve } = io;
  const byDefault = reserve === undefined ? undefined : DEFAULT_OUTPUT_TOKENS;
  const outputLimit = settings.maxOutputTokens === undefined ? (price.outputLimit ?? byDefault) : undefined;
  const request: ModelRequest = {
    messages: messagesFor(model, [...options.transcript.messages], spec.output),
    tools,
    settings,
    outputLimit,
    cache: cacheOf(spec, () => cacheKey(spec.name, tools, options.transcript.messages[0])),
    signal: io.signal,
    caller: callerOf(options, asking.turn),
    turn: waitingCall(options.step, call, io),
    dispatch: async (wanted) => {
      if (unfinished !== undefined) throw unfinished;
      try {
        return await held.during(() => options.dispatch(wanted, io, (call.dispatched += 1)));
      } catch (error) {
        if (SkeinError.isInstance(error) && UNFINISHED.has(error.code)) unfinished = error;
        throw error;
      }
    },
    ...(output === undefined || model.structuredOutput !== true ? {} : { output }),
  };
  const heard: Heard = { begun: false };
  const priced = pricedTurn(options, { asking, price, request, model, strict: reserve?.strict });
  const held = await reserveCall(reserve, { priced, isOther, parts });
  options.step.underWay(priced);
  const answering = takeTurn(model, request, (note) => tell(options, note), heard).then(
    (turn) => priced.answered(turn, heard),
    (error: unknown) => {
      throw unfinished ?? priced.failed(error, heard);
    },
  );
  const answer = await held.made(answering);
  if (unfinished !== undefined) throw unfinished;
  // A lower limit is the model's own maximum, so no setting would help.
  const isCut = answer.reason === 'length' && outputLimit === DEFAULT_OUTPUT_TOKENS;
  const { dispatched } = call;
  if (!isCut && dispatched === 0) return answer;
  return {
    ...answer,
    ...(isCut ? { cutAt: outputLimit } : {}),
    ...(dispatched === 0 ? {} : { dispatched }),
  };
}

function tell({ step, phase, told }: Turns, note: StepNote): void {
  if (note.kind === 'model.delta' && phase !== undefined) return;
  // A provider repeats its warnings about settings in each turn.
  if (note.kind === 'warning' && told.has(note.message)) return;
  if (note.kind === 'warning') told.add(note.message);
  step.note(note);
}

/** Error codes with which a call inside a model call ends without a result. */
const UNFINISHED: ReadonlySet<string> = new Set(['SKEIN_QUESTION', 'SKEIN_BUDGET']);

interface CallToPrice {
  readonly asking: Asking;
  readonly price: ModelPrice;
  readonly model: Model;
  readonly request: ModelRequest;
  readonly strict: boolean | undefined;
}

/** Prices the call from the previous turn's bill plus what is new. */
function pricedTurn({ last, transcript }: Turns, { asking, price, model, request, strict }: CallToPrice): PricedCall {
  const { settings, outputLimit } = request;
  const maxOutputTokens = settings.maxOutputTokens ?? outputLimit ?? DEFAULT_OUTPUT_TOKENS;
  const before = last?.model === model.id ? last : undefined;
  const { messages } = transcript;
  const count = messages.length;
  const estimate = (): Usage => {
    const added = (): readonly Message[] => messages.slice(before?.messages ?? 0, count);
    return estimateCall(new SizeOfCall(request, added, { last: before?.usage, maxOutputTokens, strict }));
  };
  return new PricedCall(asking, model.id, price, estimate);
}

/** Only the first call is forced: a model that had to call again after a result could never answer. */
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

/** Adds the schema to the system prompt if the provider accepts no schema. */
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

function cacheOf({ cache }: AgentSpec, key: () => string): PromptCache | undefined {
  if (cache === 'off') return undefined;
  return cache === '1h' ? { key, forHour: true } : { key };
}
