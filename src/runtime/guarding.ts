import { present } from '../base/json.js';
import { guardQuestion } from '../agent/loop/guard-question.js';
import { policyCheck } from '../agent/permissions/policy-check.js';
import type { NodeGuard } from '../engine/ports/executor.js';
import type { Decision, GuardRules } from '../guard/decide.js';
import { decide } from '../guard/decide.js';
import { effectOf } from '../guard/effects.js';
import type { Label } from '../guard/label.js';
import { declarationsOf as declaredBy, unitedRules } from '../guard/policy.js';
import type { NodeCall } from '../plan/tool-use.js';
import type { Policy } from '../plan/policy.js';
import { declarationsOf, filledSends } from '../plan/declarations.js';
import type { Plan } from '../plan/plan.js';

/** What holds for the tools that steps call by themselves. */
interface Holding {
  /** What the workflow declares. */
  readonly rules: GuardRules;
  readonly policies: readonly Policy[];
  readonly cwd: string;
}

/** The same decision as for a call that an agent wants: policies, then who had a say in it. */
export function nodeGuard({ rules, policies, cwd }: Holding): NodeGuard {
  const united = unitedRules(rules, declaredBy(policies));
  return (call, heard, path) => {
    const label = united.project === 'untrusted' ? strangers(heard) : heard;
    const { tool, effect, input } = call;
    const refusal = policyCheck(policies, { agent: path, cwd }).refusal({ name: tool, input, tool: { effect } });
    const decision: Decision =
      refusal === undefined ? ofLabel(call, label, united) : { kind: 'deny', rule: 'policy', why: refusal };
    if (decision.kind === 'allow') return undefined;
    const { kind, rule, why = rule, declare, sources = label.sources } = decision;
    const facts = { rule, why, sources, lineage: [], level: label.level, private: label.isPrivate };
    const note = { kind: 'guard.decided', id: path, tool, decision: kind, ...facts, ...present({ declare }) } as const;
    if (kind === 'deny') return { note, why };
    const shown = { call: { id: path, name: tool, input: JSON.stringify(input) }, decision, traces: [], isWhole: true };
    return { note, why, question: guardQuestion({ who: `the step "${path}"`, label, rules: united }, [shown]) };
  };
}

function ofLabel({ tool, effect, input }: NodeCall, label: Label, rules: GuardRules): Decision {
  const does = effectOf({ builtIn: undefined, effect }, input);
  return decide({ effect: does, tool, input, seesPrivate: label.isPrivate }, label, rules);
}

/** Where the project is a stranger's, so is what its steps do. */
function strangers({ isPrivate, sources }: Label): Label {
  return { level: 'untrusted', isPrivate, sources: [...sources, 'project'] };
}

/** What decides about the values that declarations refer to. */
export interface GivenValues {
  /** Inputs of the run. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Names of those that the user has no say in. */
  readonly untrusted?: readonly string[] | undefined;
  /** What had a say in the run itself: that of the run that started it. */
  readonly influence?: Label | undefined;
}

/**
 * What a workflow allows beforehand. Whoever runs a plan has said yes to it: the command line asks before it starts a file, and a program runs what its
 * author has loaded. Only what the workflow itself declares counts, not those that it calls.
 */
export function declaredRules(plan: Plan, { inputs, untrusted = [], influence }: GivenValues): GuardRules {
  const { sends, ...rules } = declarationsOf(plan);
  if (sends === undefined) return rules;
  const isTrusted = influence === undefined || influence.level === 'trusted';
  const valueOf = (name: string): { readonly value: unknown } | undefined => {
    if (!isTrusted || untrusted.includes(name)) return undefined;
    const spec = plan.inputs.find((input) => input.name === name);
    const value = Object.hasOwn(inputs, name) ? inputs[name] : spec?.default;
    return value === undefined ? undefined : { value };
  };
  return { ...rules, sends: filledSends(sends, valueOf) };
}
