import { SkeinError, toErrorData } from '../../base/errors.js';
import { stageName, innerKey } from '../../base/address.js';
import { canonicalJson, digestText } from '../../base/hash.js';
import { recordText, type JsonObject } from '../../base/json.js';
import type { StepContext } from '../../engine/ports/executor.js';
import type { StepIo } from '../../engine/ports/durable.js';
import { guardVerdict, type CustomGuard, type GuardCall } from '../../guard/custom-guard.js';
import type { Decision, GuardedCall, GuardRules } from '../../guard/decide.js';
import type { Label } from '../../guard/label.js';
import type { HeardText } from '../../guard/lineage.js';
import { opinionIn, stagePrompt, stagesFor, type CallToJudge, type Opinion, type Stage } from '../../guard/tiers.js';
import { sourceText } from '../../plan/made-of.js';
import { phaseAgent } from '../../plan/nodes.js';
import { securityText, type Security } from '../../plan/security.js';
import { askAside, openAside, type Aside, type AsideModels } from '../ask-aside.js';
import type { ToolCall } from '../model.js';

/** Milliseconds until the verdict of a stage, or of a guard of the program, times out; the call is then refused. */
export const STAGE_MS = 60_000;

export interface StagesOf {
  readonly models: AsideModels;
  readonly security: Security | undefined;
  readonly guards: readonly CustomGuard[];
}

export interface StagesStep extends StagesOf {
  readonly step: StepContext;
  readonly agent: string;
  readonly task: string;
  readonly rules: GuardRules;
}

/** A call that the first tier allows or wants to ask about. */
export interface StagedCall {
  readonly call: ToolCall;
  readonly input: JsonObject;
  readonly guarded: GuardedCall & { readonly isTrustedRead: boolean };
  readonly decision: Decision;
  readonly label: Label;
  readonly texts: readonly HeardText[];
  readonly findings?: readonly string[];
  /** `TURN.INDEX`. */
  readonly at: string;
  /** Whether a reviewer changed its arguments: they cannot change again. */
  readonly again: boolean;
  /** For a call inside a model call: the effect of the model call. */
  readonly io?: StepIo | undefined;
}

export type Judged =
  | { readonly kind: 'pass' }
  | { readonly kind: 'ask'; readonly rule: string; readonly why: string }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'modify'; readonly input: JsonObject };

/** Judges calls that the first tier does not stop. */
export interface Stages {
  /** Whether any stage may examine calls of a conversation with this label. */
  readonly mayLook: (label: Label) => boolean;
  readonly judge: (staged: StagedCall) => Promise<Judged>;
}

/** Creates the stages of a step; undefined if none is configured. */
export function createStages(options: StagesStep): Stages | undefined {
  const { security, guards } = options;
  if (security === undefined && guards.length === 0) return undefined;
  const stages = new StepStages(options);
  const always = guards.length > 0 || security?.mode !== 'default';
  return { mayLook: ({ level }) => always || level === 'untrusted', judge: (staged) => stages.judge(staged) };
}

/** Errors that are not a verdict: they end the step, or the run. */
const ENDS_STEP: ReadonlySet<string> = new Set(['SKEIN_CANCELLED', 'SKEIN_QUESTION', 'SKEIN_BUDGET', 'SKEIN_SCRIPT']);

class StepStages {
  private aside: Promise<Aside> | undefined;

  constructor(private readonly options: StagesStep) {}

  async judge(staged: StagedCall): Promise<Judged> {
    const asked = await this.byGuards(staged);
    if (asked === 'deny') return { kind: 'refuse' };
    const judged = await this.byModels(staged);
    if (judged.kind !== 'pass' || asked === undefined) return judged;
    return { kind: 'ask', rule: `guard:${asked}`, why: `the guard ${asked} of the program wants a person to decide` };
  }

