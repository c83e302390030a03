import type { Command } from 'commander';
import type { GivenInput } from './given-inputs.js';
import { readAssignment, readJsonAssignment } from './given-inputs.js';

/**
 * Flags of commands that start a run: its inputs, and what is done instead of a recorded run. Gives the list that the inputs are put
 * into, in the order of the command line.
 *
 * @example
 * const inputs = addInputOptions(command, 'an input');
 */
export function addInputOptions(command: Command, what: string): readonly GivenInput[] {
  const inputs: GivenInput[] = [];
  const take = (isFile: boolean) => (text: string) => {
    inputs.push(readAssignment(text, isFile));
    return inputs;
  };
  const takeJson = (text: string) => {
    inputs.push(readJsonAssignment(text));
    return inputs;
  };
  command
    .option('-i, --input <name=value>', `${what} of the workflow; repeat for each (also --inputs)`, take(false))
    .option('--input-file <name=file>', `${what} from a file, - for stdin`, take(true))
    .option('--input-json <name=json>', 'an input that is JSON: a number, a list, an object', takeJson)
    .option('--dry-run', 'show what the run would do, and run nothing (the same as skein plan)')
    .option('--no-store', 'do not record the run; it cannot be resumed');
  return inputs;
}
