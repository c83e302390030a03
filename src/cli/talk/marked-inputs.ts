import { SkeinError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { LoadedMachine } from '../../talking.js';
import { namesOf } from '../../talking.js';

/** The inputs of a turn that a person can name, in addition to the variables. */
const OF_TURNS = ['message', 'event', 'context', 'data'];

/**
 * Returns the inputs of a turn's run that are untrusted: those named, where all variables are one input.
 *
 * @throws SkeinError `SKEIN_INPUT` for a name that is neither a variable nor a part of a turn
 */
export function markedInputs({ pack }: LoadedMachine, named: readonly string[] = []): readonly string[] {
  const variables = [...namesOf(pack).variables.keys()];
  const known = [...variables, ...OF_TURNS];
  const strange = named.find((name) => !known.includes(name));
  if (strange !== undefined)
    throw new SkeinError('SKEIN_INPUT', `'${pack.id}' has no input '${strange}' that could be untrusted`, {
      hint: didYouMean(strange, known) ?? `it takes ${known.join(', ')}`,
    });
  const ofTurn = named.filter((name) => OF_TURNS.includes(name));
  return named.some((name) => variables.includes(name)) ? [...ofTurn, 'variables'] : ofTurn;
}
