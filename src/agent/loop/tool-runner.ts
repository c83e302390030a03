import { SkeinError } from '../../base/errors.js';
import { jsonIn, present, type Json } from '../../base/json.js';
import { TOOL_CALL } from '../../budget/amount.js';
import type { AnswerSource, AskLimit, Question, StepIo } from '../../engine/ports/durable.js';
import type { Identity } from '../../engine/ports/recording.js';
import { GUARD_EXPIRES_MS, type AskOptions, type StateWatch } from '../../engine/ports/executor.js';
import { joined, joinedIf, hearsAnswer, type Label } from '../../guard/label.js';
import { askPerson } from '../ask-user.js';
import type { ToolCall, ToolResult } from '../model.js';
import type { AgentStep, OpenedTool } from '../session.js';
import type { RunTrust } from '../run-trust.js';
import { madeOnce } from '../../base/collections.js';
import { tellDenied } from './decided.js';
import type { ConversationTrust } from './conversation-trust.js';
import { filesOfCall } from './files-of-call.js';
import { Guard, type Cleared, type ClearedCall, type Looks } from './guard.js';
import type { Stages } from './stages.js';
import { policyCheck, type PolicyCheck } from '../permissions/policy-check.js';
import { createGate, type Asking, type Gate } from './gate.js';
import { withinTime } from './before-call.js';
import { answerOf, spreadBy, type Answer } from './answer.js';
import { callChecks, type CallChecks } from './call-check.js';
import { callDigest, callKey } from './identities.js';
import type { CallIo, StepTool } from '../tool.js';
import { lostCall } from './lost-call.js';
import { PlantedPrograms } from './planted.js';
import { readInput } from './tool-input.js';

export interface ToolRunnerOptions extends AgentStep {
  readonly run: RunTrust;
  readonly trust: ConversationTrust;
  /** Models and guards of the program that examine calls; absent if there are none. */
  readonly stages?: Stages | undefined;
}

/**
 * Runs the tool calls of a step. Anything wrong with a call (an unknown tool, input that is not JSON or does not match the schema, an error
 * that the tool throws) becomes an error result, so that the model can correct it. Rejects only with errors that end the step.
 */
export class ToolRunner {
  private readonly recorded: ReadonlyMap<string, OpenedTool>;
  private readonly stepTools: ReadonlyMap<string, StepTool>;
  private readonly gate: Gate;
  private readonly check: CallChecks;
  private readonly policy: PolicyCheck;
  readonly planted: PlantedPrograms;
  private guard: Guard | undefined;
  private readonly looks: (call: ToolCall, at: string) => Pick<Asking, 'fault' | 'decide'> & Looks;

  constructor(private readonly options: ToolRunnerOptions) {
    const { step, spec, opened, use } = options;
    const recorded = new Map(opened.tools.map((tool) => [tool.name, tool]));
    const stepTools = new Map(options.stepTools.map((tool) => [tool.name, tool]));
    this.recorded = recorded;
    this.stepTools = stepTools;
    this.gate = createGate(spec, { recorded, stepTools, cwd: opened.surroundings?.cwd });
    const policies = [...options.run.policies, ...(spec.policy === undefined ? [] : [spec.policy])];
    this.policy = policyCheck(policies, { agent: spec.name, cwd: opened.surroundings?.cwd ?? process.cwd() });
    this.check = callChecks({ gate: this.gate, stepTools, use, policy: this.policy });
    this.looks = looksBetweenTurns({ step, check: this.check, stepTools, identityOf: (call) => this.identityOf(call) });
    this.planted = new PlantedPrograms(options);
  }

  /** Decides about all calls of a turn before any of them starts. Undefined if all may be made. */
  clear(calls: readonly ToolCall[], turn: number): Promise<readonly Cleared[] | undefined> | undefined {
    const isMade = (call: ToolCall, index: number): boolean =>
      this.options.step.isRecorded(`tool#${turn}.${index}`, this.identified(call));
    const found = this.planted.look(turn, { calls, isMade });
    return found?.then(() => this.decide(calls, turn)) ?? this.decide(calls, turn);
  }

