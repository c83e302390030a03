import { pathOf } from '../../base/address.js';
import { refusedByPerson } from '../../base/decided.js';
import { SkeinError, toErrorData, fromErrorData } from '../../base/errors.js';
import { digestText } from '../../base/hash.js';
import { isPlainObject, present, recordText, type Json, type JsonObject } from '../../base/json.js';
import { TOOL_CALL } from '../../budget/amount.js';
import type { Question, StepIo } from '../../engine/ports/durable.js';
import type { Identity } from '../../engine/ports/recording.js';
import { GUARD_EXPIRES_MS, type AskOptions } from '../../engine/ports/executor.js';
import { askPerson } from '../ask-user.js';
import { spreadBy, type FilesShown } from '../loop/answer.js';
import { callEvidence } from '../loop/approval.js';
import { callChecks, type CallChecks } from '../loop/call-check.js';
import { tellDenied } from '../loop/decided.js';
import { filesOfCall, type CallFiles } from '../loop/files-of-call.js';
import { createGate, REFUSED, type Gate, type Granted } from '../loop/gate.js';
import { Guard, type Authored, type Cleared, type Looks } from '../loop/guard.js';
import { PlantedPrograms } from '../loop/planted.js';
import { inTime, looksBetweenTurns, type ToolRunnerOptions } from '../loop/tool-runner.js';
import { withinTime } from '../loop/before-call.js';
import type { ToolCall } from '../model.js';
import { policyCheck, type PolicyCheck } from '../permissions/policy-check.js';
import type { ScriptedSteps } from '../script/scripted-steps.js';
import type { OpenedTool } from '../session.js';
import type { Environment } from '../tools/clean-env.js';
import type { ToolUse } from '../../plan/tool-use.js';
import { besideInput, variablesOf, type GivenCall } from './given.js';
import { fittingOutput, lostResult, pretendedResult, resultOfCommand, scriptedValue, KEPT_BYTES } from './results.js';

interface StepCallOptions extends ToolRunnerOptions {
  readonly granted: Granted;
  readonly authored: Authored | undefined;
  /** The tool as recorded, with the effect that the step sets. */
  readonly tool: OpenedTool;
  readonly wanted: { readonly use: ToolUse; readonly given: GivenCall };
  readonly scripted: ScriptedSteps | undefined;
  readonly env: Environment;
}

interface Done {
  readonly value: Json;
  readonly files?: FilesShown;
  /** Set if no tool was called: the value comes from a script or a stand-in. */
  readonly own?: true;
}

/** The call's place in effect names, like that of an agent's first call. */
const AT = '1.1';

/** One direct call of a step. It passes all checks that an agent's call passes. */
export class StepCall {
  private readonly gate: Gate;
  private readonly policy: PolicyCheck;
  private readonly check: CallChecks;
  private readonly looks: ReturnType<typeof looksBetweenTurns>;
  private isPerformed = false;

  constructor(private readonly options: StepCallOptions) {
    const { step, spec, opened, use, granted, run, tool } = options;
    const recorded = new Map([[tool.name, tool]]);
    const stepTools = new Map<string, never>();
    const { cwd } = opened.surroundings ?? { cwd: undefined };
    this.gate = createGate(spec, { recorded, stepTools, cwd, granted });
    this.policy = policyCheck(run.policies, { agent: spec.name, cwd: cwd ?? process.cwd() });
    this.check = callChecks({ gate: this.gate, stepTools, use, policy: this.policy });
    const identityOf = (call: ToolCall): Identity => this.identityOf(call);
    this.looks = looksBetweenTurns({ step, check: this.check, stepTools, identityOf });
  }

