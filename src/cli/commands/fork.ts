import type { Command } from 'commander';
import type { GivenInput } from '../run/given-inputs.js';
import { readAssignment, readJsonAssignment } from '../run/given-inputs.js';
import type { CommonFlags } from '../run/run-flags.js';
import { addRunOptions } from '../run/run-options.js';

interface ParsedOptions extends CommonFlags {
  readonly set?: readonly GivenInput[];
  readonly inputFile?: readonly GivenInput[];
  readonly inputJson?: readonly GivenInput[];
  readonly from?: string;
  readonly file?: string;
}

/** `skein fork RUN`. */
export function define(command: Command, done: (code: number) => void): void {
  const inputs: GivenInput[] = [];
  const take = (flag: string, isFile: boolean) => (text: string) => {
    inputs.push(readAssignment(text, isFile, flag));
    return inputs;
  };
  const takeJson = (text: string) => {
    inputs.push(readJsonAssignment(text));
    return inputs;
  };
  addRunOptions(command)
    .argument('<run>', 'the run: the end of its id, or -1 for the newest')
    .option(
      '--set <name=value>',
      'a new value for an input or any key of the state; repeat for each',
      take('--set', false),
    )
    .option('--input-file <name=file>', 'such a value, read from a file; - for stdin', take('--input-file', true))
    .option('--input-json <name=json>', 'such a value that is JSON: a number, a list, an object', takeJson)
    .option('--from <step>', 'run this step and everything after it again')
    .option('--file <file>', 'another workflow file than that of the run')
    .addHelpText('after', '\nFlags that are not given keep the values that the run began with.')
    .action(async (run: string, options: ParsedOptions) => {
      const { set: _set, inputFile: _inputFile, inputJson: _inputJson, from, file, ...flags } = options;
      const { goOn } = await import('../run/go-on.js');
      const fork = { inputs, ...(from === undefined ? {} : { from }), ...(file === undefined ? {} : { file }) };
      done(await goOn({ run, flags, fork }));
    });
}
