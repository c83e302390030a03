import { SkeinError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import { namesOf } from '../notations/machine/pack-names.js';
import type { Pack } from '../notations/machine/pack.js';

/** The inputs of a turn that a person can name, in addition to the variables. `start`: the context that a conversation begins with. */
const OF_TURNS: readonly string[] = ['message', 'event', 'context', 'data', 'start'];

/** The names of untrusted inputs, and the given values of variables, of which a pack need not declare all. */
interface MarkedInputs {
  readonly untrusted?: readonly string[] | undefined;
  readonly variables: object;
}

/**
 * Returns the inputs of a turn's run that are untrusted: those named, where all variables are one input.
 *
 * @throws SkeinError `SKEIN_INPUT` for a name that is neither a variable nor a part of a turn
 */
export function markedInputs(pack: Pack, { untrusted = [], variables }: MarkedInputs): readonly string[] {
  const names = [...new Set([...namesOf(pack).variables.keys(), ...Object.keys(variables)])];
  const known = [...names, ...OF_TURNS];
  const strange = untrusted.find((name) => !known.includes(name));
  if (strange !== undefined)
    throw new SkeinError('SKEIN_INPUT', `'${pack.id}' has no input '${strange}' that could be untrusted`, {
      hint: didYouMean(strange, known) ?? `it takes ${known.join(', ')}`,
    });
  const ofTurn = untrusted.filter((name) => OF_TURNS.includes(name));
  return untrusted.some((name) => names.includes(name)) ? [...ofTurn, 'variables'] : ofTurn;
}
