import type { Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import { addInputOptions, type GivenInput } from '../run/given-inputs.js';
import { DEFAULT_PROMPT, PROMPT } from '../run/prompt-input.js';
import type { RunFlags } from '../run/run-flags.js';
import { addRunOptions, addStartOptions, checkCount } from '../run/run-options.js';
import { addThreadOptions } from '../run/thread-options.js';

interface ParsedOptions extends Omit<RunFlags, 'file' | 'inputs'> {
  readonly dryRun?: boolean;
}

/** `skein exec FILE [PROMPT]`. */
export function define(command: Command, done: (code: number) => void): void {
  const inputs = addInputOptions(command, 'another input');
  addStartOptions(addThreadOptions(addRunOptions(command)))
    .argument('<file>', 'a workflow file, or a file of agents')
    .argument('[prompt]', `what the agents are asked, - for stdin; without it: ${DEFAULT_PROMPT}`)
    .allowExcessArguments()
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, prompt: string | undefined, options: ParsedOptions) => {
      checkCount(command.args[2], options.mock, 'put quotes around a prompt of several words');
      done(await act(file, withPrompt(inputs, prompt), options));
    });
}

const EXAMPLES = `
The answers of agents go to stdout, one step at a time. If the file has output.values, these go to stdout as JSON, and the answers go to
stderr. So do progress, tool calls and, below the line "--- Step Context ---" at the end, all outputs as JSON.

Examples:
  skein exec pipeline.yaml "Translate and publish this draft"
  git diff | skein exec review.yaml -
  skein exec review.yaml --json "Review the last commit" | jq .context.order
  skein exec agent.yaml --yes "Fix the failing test"   allows the calls of tools that would ask`;

async function act(file: string, inputs: readonly GivenInput[], options: ParsedOptions): Promise<number> {
  const { dryRun, ...flags } = options;
  const defaults = { [PROMPT]: DEFAULT_PROMPT };
  if (dryRun === true) {
    const { planCommand } = await import('./plan.js');
    return await planCommand(file, { ...flags, inputs, defaults });
  }
  const { runCommand } = await import('../run/run-command.js');
  return await runCommand({ ...flags, exec: true, file, inputs, defaults });
}

function withPrompt(inputs: readonly GivenInput[], prompt: string | undefined): readonly GivenInput[] {
  if (prompt === undefined) return inputs;
  if (inputs.some(({ name }) => name === PROMPT)) {
    throw new SkeinError('SKEIN_USAGE', `the prompt is given twice, also as --input ${PROMPT}`, {
      hint: 'keep one of them',
    });
  }
  return [...inputs, { name: PROMPT, value: prompt, isFile: prompt === '-' }];
}
