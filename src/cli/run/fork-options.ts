import { SkeinError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { Plan } from '../../plan/plan.js';

/**
 * The paths of the steps of which a fork uses nothing that is recorded: the one that it begins at, and all that comes after it.
 *
 * @throws SkeinError `SKEIN_INPUT` for an input that the workflow does not have, `SKEIN_USAGE` for such a step
 */
export async function checkFork(
  plan: Plan,
  inputs: Readonly<Record<string, unknown>>,
  from: string | undefined,
): Promise<readonly string[]> {
  const { affected } = await import('../../runtime.js');
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
  if (from === undefined) return [];
  const paths = [...pathsIn(plan, '')];
  if (!paths.includes(from)) {
    throw new SkeinError('SKEIN_USAGE', `--from: the workflow has no step ${JSON.stringify(from)}`, {
      hint: didYouMean(from, paths) ?? `its steps: ${paths.slice(0, 20).join(', ')}`,
    });
  }
  return [from, ...affected(plan, { steps: [from] })];
}

function* pathsIn(plan: Plan, prefix: string): Generator<string> {
  for (const node of plan.nodes) {
    yield prefix + node.id;
    if ('plan' in node) yield* pathsIn(node.plan, `${prefix}${node.id}/`);
  }
}
