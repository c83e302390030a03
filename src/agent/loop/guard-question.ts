import { canonicalJson, digestText } from '../../base/hash.js';
import { isPlainObject, jsonIn, present, recordText, type JsonObject } from '../../base/json.js';
import type { Question } from '../../engine/ports/durable.js';
import type { Decision, GuardRules } from '../../guard/decide.js';
import type { Label } from '../../guard/label.js';
import { traceText, type Trace } from '../../guard/lineage.js';
import { freeSchema } from '../../lang/answers.js';
import type { ToolCall } from '../model.js';
import { CHOICES, callEvidence, inputOf, isAllowed } from './approval.js';

/** A call that needs a person's approval, with the findings of the guard. */
export interface GuardedCallToShow {
  readonly call: ToolCall;
  readonly decision: Decision;
  /** Where the call's arguments occur in the texts read. */
  readonly traces: readonly Trace[];
  readonly findings?: readonly string[];
  /** Whether the arguments form a whole, such as a command: none of them can be left free. */
  readonly isWhole: boolean;
}

/** What all calls of a question share. */
interface Circumstances {
  /** `the agent "x"`, `the step "x"`. */
  readonly who: string;
  readonly label: Label;
  readonly rules: GuardRules;
}

/**
 * The question to a person about calls that others may have influenced. All calls that wait together form one question, and each is shown
 * in full. A digest of everything shown identifies the question, so the answer applies only to these calls.
 */
export function guardQuestion({ who, label, rules }: Circumstances, calls: readonly GuardedCallToShow[]): Question {
  const { level, isPrivate } = label;
  const known = { label: { level, private: isPrivate }, policy: digestText(recordText(rules)) };
  const shown = calls.map(({ call, decision: { why, sources, rule, declare }, traces, findings = [] }) => ({
    ...callEvidence(call),
    ...present({
      why,
      sources,
      lineage: traces.length === 0 ? undefined : traces.map(traceText),
      findings: findings.length === 0 ? undefined : findings,
      rule,
      declare,
    }),
  }));
  const [first] = calls;
  const one = shown.length === 1 && first !== undefined;
  const what = one ? `call ${first.call.name}` : `make these ${shown.length} calls`;
  return {
    text: `May ${who} ${what}? Untrusted text influenced ${one ? 'it' : 'them'}.`,
    choices: CHOICES,
    schema: freeSchema(CHOICES, 'allow', namesOf(calls)),
    evidence: one ? { ...shown[0], ...known } : { calls: shown, ...known },
  };
}

/** Names of arguments that a person may leave free. */
function namesOf(calls: readonly GuardedCallToShow[]): readonly string[] {
  const inputs = calls.flatMap(({ call, isWhole }) => (isWhole ? [] : [inputOf(call) ?? {}]));
  return [...new Set(inputs.flatMap((input) => Object.keys(input)))].toSorted();
}

/** A person's yes to the guard. */
export interface Yes {
  /** Arguments that may take other values from then on, in this run. */
  readonly free: readonly string[];
}

/** Parses a person's answer to the guard; undefined if it is not a clear yes. */
export function yesIn(answer: string): Yes | undefined {
  if (isAllowed(answer)) return { free: [] };
  const value = jsonIn(answer);
  if (!isPlainObject(value) || value['answer'] !== 'allow' || !Array.isArray(value['free'])) return undefined;
  return { free: value['free'].filter((name) => typeof name === 'string') };
}

/** A call that a person allowed with some arguments left free: the others stay as shown. */
export interface WidenedYes {
  /** Who calls: not a name, which another agent may have too. */
  readonly agent: string;
  readonly tool: string;
  /** The arguments that stay, as text. */
  readonly fixed: string;
  readonly free: ReadonlySet<string>;
}

/** Returns what a yes allows beyond its call; undefined if nothing. */
export function widened(
  agent: string,
  { call, isWhole }: Pick<GuardedCallToShow, 'call' | 'isWhole'>,
  { free }: Yes,
): WidenedYes | undefined {
  const input = inputOf(call);
  const names = new Set(free.filter((name) => input !== undefined && Object.hasOwn(input, name)));
  if (input === undefined || isWhole || names.size === 0) return undefined;
  return { agent, tool: call.name, fixed: fixedText(input, names), free: names };
}

/** Whether a call differs from an allowed one only in arguments that were left free. */
export function isWithin({ agent, tool, fixed, free }: WidenedYes, by: string, call: ToolCall): boolean {
  const input = inputOf(call);
  return input !== undefined && agent === by && tool === call.name && fixedText(input, free) === fixed;
}

function fixedText(input: JsonObject, free: ReadonlySet<string>): string {
  return canonicalJson(Object.fromEntries(Object.entries(input).filter(([name]) => !free.has(name))));
}
