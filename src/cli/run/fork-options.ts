import type { InputSpec, Plan } from '../../plan/plan.js';
import type { ForkStart } from '../../recorded-runs.js';
import type { RecordedRun } from './recorded-run.js';

/** What a fork does again, and what it sets. */
export interface ForkPlan extends ForkStart {
  /** Values of the state that are not inputs. */
  readonly set: Readonly<Record<string, unknown>>;
}

/**
 * What a fork does again: the step that it begins at, and all that depends on it; and what of the given values are not inputs.
 *
 * @throws SkeinError `SKEIN_INPUT` for a key that the workflow does not have, `SKEIN_USAGE` for such a step
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
  // A notation may let anything be given: what is declared nowhere and used nowhere is not known all the same.
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

/** Says which names are keys of the state, or nodes that have one, and no inputs. */
export function keyOfState({ inputs, channels, nodes }: Plan): (name: string) => boolean {
  const keys = new Set([...channels.map(({ name }) => name), ...nodes.flatMap(({ id, output = id }) => [id, output])]);
  for (const { name } of inputs) keys.delete(name);
  return (name) => keys.has(name);
}

const NOTHING: ForkStart = { forget: [], steps: [] };
