import { refusedByPerson, unmadeCall } from '../base/decided.js';
import type { SkeinError } from '../base/errors.js';
import { present, recordText, type JsonObject } from '../base/json.js';
import { answerNote } from '../events/question.js';
import { guardQuestion, widened, yesIn, type GuardedCallToShow } from '../agent/loop/guard-question.js';
import { askedBy } from '../agent/loop/guard.js';
import { createStages, type Stages, type StagesOf } from '../agent/loop/stages.js';
import { policyCheck } from '../agent/permissions/policy-check.js';
import type { RunTrust } from '../agent/run-trust.js';
import type { GuardedStep, NodeGuard } from '../engine/ports/executor.js';
import { decide, type Decision, type GuardedCall } from '../guard/decide.js';
import { effectOf } from '../guard/effects.js';
import type { Label } from '../guard/label.js';
import type { ClearedCall, FreedArguments, NodeCall } from '../plan/tool-use.js';
import type { Policy } from '../plan/policy.js';

/** What applies to tools that steps call directly. */
export interface NodeGuarding extends Omit<StagesOf, 'security'> {
  /** The security settings for the models that review calls of a step. */
  readonly security: (path: string) => StagesOf['security'];
  readonly policies: readonly Policy[];
  readonly cwd: string;
  /** The guard's view of the run, with the declarations of the workflow and the policies. */
  readonly run: RunTrust;
}

/** The guard of tool calls that functions of steps make. It decides like the guard of an agent's call. */
export function nodeGuard(holding: NodeGuarding): NodeGuard {
  const { run, guards, security } = holding;
  return {
    clear(call, heard, { id, path, caller }) {
      const label = run.rules.project === 'untrusted' ? strangers(heard) : heard;
      const wanted = new WantedCall(call, { holding, label, id, path, caller });
      const isLookedAt = guards.length > 0 || security(path) !== undefined;
      if (!isLookedAt && wanted.decision.kind === 'allow') return undefined;
      return async (step) => await cleared(wanted, step);
    },
    free(caller, freed) {
      for (const { tool, fixed, free } of freed) run.widen({ agent: caller, tool, fixed, free: new Set(free) });
    },
  };
}

interface Wanting {
  readonly holding: NodeGuarding;
  readonly label: Label;
  readonly id: string;
  readonly path: string;
  /** Who calls, for what a person widens. */
  readonly caller: () => string;
}

/** A call that a step wants to make, and the decision about it before any model is involved. */
class WantedCall {
  readonly guarded: GuardedCall & { readonly isTrustedRead: boolean };
  readonly decision: Decision;

  constructor(
    readonly call: NodeCall,
    readonly by: Wanting,
  ) {
    const { tool, effect, input, isTrusted } = call;
    const does = effectOf({ builtIn: undefined, effect }, input);
    const isTrustedRead = does === 'read' && isTrusted === true;
    this.guarded = { effect: does, tool, input, seesPrivate: by.label.isPrivate, isTrustedRead };
    this.decision = this.decided();
  }

  /** The call in the form in which a model would make it. */
  get shown(): GuardedCallToShow['call'] {
    const { tool, input } = this.call;
    return { id: this.by.path, name: tool, input: recordText(input) };
  }

  with(input: JsonObject): WantedCall {
    return new WantedCall({ ...this.call, input }, this.by);
  }

  private decided(): Decision {
    const { holding, label, path, caller } = this.by;
    const { tool, effect, input } = this.call;
    const { policies, cwd, run } = holding;
    const why = policyCheck(policies, { agent: path, cwd }).refusal({ name: tool, input, tool: { effect } });
    if (why !== undefined) return { kind: 'deny', rule: 'policy', why };
    const decision = decide(this.guarded, label, run.rules);
    return decision.kind !== 'allow' && run.allows(caller(), this.shown)
      ? { kind: 'allow', rule: 'widened' }
      : decision;
  }
}

/** @throws SkeinError `SKEIN_TOOL_REFUSED` */
async function cleared(first: WantedCall, step: GuardedStep): Promise<ClearedCall> {
  const { holding, label, id, path } = first.by;
  const { guards, models, run } = holding;
  const stages = createStages({
    models,
    guards,
    security: holding.security(path),
    step: step.context,
    agent: id,
    task: `call ${first.call.tool}`,
    rules: run.rules,
  });
  const { wanted, decision } = await judged(first, { stages, step });
  const { input } = wanted.call;
  if (decision.kind === 'allow') return { input, isAllowed: false };
  const shown = { call: wanted.shown, decision, traces: [], isWhole: false };
  const question = guardQuestion({ who: `the step "${path}"`, label, rules: run.rules }, [shown]);
  const answer = await step.ask(question);
  step.context.note(answerNote(answer));
  const yes = yesIn(typeof answer === 'string' ? answer : recordText(answer));
  if (yes === undefined) throw refusedByPerson(`this call of ${wanted.call.tool}`, TAINT);
  const more = widened(first.by.caller(), shown, yes);
  if (more === undefined) return { input, isAllowed: true };
  run.widen(more);
  const { tool, fixed, free } = more;
  return { input, isAllowed: true, freed: { tool, fixed, free: [...free] } satisfies FreedArguments };
}

interface Judging {
  readonly stages: Stages | undefined;
  readonly step: GuardedStep;
}

/** Returns a call and its decision after the review by guards and models. A call that a reviewer changes is reviewed again. */
async function judged(
  wanted: WantedCall,
  judging: Judging,
  again = false,
): Promise<{ readonly wanted: WantedCall; readonly decision: Decision }> {
  const { stages, step } = judging;
  const { call, by, decision, guarded } = wanted;
  const { label } = by;
  if (decision.kind === 'deny') {
    tell(wanted, decision, step);
    throw refused(`this call of ${call.tool} was refused: ${decision.why ?? decision.rule}`);
  }
  const said =
    stages?.mayLook(label) === true
      ? await stages.judge({
          call: wanted.shown,
          input: call.input,
          guarded,
          decision,
          label,
          texts: [],
          at: '1.1',
          again,
          io: step.io,
        })
      : PASS;
  if (said.kind === 'refuse')
    throw refused(`this call of ${call.tool} was refused by a security check of this workflow`);
  if (said.kind === 'modify') return await judged(wanted.with(said.input), judging, true);
  const settled = said.kind === 'ask' ? askedBy(said, decision, label) : decision;
  if (settled.kind !== 'allow') tell(wanted, settled, step);
  return { wanted, decision: settled };
}

const PASS = { kind: 'pass' } as const;

function tell({ call, by }: WantedCall, decision: Decision, { context }: GuardedStep): void {
  const { kind, rule, why = rule, declare, sources = by.label.sources } = decision;
  if (kind === 'allow') return;
  const { level, isPrivate } = by.label;
  const facts = { rule, why, sources, lineage: [], level, private: isPrivate, ...present({ declare }) };
  context.note({ kind: 'guard.decided', id: by.path, tool: call.tool, decision: kind, ...facts });
}

/** In an untrusted project, the actions of its steps are untrusted too. */
function strangers({ isPrivate, sources }: Label): Label {
  return { level: 'untrusted', isPrivate, sources: [...sources, 'project'] };
}

const TAINT = 'skein show RUN --taint shows what influenced it';

function refused(message: string): SkeinError {
  return unmadeCall('SKEIN_TOOL_REFUSED', message, { hint: TAINT, retryable: false });
}
