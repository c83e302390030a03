import type { Plan } from '../../plan/plan.js';
import type { CodeDigests, PlanDiff, StepChange } from '../../plan/diff.js';
import { printable } from '../view/printable.js';
import type { Style } from '../view/style.js';

/** A definition with its functions' digests. */
export interface DefinitionOf {
  readonly plan: Plan;
  readonly code: CodeDigests;
}

/** What a run goes on with, compared with what it had. */
export interface Comparison {
  readonly diff: PlanDiff;
  /** Paths of steps whose recorded results do not count any more. */
  readonly again: readonly string[];
  /** Paths of steps that run again, too, where what they build on comes out differently. */
  readonly maybe: readonly string[];
}

/** What else than the file makes steps run again. */
export interface FurtherChanges {
  /** Names of inputs with other values. */
  readonly inputs: readonly string[];
  /** Paths of steps whose records are not used. */
  readonly forgotten: readonly string[];
}

/** More steps than this are not listed by name. */
const LISTED = 30;

/**
 * Compares what was recorded with what is to be run. Only steps that are finished can run again.
 *
 * @example
 * const comparison = await compareDefinitions(before, after, { inputs: [], forgotten: [] });
 */
export async function compareDefinitions(
  before: DefinitionOf,
  after: DefinitionOf,
  { inputs, forgotten }: FurtherChanges,
): Promise<Comparison> {
  const { affected, diffPlans } = await import('../../runtime.js');
  const diff = diffPlans(before.plan, after.plan, before.code, after.code);
  const changed = diff.steps.filter(({ change, effect }) => change === 'changed' && effect === 'result');
  const again = [...new Set([...changed.map(({ path }) => path), ...forgotten])];
  const start = diff.steps.filter(({ change, effect }) => change !== 'removed' && effect !== 'policy');
  const steps = [...new Set([...start.map(({ path }) => path), ...forgotten])];
  const maybe = affected(after.plan, { steps, inputs: [...diff.inputs, ...inputs] });
  return {
    diff,
    again,
    maybe: [...new Set([...start.map(({ path }) => path), ...maybe])].filter((path) => !again.includes(path)),
  };
}

/** What was changed, and what it makes run again; `finished` says of which steps there are results. */
export function changeLines(
  { diff, again, maybe }: Comparison,
  finished: (path: string) => boolean,
  style: Style,
): readonly string[] {
  const sure = again.filter(finished);
  const perhaps = maybe.filter(finished);
  return [
    ...some(diff.steps.map((step) => stepLine(step, style))),
    ...diff.inputs.map((name) => `  input ${printable(name)} changed`),
    ...diff.plan.map((what) => `  ${printable(what)} changed`),
    ...(sure.length === 0 ? [] : [`runs again: ${names(sure)}`]),
    ...(perhaps.length === 0 ? [] : [`runs again where what it builds on comes out differently: ${names(perhaps)}`]),
  ];
}

function stepLine({ path, change, parts, effect }: StepChange, style: Style): string {
  const name = style.bold(printable(path));
  if (change !== 'changed') return `  step ${name} ${change}`;
  const kept = effect === 'result' ? '' : ' (what is recorded of it still counts)';
  return `  step ${name} changed: ${parts.map(printable).join(', ')}${kept}`;
}

function some(lines: readonly string[]): readonly string[] {
  return lines.length <= LISTED ? lines : [...lines.slice(0, LISTED), `  … and ${lines.length - LISTED} more`];
}

function names(paths: readonly string[]): string {
  return some(paths.map(printable)).join(', ');
}
