import type { InputSpec, Plan } from '../../plan/plan.js';
import type { ForkStart } from '../../recorded-runs.js';
import type { RecordedRun } from './recorded-run.js';

/** What a fork runs again, and what it sets. */
export interface ForkPlan extends ForkStart {
  /** Values of the state that are not inputs. */
  readonly set: Readonly<Record<string, unknown>>;
}

/**
 * Returns what a fork runs again, the first step and all that depend on it, and which of the given values are not inputs.
 *
 * @throws SkeinError `SKEIN_INPUT` for a key that the workflow does not have, `SKEIN_USAGE` for an unknown step
 */
export async function checkFork(
  run: RecordedRun,
  plan: Plan,
  inputs: Readonly<Record<string, unknown>>,
  from: string | undefined,
): Promise<ForkPlan> {
  const [{ readsInput }, { forkEdits, forkStart }] = await Promise.all([
    import('../../plan.js'),
    import('../../recorded-runs.js'),
  ]);
  // A notation may accept any input; one that is neither declared nor used is still unknown.
  const isKnown = ({ name, at }: InputSpec): boolean => at !== undefined || readsInput(plan, name);
  const known = plan.inputs.filter(isKnown).map((input) => input.name);
  const others = Object.entries(inputs).filter(([name]) => !known.includes(name));
  const { family } = run.record;
  const start = from === undefined ? NOTHING : forkStart(family, plan, { from }, '--from');
  const set = Object.fromEntries(others);
  forkEdits(run.store, { ...plan, inputs: plan.inputs.filter(({ name }) => known.includes(name)) }, family, {
    run: run.id,
    forget: start.forget,
    set,
  });
  return { ...start, set };
}

/** Returns whether a name is a key of the state, or a node that has one, and not an input. */
export function keyOfState({ inputs, channels, nodes }: Plan): (name: string) => boolean {
  const keys = new Set([...channels.map(({ name }) => name), ...nodes.flatMap(({ id, output = id }) => [id, output])]);
  for (const { name } of inputs) keys.delete(name);
  return (name) => keys.has(name);
}

const NOTHING: ForkStart = { forget: [], steps: [] };
