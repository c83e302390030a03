import type { Command } from 'commander';
import { present } from '../../base/json.js';
import { addValueOptions } from '../run/given-inputs.js';
import type { CommonFlags } from '../run/run-flags.js';
import { addRunOptions } from '../run/run-options.js';
import { RUN } from '../runs/find-run.js';

interface ParsedOptions extends CommonFlags {
  readonly from?: string;
  readonly file?: string;
}

/** `skein fork RUN`. */
export function define(command: Command, done: (code: number) => void): void {
  command.argument(...RUN);
  const about = 'a new value for an input or any key of the state; repeat for each';
  const inputs = addValueOptions(command, '--set', about, 'such a value');
  command
    .option('--from <step>', 'run this step and everything after it again')
    .option('--file <file>', 'use another workflow file than the run did');
  addRunOptions(command)
    .addHelpText('after', '\nFlags that you leave out keep the values that the run began with.')
    .action(async (run: string, { from, file, ...flags }: ParsedOptions) => {
      const { goOn } = await import('../run/go-on.js');
      done(await goOn({ run, flags, fork: { inputs, ...present({ from, file }) } }));
    });
}