  private decide(calls: readonly ToolCall[], turn: number): Promise<readonly Cleared[]> | undefined {
    return this.guarding()?.clear({
      calls,
      looks: (call, index, again) => this.looks(call, lookedAt(`${turn}.${index}`, again)),
      at: (index) => `${turn}.${index}`,
      ask: (question, index) =>
        inTime(this.ask(`guard#${turn}.${index}`, { expiresMs: GUARD_EXPIRES_MS, hasDefault: true })(question)),
      isTaken: (call, index) => this.options.step.isTaken(`tool#${turn}.${index}`, this.identified(call)),
    });
  }

  /** Makes a call of the loop: an effect of its own, `tool#TURN.INDEX`. */
  call(wanted: ToolCall, turn: number, index: number, cleared: Cleared | undefined): Promise<ToolResult> {
    const at = `${turn}.${index}`;
    if (cleared !== undefined && 'output' in cleared) return this.made(wanted, at, () => Promise.resolve(cleared));
    const { call, isChanged, isAllowed } = cleared ?? asWanted(wanted);
    const { label } = this.options.trust;
    return this.made(call, at, async () => {
      const asking = { ask: this.ask(`approve#${at}`), ...this.looks(call, lookedAt(at, isChanged)) };
      const refused = await this.gate.refusal(call, asking, isAllowed);
      if (refused !== undefined) return refused;
      const own = this.stepTools.get(call.name);
      if (own === undefined) return asChanged(await this.effect(call, `tool#${at}`, label), isChanged);
      return answerOf(async () => this.runOwn(call, own, label, this.ask(`tool#${at}`)));
    });
  }

  /** Makes a call inside a model call, for back ends with a loop of their own: part of the model call's effect. */
  async dispatch(wanted: ToolCall, io: StepIo, turn: number, index: number): Promise<ToolResult> {
    const { check, gate, stepTools } = this;
    const { step } = this.options;
    const ask = (what: string, limit?: AskLimit) => (question: Question) =>
      askPerson(step, question, (asked) =>
        io.ask(
          `${what}#${index}`,
          asked,
          limit,
          hearsAnswer(step.path, (label) => this.options.trust.add(label)),
        ),
      );
    const looksAt = (call: ToolCall): Looks => ({
      fault: () => check.fault(call, io),
      look: () => check.look(call, io),
    });
    await this.planted.look(turn, { calls: [wanted], isMade: () => false });
    const clearing = this.guarding()?.clear({
      calls: [wanted],
      looks: looksAt,
      at: () => `${turn}.${index}`,
      io,
      ask: (question) => inTime(ask('guard', { ms: GUARD_EXPIRES_MS, hasDefault: true })(question)),
      isTaken: () => false,
    });
    const [cleared = asWanted(wanted)] = (await clearing) ?? [];
    const at = `dispatched.${index}`;
    if ('output' in cleared) return await this.madeInside(wanted, at, () => Promise.resolve(cleared));
    const { call, isChanged, isAllowed } = cleared;
    const { label } = this.options.trust;
    return await this.madeInside(call, at, async () => {
      const asking = { ...looksAt(call), decide: () => check.mustApprove(call, io), ask: ask('approve') };
      const refused = await gate.refusal(call, asking, isAllowed);
      if (refused !== undefined) return refused;
      const own = stepTools.get(call.name);
      if (own === undefined)
        return asChanged(await this.runTool(call, io, { label, ...step.watch() }, `tool#${index}.`), isChanged);
      return answerOf(async () => {
        if (own.onlyBetweenTurns !== undefined) throw new SkeinError('SKEIN_TOOL_REFUSED', own.onlyBetweenTurns);
        return this.runOwn(call, own, label, ask('tool'));
      }, io);
    });
  }

