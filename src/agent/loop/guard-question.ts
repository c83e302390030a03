import { canonicalJson, digestText } from '../../base/hash.js';
import type { JsonObject } from '../../base/json.js';
import { isPlainObject, present, recordText } from '../../base/json.js';
import type { Question } from '../../engine/ports/durable.js';
import type { Decision, GuardRules } from '../../guard/decide.js';
import type { Label } from '../../guard/label.js';
import type { Trace } from '../../guard/lineage.js';
import { traceText } from '../../guard/lineage.js';
import { freeSchema, parsedJson } from '../../lang/answers.js';
import type { ToolCall } from '../model.js';
import { CHOICES, callEvidence, inputOf, isAllowed } from './approval.js';

/** What the guard says of a call that a person must allow. */
export interface GuardedCallToShow {
  readonly call: ToolCall;
  readonly decision: Decision;
  /** Where its arguments stand in what was heard. */
  readonly traces: readonly Trace[];
  /** What patterns found in it. */
  readonly findings?: readonly string[];
  /** All of its arguments are one thing, such as a command: none of them can be left free. */
  readonly isWhole: boolean;
}

/** What is the same for all calls of a question. */
interface Circumstances {
  /** `the agent "x"`, `the step "x"`. */
  readonly who: string;
  readonly label: Label;
  readonly rules: GuardRules;
}

/**
 * What a person is asked about calls in which others may have had a say. All that wait together are one question, and each is shown whole. The
 * question is known by a digest of all that it shows, so the answer counts for exactly this.
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
    text: `May ${who} ${what}? What it has read had a say in ${one ? 'it' : 'them'}.`,
    choices: CHOICES,
    schema: freeSchema(CHOICES, 'allow', namesOf(calls)),
    evidence: one ? { ...shown[0], ...known } : { calls: shown, ...known },
  };
}

/** Arguments that a person may leave free. */
function namesOf(calls: readonly GuardedCallToShow[]): readonly string[] {
  const inputs = calls.flatMap(({ call, isWhole }) => (isWhole ? [] : [inputOf(call) ?? {}]));
  return [...new Set(inputs.flatMap((input) => Object.keys(input)))].toSorted();
}

/** A yes to the guard. */
export interface Yes {
  /** Arguments that may be others from now on, in this run. */
  readonly free: readonly string[];
}

/** What a person said to the guard; undefined: anything but a clear yes is a no. */
export function yesIn(answer: string): Yes | undefined {
  if (isAllowed(answer)) return { free: [] };
  const value = parsedJson(answer)?.value;
  if (!isPlainObject(value) || value['answer'] !== 'allow' || !Array.isArray(value['free'])) return undefined;
  return { free: value['free'].filter((name) => typeof name === 'string') };
}

/** A call that a person allowed with some of its arguments left free: the others stay as they were shown. */
export interface WidenedYes {
  readonly agent: string;
  readonly tool: string;
  /** The arguments that stay, as text. */
  readonly fixed: string;
  readonly free: ReadonlySet<string>;
}

/** What a yes to a call allows beyond it; undefined: nothing. */
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

/** Whether a call differs from one that was allowed in nothing but arguments that were left free. */
export function isWithin({ agent, tool, fixed, free }: WidenedYes, by: string, call: ToolCall): boolean {
  const input = inputOf(call);
  return input !== undefined && agent === by && tool === call.name && fixedText(input, free) === fixed;
}

function fixedText(input: JsonObject, free: ReadonlySet<string>): string {
  return canonicalJson(Object.fromEntries(Object.entries(input).filter(([name]) => !free.has(name))));
}
