import type { GuardRules } from '../guard/decide.js';
import type { Label } from '../guard/label.js';
import { declarationsOf, filledSends } from '../plan/declarations.js';
import type { Plan } from '../plan/plan.js';
import { sandboxedIn } from '../plan/powers.js';
import type { RunOptions } from './options.js';

export interface GivenValues {
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Names of the inputs that do not come from the user. */
  readonly untrusted?: readonly string[] | undefined;
  /** The label of the influence on the run itself: that of the run that started it. */
  readonly influence?: Label | undefined;
}

/**
 * Returns what a workflow allows in advance. Whoever runs a plan has agreed to it: the command line asks before it starts a file, and a
 * program runs what its author loaded. Only the declarations of the workflow itself count, not those of workflows that it calls.
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

/** A mocked or scripted run starts no tools. */
export function isMock({ models }: RunOptions): boolean {
  return models?.mock === true || models?.script !== undefined;
}

/**
 * Refuses to begin a run if the sandbox that it needs is missing. Returns undefined if the run needs no sandbox.
 *
 * @throws SkeinError `SKEIN_SANDBOX`
 */
export function sandboxCheck(plan: Plan, options: RunOptions): Promise<unknown> | undefined {
  const who = isMock(options) ? undefined : sandboxedIn(plan);
  if (who === undefined) return undefined;
  return import('../agent/sandbox/sandbox.js').then(async ({ needSandbox }) => needSandbox(who));
}
