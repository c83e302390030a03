import { present } from '../../base/json.js';
import type { TrustNote } from '../../events/trust.js';
import type { Decision } from '../../guard/decide.js';
import { Lineage, traceText, type Trace } from '../../guard/lineage.js';
import type { PolicyCheck } from '../permissions/policy-check.js';
import type { ToolCall } from '../model.js';
import type { AgentStep, OpenedTool } from '../session.js';
import { inputOf } from './approval.js';
import type { ConversationTrust } from './conversation-trust.js';
import type { Gate } from './gate.js';

interface Telling extends Pick<AgentStep, 'step' | 'transcript'> {
  readonly trust: ConversationTrust;
}

export function promptOf({ transcript }: Pick<AgentStep, 'transcript'>): string {
  const [begun] = transcript.own;
  return begun?.role === 'user' ? begun.text : '';
}

/** Emits a note about a call unless the guard simply allowed it. */
export function tellDecided(
  { step, trust }: Telling,
  call: ToolCall,
  { kind, rule, why, declare, sources = [] }: Decision,
  traces: readonly Trace[],
  findings: readonly string[] = [],
): void {
  if (kind === 'allow') return;
  const { level, isPrivate } = trust.label;
  const found = findings.length === 0 ? undefined : findings;
  const facts = { rule, ...present({ why, declare, findings: found }), sources, lineage: traces.map(traceText) };
  const note = { kind: 'guard.decided', id: call.id, tool: call.name, decision: kind, ...facts, level } as const;
  step.note({ ...note, private: isPrivate } satisfies TrustNote);
}

/** Emits a note about a refused call if a rule of the workflow or a policy forbids it. */
export function tellDenied(
  parts: Telling & { readonly gate: Gate; readonly policy: PolicyCheck },
  call: ToolCall,
  tool: OpenedTool | undefined,
): void {
  const { gate, policy, trust } = parts;
  const input = inputOf(call);
  const rule = gate.forbids(call);
  const why =
    rule === undefined
      ? policy.refusal({ name: call.name, input, tool })
      : `the rule ${JSON.stringify(rule)} of the workflow forbids it`;
  if (why === undefined) return;
  const heard = trust.isTrusted ? [] : trust.heardTexts(promptOf(parts));
  const decision = { kind: 'deny', rule: rule === undefined ? 'policy' : 'permissions', why } as const;
  tellDecided(parts, call, { ...decision, sources: trust.label.sources }, new Lineage(heard).of(input ?? {}));
}