  /** No record of its own says what the call added to the label. */
  private async madeInside(call: ToolCall, at: string, body: () => Promise<Answer>): Promise<ToolResult> {
    const result = await this.made(call, at, body);
    this.options.step.hears(this.options.trust.label);
    return result;
  }

  /** Undefined if all calls may be made. */
  private guarding(): Guard | undefined {
    const { run, trust, stages } = this.options;
    if (trust.isTrusted && !run.planted && stages?.mayLook(trust.label) !== true) return undefined;
    return (this.guard ??= new Guard({ ...this.options, gate: this.gate }));
  }

  private identityOf(call: ToolCall): Identity {
    return { digest: () => callDigest(call, this.recorded.get(call.name)?.code) };
  }

  private identified(call: ToolCall): Identity {
    // Called only on demand: starting to watch reports the labels of all channels.
    return { ...this.identityOf(call), current: (name) => this.options.step.watch().current(name) };
  }

  private ask(name: string, how?: AskOptions): Asking['ask'] {
    const { step } = this.options;
    return (question) => askPerson(step, question, (asked) => step.ask(`ask:${name}`, asked, how));
  }

  private async runTool(
    call: ToolCall,
    io: StepIo,
    { state, label: before }: Pick<StateWatch, 'state'> & { readonly label: Label },
    ask = '',
  ): Promise<Answer> {
    const { tools } = await this.options.use(io);
    await io.reserve?.({ amount: TOOL_CALL, atOnce: true });
    const files = filesOfCall(this.recorded.get(call.name), { run: this.options.run, label: before });
    let heard: Label | undefined;
    const hear = (label: Label): void => {
      heard = joinedIf(heard, label);
      this.options.step.hears(label);
    };
    const wrote = new Set<string>();
    const tell = (path: string): void => {
      wrote.add(path);
      this.options.step.influence.wrote?.(path);
    };
    const follows = this.check.follows(call, this.recorded.get(call.name), this.guarding());
    let isReached = false;
    const answer = await answerOf(async () => {
      const { tool, input } = await this.check.prepared(call, tools);
      isReached = true;
      const most = this.policy.timeout({ name: call.name, input, tool });
      return withinTime(
        most,
        call.name,
        () => io.signal,
        (signal = io.signal) =>
          tool.execute(input, {
            ...callIo(io, {
              state,
              call,
              prefix: ask,
              files,
              label: () => (heard === undefined ? before : joined(heard, before)),
              hear,
              wrote: tell,
              from: hearsAnswer(this.options.step.path, hear),
            }),
            signal,
            follows,
          }),
      );
    }, io);
    if (!isReached) return { ...answer, own: true };
    const inside = wrote.size === 0 ? undefined : [...wrote];
    return { ...answer, ...present({ files: files?.shown(), heard, wrote: inside }) };
  }

  private effect(call: ToolCall, name: string, label: Label): Promise<Answer> {
    // A tool that appeared after the step began is unknown, and treated as the worst kind.
    const tool = this.recorded.get(call.name);
    const effect = tool?.effect ?? 'once';
    const { step, use } = this.options;
    const watch = step.watch();
    let wrote: readonly string[] | undefined;
    const run = async (io: StepIo): Promise<Answer> => {
      const answer = await this.runTool(call, io, { state: watch.state, label });
      wrote = spreadBy(answer);
      return answer;
    };
    return step.effect(name, run, {
      effect,
      identity: { ...watch, ...this.identityOf(call), wrote: () => wrote },
      ...(effect === 'once' ? { lost: lostCall(call, { step, use, check: this.check, tool, watch }) } : {}),
    });
  }

  private runOwn(call: ToolCall, own: StepTool, label: Label, ask: Asking['ask']): ReturnType<StepTool['run']> {
    const input = readInput(call, own);
    this.options.trust.runs(call.name, label);
    return own.run(input, ask);
  }

