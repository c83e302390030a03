import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import { addInputOptions, type GivenInput } from '../run/given-inputs.js';
import { runCommand } from '../run/run-command.js';
import { addRunOptions, addStartOptions, addTalkOptions, checkCount } from '../run/run-options.js';
import type { RunFlags } from '../run/run-flags.js';
import { addThreadOptions } from '../run/thread-options.js';

interface ParsedOptions extends Omit<RunFlags, 'file' | 'inputs'> {
  readonly workflow?: string;
  readonly input?: readonly GivenInput[];
  readonly dryRun?: boolean;
}

/** `skein run FILE`. */
export function define(command: Command, done: (code: number) => void): void {
  const inputs = addInputOptions(command, 'an input');
  addStartOptions(addTalkOptions(addThreadOptions(addRunOptions(command))))
    .argument('[file]', 'the workflow file, or a pack')
    .option('-w, --workflow <file>', 'the workflow file, as a flag')
    .allowExcessArguments()
    .addHelpText('after', EXAMPLES)
    .action(async (file: string | undefined, options: ParsedOptions) => {
      checkCount(command.args[1], options.mock, ONE_FILE);
      done(await act(file, options, inputs));
    });
}

const ONE_FILE = 'give one workflow file, and inputs with --input NAME=VALUE; skein help run shows all flags';

const EXAMPLES = `
Examples:
  skein run review.yaml --input topic=looms --input-file diff=change.diff
  git diff | skein run review.yaml --input-file diff=-
  skein run review.yaml --mock                 no model: every step answers with its prompt
  skein run review.yaml --mock=answers.yaml    no model: a script answers
  skein run chat.yaml --thread ada --input say=Hello   a conversation: the next turn continues from this one
  skein run support.pack.json                  talk with a pack; --message TEXT says one thing and ends`;

async function act(file: string | undefined, options: ParsedOptions, inputs: readonly GivenInput[]): Promise<number> {
  const { workflow, dryRun, ...rest } = options;
  const chosen = oneFile(file, workflow);
  if (dryRun === true) {
    const { planCommand } = await import('./plan.js');
    return await planCommand(chosen, { ...rest, inputs });
  }
  return await runCommand({ ...rest, file: chosen, inputs });
}

function oneFile(file: string | undefined, workflow: string | undefined): string {
  const chosen = file ?? workflow;
  if (chosen === undefined) {
    throw new SkeinError('SKEIN_USAGE', 'no workflow file is given', {
      hint: 'skein run FILE, or skein new NAME to begin with one',
    });
  }
  if (workflow !== undefined && file !== undefined && workflow !== file) {
    throw new SkeinError('SKEIN_USAGE', `two workflow files are given: ${file} and ${workflow}`, {
      hint: 'keep one of them',
    });
  }
  return chosen;
}