  /** Returns the name of a guard that wants a person to decide; undefined if there is none. */
  private async byGuards({ guarded, label, call, at, again, io }: StagedCall): Promise<string | undefined> {
    const { guards, agent, step } = this.options;
    let asks: string | undefined;
    for (const { name, check } of guards) {
      const seen: GuardCall = {
        path: step.path,
        agent,
        tool: guarded.tool,
        input: guarded.input,
        effect: guarded.effect,
        label,
      };
      const verdict = await this.verdictOf(async () => {
        const digest = (): string => digestText(recordText([seen, sourceText(check)]));
        const effect = `guard:${stageName(name, at, again)}`;
        const judging = stepOf(step, io).effect(effect, async () => guardVerdict(await check(seen)), {
          effect: 'read',
          identity: { digest },
          timeoutMs: STAGE_MS,
        });
        return { verdict: await judging, reason: '' };
      });
      step.note({ kind: 'guard.verdict', tool: call.name, by: name, ...verdict });
      if (verdict.verdict === 'deny') return 'deny';
      if (verdict.verdict === 'ask') asks ??= name;
    }
    return asks;
  }

  private async byModels(staged: StagedCall): Promise<Judged> {
    const { security } = this.options;
    const wanted = security === undefined ? 'none' : stagesFor(security, staged.guarded, staged.label);
    if (security === undefined || wanted === 'none') return { kind: 'pass' };
    const screened = await this.ask('screen', staged, security);
    if (screened.verdict === 'deny') return { kind: 'refuse' };
    if (screened.verdict === 'safe' && wanted === 'doubtful') return { kind: 'pass' };
    const doubt = `${screened.verdict}: ${screened.reason}`;
    const reviewed = await this.ask('review', staged, security, doubt);
    if (reviewed.verdict === 'modify' && !staged.again) return { kind: 'modify', input: reviewed.input };
    return { kind: reviewed.verdict === 'allow' ? 'pass' : 'refuse' };
  }

  private async ask(stage: Stage, staged: StagedCall, security: Security, doubt?: string): Promise<Opinion> {
    const { agent, task, step } = this.options;
    const { call, input, decision, texts, findings = [], at, again, io } = staged;
    const asked: CallToJudge = { agent, tool: call.name, input, task, decision, texts, findings };
    const { system, prompt, schema } = stagePrompt(stage, asked, { security, doubt });
    const opinion = await this.verdictOf(async (): Promise<Opinion> => {
      const aside = await this.open(security, io);
      const spec = { ...aside.spec, output: { name: 'verdict', schema } };
      const name = stageName(stage, at, again);
      const how = { phase: stage, name, system, prompt, depends: this.depends(security), timeoutMs: STAGE_MS };
      return opinionIn(stage, await askAside({ ...aside, spec, step: stepOf(step, io) }, how));
    });
    const { verdict, reason } = opinion;
    step.note({ kind: 'guard.verdict', tool: call.name, by: stage, verdict, reason });
    return opinion;
  }

  /** An error of a judge refuses the call. */
  private async verdictOf<T>(
    judging: () => Promise<T>,
  ): Promise<T | { readonly verdict: 'deny'; readonly reason: string }> {
    try {
      return await judging();
    } catch (error) {
      if (SkeinError.isInstance(error) && ENDS_STEP.has(error.code)) throw error;
      return { verdict: 'deny', reason: toErrorData(error).message };
    }
  }

  /** Opens one aside for all calls of the step; if opening fails, a later call may try again. */
  private async open({ model }: Security, io: StepIo | undefined): Promise<Aside> {
    const { models, step } = this.options;
    const opening = (this.aside ??= openAside(models, stepOf(step, io), {
      spec: phaseAgent(step.node, model),
      name: 'screen.open',
    }));
    return await opening;
  }

  /** The verdict depends on the rules and the mode. */
  private depends(security: Security): string {
    const { planted: _, ...rules } = this.options.rules;
    return canonicalJson([securityText(security), rules]);
  }
}

/** Inside a model call, effects are part of the model call's effect; if it records inner effects, each has a name of its own. */
function stepOf(step: StepContext, io: StepIo | undefined): StepContext {
  if (io === undefined) return step;
  const effect: StepContext['effect'] = async <T>(
    name: string,
    perform: (inner: StepIo) => T | Promise<T>,
    { identity }: { readonly identity?: object } = {},
  ): Promise<T> => {
    if (io.run === undefined) return await perform(io);
    return (await io.run(innerKey(step.path, name), { perform }, { identity } as never)) as T;
  };
  return Object.create(step, { effect: { value: effect } }) as StepContext;
}