  /** @throws SkeinError `SKEIN_TOOL_REFUSED`, `SKEIN_EXIT`, and what tools throw */
  async result(wanted: ToolCall): Promise<Json> {
    const {
      step,
      wanted: { given },
    } = this.options;
    const { call, isAllowed } = await this.cleared(wanted);
    step.note({ kind: 'tool.started', id: call.id, tool: call.name, input: shown(call, given) });
    try {
      const done = await this.made(call, isAllowed);
      const output = typeof done.value === 'string' ? done.value : recordText(done.value);
      this.hear(call, { output, isError: false, ...present({ own: done.own, files: done.files }) });
      step.note({ kind: 'tool.ended', id: call.id, tool: call.name, status: 'ok', output });
      return done.value;
    } catch (error) {
      const { code, message } = toErrorData(error);
      if (code === 'SKEIN_QUESTION') throw error;
      const isOwn = code === 'SKEIN_TOOL_REFUSED' || code === 'SKEIN_CANCELLED' || code === 'SKEIN_SCRIPT';
      if (code === 'SKEIN_TOOL_REFUSED')
        tellDenied({ ...this.options, gate: this.gate, policy: this.policy }, call, this.options.tool);
      this.hear(call, { output: message, isError: true, ...(isOwn ? { own: true } : {}) });
      step.note({ kind: 'tool.ended', id: call.id, tool: call.name, status: 'error', output: message });
      throw error;
    }
  }

  private hear(call: ToolCall, answer: Parameters<StepCallOptions['trust']['heard']>[1]): void {
    this.options.trust.heard(call, answer, AT);
  }

  /** @throws SkeinError `SKEIN_TOOL_REFUSED` */
  private async cleared(call: ToolCall): Promise<Exclude<Cleared, { readonly output: string }>> {
    const { run, trust, stages, granted, step } = this.options;
    // A cleared call may be retried: its failure does not revoke the clearance.
    const known = `${pathOf(step.path)} ${this.identityOf(call).digest()}`;
    const isKnown = stages === undefined && run.hasCleared(known);
    const isMade = (one: ToolCall): boolean => step.isRecorded(`tool#${AT}`, this.identified(one));
    if (!isKnown) await new PlantedPrograms(this.options).look(1, { calls: [call], isMade });
    const isFree = isKnown || (trust.isTrusted && !run.planted && stages?.mayLook(trust.label) !== true);
    if (isFree) {
      run.noteCleared(known);
      return { call, isChanged: false, isAllowed: false };
    }
    const guard = new Guard({ ...this.options, gate: this.gate, who: granted.who });
    const [cleared] = await guard.clear({
      calls: [call],
      looks: (one, _index, again) => this.looksAt(one, again),
      at: () => AT,
      ask: (question) => inTime(this.ask(`guard#${AT}`, { expiresMs: GUARD_EXPIRES_MS })(question)),
      isTaken: (one) => this.isTaken(one),
    });
    if (cleared === undefined) return { call, isChanged: false, isAllowed: false };
    if ('output' in cleared) throw refusedBy(cleared.output);
    run.noteCleared(known);
    return cleared;
  }

  private follows(call: ToolCall): (url: URL) => boolean {
    const { trust, granted, tool } = this.options;
    const guard = trust.isTrusted ? undefined : new Guard({ ...this.options, gate: this.gate, who: granted.who });
    return this.check.follows(call, tool, guard);
  }

  private looksAt(call: ToolCall, again: boolean): Looks & ReturnType<StepCall['looks']> {
    const looks = this.looks(call, again ? `${AT}+` : AT);
    return {
      ...looks,
      fault: async () => this.quoted(await looks.fault()),
      look: async () => this.quoted(await looks.look()),
    };
  }

  /** What is wrong with a call quotes the schema of its tool, in the words of a server: the error of the step carries their label. */
  private quoted<T>(found: T): T {
    if (isPlainObject(found) && found['isError'] === true) this.options.trust.addDescriptions();
    return found;
  }

  private ask(name: string, how?: AskOptions): (question: Question) => Promise<string> {
    const { step } = this.options;
    return (question) => askPerson(step, question, (asked) => step.ask(`ask:${name}`, asked, how));
  }

  private identified(call: ToolCall): Identity {
    return { ...this.identityOf(call), current: (name) => this.options.step.watch().current(name) };
  }

  private isTaken(call: ToolCall): boolean {
    return this.options.step.isTaken(`tool#${AT}`, this.identified(call));
  }

