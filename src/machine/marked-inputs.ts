import { SkeinError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import { namesOf } from '../notations/machine/pack-names.js';
import type { Pack } from '../notations/machine/pack.js';

/** The inputs of a turn that a person can name, in addition to the variables. `start`: the context that a conversation begins with. */
const OF_TURNS: readonly string[] = ['message', 'event', 'context', 'data', 'start'];

/** The names of marked inputs, what they are marked as, and the given values of variables, of which a pack need not declare all. */
interface MarkedInputs {
  readonly names: readonly string[];
  readonly mark: 'untrusted' | 'private';
  readonly variables: object;
}

/**
 * Returns the inputs of a turn's run that are marked: those named, where all variables are one input.
 *
 * @throws SkeinError `SKEIN_INPUT` for a name that is neither a variable nor a part of a turn
 */
export function markedInputs(pack: Pack, { names: marked, mark, variables }: MarkedInputs): readonly string[] {
  const names = [...new Set([...namesOf(pack).variables.keys(), ...Object.keys(variables)])];
  const known = [...names, ...OF_TURNS];
  const strange = marked.find((name) => !known.includes(name));
  if (strange !== undefined)
    throw new SkeinError('SKEIN_INPUT', `'${pack.id}' has no input '${strange}' that could be ${mark}`, {
      hint: didYouMean(strange, known) ?? `it takes ${known.join(', ')}`,
    });
  const ofTurn = marked.filter((name) => OF_TURNS.includes(name));
  return marked.some((name) => names.includes(name)) ? [...ofTurn, 'variables'] : ofTurn;
}
