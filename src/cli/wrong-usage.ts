import type { Command, CommanderError } from 'commander';
import { SkeinError } from '../base/errors.js';
import { insteadOfFlag } from './other-flags.js';

/** Whether the parser of the command line ended because it has printed the help, or the version. */
export function isHelp({ code, exitCode }: CommanderError): boolean {
  return exitCode === 0 || code === 'commander.help';
}

/**
 * Converts an error of the parser of the command line: what is wrong is the message, and what to do the hint.
 *
 * @param command the command, or the part of one, whose words were parsed. Undefined if the words name none
 * @example
 * wrongUsage(error, command); // unknown option '--jsn', hint: did you mean --json?
 */
export function wrongUsage({ code, message }: CommanderError, command: Command | undefined): SkeinError {
  const [what = '', meant] = message.replace(/^error: /, '').split('\n');
  const [, flag] = /^unknown option '(-[^=']*)/.exec(what) ?? [];
  const instead = flag === undefined || command === undefined ? undefined : insteadOfFlag(flag, command);
  const hint = instead ?? hintOf(meant) ?? (code === MISSING && takesRun(command) ? NAME_A_RUN : helpOf(command));
  return new SkeinError('SKEIN_USAGE', what, { hint });
}

const MISSING = 'commander.missingArgument';
const NAME_A_RUN = 'name a run: -1 is the newest, skein runs lists them all';

/** The parser adds a line such as "(Did you mean --json?)". */
function hintOf(line: string | undefined): string | undefined {
  const [, meant] = /^\(Did you mean (.+)\)$/.exec(line ?? '') ?? [];
  return meant === undefined ? undefined : `did you mean ${meant}`;
}

function takesRun(command: Command | undefined): boolean {
  return command?.registeredArguments.some((argument) => argument.name() === 'run') ?? false;
}

function helpOf(command: Command | undefined): string {
  if (command === undefined) return 'skein help lists the commands';
  const { parent } = command;
  const name = parent?.parent == null ? command.name() : `${parent.name()} ${command.name()}`;
  return `skein help ${name} shows what it takes`;
}