  /** Runs a call, emits notes about it, and adds its result to the label. */
  private async made(call: ToolCall, at: string, body: () => Promise<Answer>): Promise<ToolResult> {
    const { step, trust } = this.options;
    step.note({ kind: 'tool.started', id: call.id, tool: call.name, input: shownInput(call.input) });
    const answer = await body();
    const { output, isError } = answer;
    if (isError && answer.own === true)
      tellDenied({ ...this.options, gate: this.gate, policy: this.policy }, call, this.recorded.get(call.name));
    trust.heard(call, answer, at);
    step.note({ kind: 'tool.ended', id: call.id, tool: call.name, status: isError ? 'error' : 'ok', output });
    return { id: call.id, name: call.name, output, isError };
  }
}

function asWanted(call: ToolCall): ClearedCall {
  return { call, isChanged: false, isAllowed: false };
}

/** Tells the model that the result is not that of the call it requested. */
function asChanged(answer: Answer, isChanged: boolean): Answer {
  if (!isChanged) return answer;
  const note = 'Note: a security check of this workflow changed the arguments of this call before it was made.';
  return { ...answer, output: `${note}\n\n${answer.output}` };
}

/** The name of checks: those of a call with changed arguments have names of their own. */
function lookedAt(at: string, isChanged: boolean): string {
  return isChanged ? `${at}+` : at;
}

/** Undefined if the answer did not come in time. */
export async function inTime(asked: Promise<string>): Promise<string | undefined> {
  return asked.catch((error: unknown) => {
    if (!SkeinError.isInstance(error) || error.code !== 'SKEIN_TIMEOUT') throw error;
    return undefined;
  });
}

/** Records the checks of calls between turns: a replay opens no tools and uses the recorded results. */
export function looksBetweenTurns({
  step,
  check,
  stepTools,
  identityOf,
}: Pick<AgentStep, 'step'> & {
  readonly check: CallChecks;
  readonly stepTools: ReadonlyMap<string, StepTool>;
  readonly identityOf: (call: ToolCall) => Identity;
}): (call: ToolCall, at: string) => Pick<Asking, 'fault' | 'decide'> & Looks {
  const seen = <T>(name: string, call: ToolCall, body: (io: StepIo) => Promise<T>): Promise<T> =>
    step.effect(name, body, { effect: 'read', identity: identityOf(call) });
  /** The guard and the gate share the result: an effect name can be used only once. */
  const faults = new Map<string, Promise<Answer | undefined>>();
  const fault = async (call: ToolCall, at: string): Promise<Answer | undefined> => {
    if (stepTools.has(call.name)) return check.faultOfOwn(call);
    return (await seen(`check#${at}`, call, async (io) => (await check.fault(call, io)) ?? null)) ?? undefined;
  };
  return (call, at) => ({
    fault: () => madeOnce(faults, at, () => fault(call, at)),
    decide: () => seen(`approve?#${at}`, call, (io) => check.mustApprove(call, io)),
    look: () => seen(`look#${at}`, call, (io) => check.look(call, io)),
  });
}

/** The IO of a call; its questions have names of their own. */
function callIo(
  io: StepIo,
  {
    call,
    prefix,
    from,
    ...own
  }: Pick<CallIo, 'state' | 'files' | 'label' | 'hear' | 'wrote'> & {
    readonly call: ToolCall;
    readonly prefix: string;
    readonly from: AnswerSource;
  },
): CallIo {
  const { signal, idempotencyKey, place = idempotencyKey, reserve, parts } = io;
  const inside = (key: string): string => (prefix === '' ? key : `${key}.${prefix}`);
  return {
    signal,
    // Calls inside a model call share its effect, and differ by the prefix.
    idempotencyKey: callKey(inside(idempotencyKey), call),
    place: inside(place),
    reserve,
    parts,
    ...own,
    ask: (name, question, tell) =>
      io.ask(prefix + name, question, undefined, (by) => {
        from(by);
        tell?.(by);
      }),
  };
}

function shownInput(text: string): Json {
  const value = jsonIn(text) as Json | undefined;
  return value === undefined ? text : value;
}