  private async made(call: ToolCall, isAllowed: boolean): Promise<Done> {
    const { step, tool, wanted, scripted } = this.options;
    const asking = { ask: this.ask(`approve#${AT}`), ...this.looksAt(call, false) };
    const refused = await this.gate.refusal(call, asking, isAllowed);
    if (refused !== undefined) throw refusedBy(refused.output);
    const { effect } = tool;
    let wrote: readonly string[] | undefined;
    const perform = async (io: StepIo): Promise<Done> => {
      const performed = await this.perform(call, io);
      wrote = spreadBy(performed);
      return performed;
    };
    const done = await step.effect(`tool#${AT}`, perform, {
      effect,
      identity: { ...this.identityOf(call), wrote: () => wrote },
      ...(effect === 'once'
        ? { lost: { value: () => ({ value: lostResult(wanted.use) }), evidence: callEvidence(call) } }
        : {}),
    });
    if (!this.isPerformed) scripted?.skipped(step.path);
    return done;
  }

  private identityOf(call: ToolCall): Identity {
    const { step, wanted } = this.options;
    return {
      digest: () => digestText(recordText([step.definition(), call.name, call.input, besideInput(wanted.given)])),
    };
  }

  /** Performs the call: an error fails the step, so that the call is made again when the run is resumed. */
  private async perform(call: ToolCall, io: StepIo): Promise<Done> {
    const { step, tool, wanted, scripted } = this.options;
    this.isPerformed = true;
    await io.reserve?.({ amount: TOOL_CALL, atOnce: true });
    const answer = await scripted?.answer(step.path, io.signal);
    if (answer !== undefined) return { value: fittingOutput(wanted.use, scriptedValue(wanted.use, answer)), own: true };
    if (tool.pretended === true) return { value: pretendedResult(wanted.use, call), own: true };
    const { tools } = await this.options.use(io);
    const files = filesOfCall(tool, { run: this.options.run, label: this.options.trust.label });
    const value = fittingOutput(wanted.use, await this.call(call, io, { tools, files }));
    return { value, ...present({ files: files?.shown() }) };
  }

  private async call(
    call: ToolCall,
    io: StepIo,
    {
      tools,
      files,
    }: {
      readonly tools: Parameters<CallChecks['prepared']>[1];
      readonly files: CallFiles | undefined;
    },
  ): Promise<Json> {
    const {
      wanted: { use, given },
      env,
      step,
    } = this.options;
    try {
      const { tool, input } = await this.check.prepared(call, tools);
      const most = this.policy.timeout({ name: call.name, input, tool });
      return await withinTime<Json>(
        most,
        call.name,
        () => io.signal,
        async (signal = io.signal) => {
          const { idempotencyKey } = io;
          if (tool.command === undefined)
            return await tool.execute(input, { files, signal, idempotencyKey, follows: this.follows(call) });
          const { timeout_seconds: seconds } = input;
          const settings = {
            seconds: typeof seconds === 'number' ? seconds : undefined,
            keep: KEPT_BYTES,
            stdin: given.stdin,
            env: variablesOf(given, env),
          };
          const end = await tool.command(input, settings, { signal, idempotencyKey });
          return resultOfCommand(use, end, (message) => step.note({ kind: 'warning', code: 'output-cut', message }));
        },
      );
    } catch (error) {
      throw SkeinError.isInstance(error) || io.signal.aborted ? error : asToolError(call, error);
    }
  }
}

function refusedBy(output: string): SkeinError {
  if (output === REFUSED.output) return refusedByPerson('this call');
  return new SkeinError('SKEIN_TOOL_REFUSED', output.replace(/^Error: /, ''), { retryable: false });
}

function asToolError({ name }: ToolCall, error: unknown): SkeinError {
  const { message } = toErrorData(error);
  return fromErrorData({ code: 'SKEIN_TOOL_FAILED', message: `${name}: ${message}` });
}

function shown({ input }: ToolCall, { stdin }: GivenCall): Json {
  const value = JSON.parse(input) as JsonObject;
  return stdin === undefined ? value : { ...value, stdin };
}
