import type { GuardRules } from '../guard/decide.js';
import type { Label } from '../guard/label.js';
import { declarationsOf, filledSends } from '../plan/declarations.js';
import type { Plan } from '../plan/plan.js';

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
