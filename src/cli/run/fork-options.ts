import { SkeinError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { Plan } from '../../plan/plan.js';
import type { ForkStart } from '../../runtime.js';
import type { RecordedRun } from './recorded-run.js';

/**
 * What a fork does again: the step that it begins at, and all that depends on it.
 *
 * @throws SkeinError `SKEIN_INPUT` for an input that the workflow does not have, `SKEIN_USAGE` for such a step
 */
export async function checkFork(
  run: RecordedRun,
  plan: Plan,
  inputs: Readonly<Record<string, unknown>>,
  from: string | undefined,
): Promise<ForkStart> {
  const [{ affected }, { forkStart }] = await Promise.all([import('../../plan.js'), import('../../runtime.js')]);
  // A notation may let anything be given: what is declared nowhere and used nowhere is not known all the same.
  const isUsed = (name: string): boolean => affected(plan, { steps: [], inputs: [name] }).length > 0;
  const known = plan.inputs.filter(({ name, at }) => at !== undefined || isUsed(name)).map((input) => input.name);
  // Functions may read what is declared nowhere.
  const unknown = plan.openInputs === true ? [] : Object.keys(inputs).filter((name) => !known.includes(name));
  const [first] = unknown;
  if (first !== undefined) {
    const listed = known.length === 0 ? 'the workflow has none' : `its inputs: ${known.join(', ')}`;
    throw new SkeinError(
      'SKEIN_INPUT',
      `the workflow has no input ${unknown.map((name) => JSON.stringify(name)).join(', ')}`,
      {
        hint: didYouMean(first, known) ?? listed,
      },
    );
  }
  return from === undefined ? NOTHING : forkStart(run.record.family, plan, { from }, '--from');
}

const NOTHING: ForkStart = { forget: [], steps: [] };
