import { present } from '../base/json.js';
import { guardQuestion } from '../agent/loop/guard-question.js';
import { policyCheck } from '../agent/permissions/policy-check.js';
import type { NodeGuard } from '../engine/ports/node-guard.js';
import type { Decision, GuardRules } from '../guard/decide.js';
import { decide } from '../guard/decide.js';
import { effectOf } from '../guard/effects.js';
import type { Label } from '../guard/label.js';
import { declarationsOf, unitedRules } from '../guard/policy.js';
import type { NodeCall } from '../plan/node-call.js';
import type { Policy } from '../plan/policy.js';

/** What holds for the tools that steps call by themselves. */
interface Holding {
  /** What the workflow declares. */
  readonly rules: GuardRules;
  readonly policies: readonly Policy[];
  readonly cwd: string;
}

/** The same decision as for a call that an agent wants: policies, then who had a say in it. */
export function nodeGuard({ rules, policies, cwd }: Holding): NodeGuard {
  const united = unitedRules(rules, declarationsOf(policies));
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
