import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { SkeinError } from '../../base/errors.js';
import type { OutputFormat } from '../../plan/workflow.js';
import type { GivenInput } from '../run/given-inputs.js';
import { readAssignment } from '../run/given-inputs.js';
import type { RunFlags } from '../run/execute-run.js';

interface ParsedOptions extends Omit<RunFlags, 'file' | 'inputs' | 'mock'> {
  readonly workflow?: string;
  readonly input?: readonly GivenInput[];
  readonly mock?: string;
  readonly dryRun?: boolean;
}

/** `skein run FILE`. */
export function define(command: Command, done: (code: number) => void): void {
  const inputs: GivenInput[] = [];
  const take = (isFile: boolean) => (text: string) => {
    inputs.push(readAssignment(text, isFile));
    return inputs;
  };
  command
    .argument('[file]', 'the workflow file')
    .option('-w, --workflow <file>', 'the workflow file, in another way')
    .option('-i, --input <name=value>', 'an input of the workflow; again for each (also --inputs)', take(false))
    .option('--input-file <name=file>', 'an input from a file, - for stdin', take(true))
    .option('-m, --model <provider/model>', 'the model of all agents, whatever the files say')
    .addOption(
      new Option('--mock [file]', 'answer without a model: by echo, or --mock=FILE by a script').conflicts('replay'),
    )
    .option('--record <file>', 'write all model calls to a file')
    .option('--replay <file>', 'answer all model calls from such a file')
    .option('--json', 'print one JSON document about the run instead of the results')
    .addOption(new Option('--format <format>', 'form of the results: markdown, plain or json').argParser(readFormat))
    .option('--stream', 'show text as it arrives (also --streaming)')
    .addOption(new Option('--verbose', 'show model turns and tool calls').conflicts('quiet'))
    .option('-q, --quiet', 'show only warnings, errors and results')
    .option('--dry-run', 'show what the run would do, and run nothing (the same as skein plan)')
    .option('--concurrency <n>', 'how many steps run at once', readCount)
    .option('--strict', 'exit with 4 when a step failed that was allowed to')
    .option('--interactive', 'agents may ask, unless the file says otherwise')
    .option('--audit-dir <dir>', 'where run folders are made')
    .option('--no-audit', 'make no run folder')
    .option('--allow-private-addresses', 'let the fetch tool reach this machine and its network')
    .option('--no-color', 'no colours')
    .addHelpText('after', EXIT_CODES)
    .allowExcessArguments()
    .action(async (file: string | undefined, options: ParsedOptions) => {
      checkCount(command.args, options.mock);
      done(await act(file, options, inputs));
    });
}

const EXIT_CODES = `
Exit codes: 0 succeeded, 1 wrong usage, 2 invalid definition or input (nothing ran), 3 a step failed,
4 degraded under --strict, 5 paused (a question waits), 6 out of budget, 130 cancelled.`;

async function act(file: string | undefined, options: ParsedOptions, inputs: readonly GivenInput[]): Promise<number> {
  const { workflow, mock, dryRun, ...rest } = options;
  const chosen = oneFile(file, workflow);
  if (dryRun === true) {
    const { planCommand } = await import('./plan.js');
    return await planCommand(chosen, { inputs, json: rest.json ?? false, color: rest.color });
  }
  const { runCommand } = await import('../run/run-command.js');
  return await runCommand({ ...rest, file: chosen, inputs, ...(mock === undefined ? {} : { mock }) });
}

function checkCount([, extra]: readonly string[], mock: string | undefined): void {
  if (extra === undefined) return;
  const hint =
    mock === '' ? `a script is given as --mock=${extra}` : 'give one workflow file; skein help run shows the flags';
  throw new SkeinError('SKEIN_USAGE', `too many arguments: ${extra}`, { hint });
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

function readFormat(text: string): OutputFormat {
  switch (text.toLowerCase()) {
    case 'markdown':
    case 'md':
      return 'markdown';
    case 'plain':
    case 'text':
      return 'plain';
    case 'json':
      return 'json';
    default:
      throw new InvalidArgumentError('Allowed choices are markdown, plain, json.');
  }
}

function readCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,6}$/.test(text) || count < 1) throw new InvalidArgumentError('It must be a whole number from 1 up.');
  return count;
}
