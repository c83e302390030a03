import type { Command } from 'commander';
import type { CommonFlags } from '../run/run-flags.js';
import { addRunOptions } from '../run/run-options.js';
import { RUN } from '../runs/find-run.js';

/** `skein resume RUN`. */
export function define(command: Command, done: (code: number) => void): void {
  addRunOptions(command)
    .argument(...RUN)
    .addHelpText('after', '\nFlags that you leave out keep the values that the run began with.')
    .action(async (run: string, flags: CommonFlags) => {
      const { goOn } = await import('../run/go-on.js');
      done(await goOn({ run, flags }));
    });
}
