import type { Command } from 'commander';
import { Argument } from 'commander';
import { SkeinError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import type { Candidate, Sources, StoredKind } from '../completion/candidates.js';
import { candidatesFor } from '../completion/candidates.js';
import type { Shell } from '../completion/scripts.js';
import { SCRIPTS, SHELLS, START_LINES } from '../completion/scripts.js';
import { EXIT } from '../failures.js';
import { printResult } from '../view/streams.js';

/** `skein completion SHELL`, and `skein completion words`, which the scripts call. */
export function define(command: Command, done: (code: number) => void, load: Sources['load']): void {
  command
    .usage('[options] [shell]')
    .addArgument(new Argument('[shell]', 'the shell that the script is for').choices(SHELLS).argParser(shellOf))
    .addHelpText('after', `\nThe script is for the file that the shell reads when it starts:\n${startLines()}`)
    .action((shell?: Shell) => {
      printResult(shell === undefined ? startLines() : SCRIPTS[shell]);
      done(EXIT.ok);
    });
  command
    .command('words', { hidden: true })
    .argument('[index]')
    .argument('[words...]')
    .action(async (index: string | undefined, words: readonly string[]) => {
      printResult(await answer(command.parent, words.slice(1, Number(index) + 1), load));
      done(EXIT.ok);
    });
}

function shellOf(word: string): Shell {
  const shell = SHELLS.find((one) => one === word);
  if (shell !== undefined) return shell;
  const hint = didYouMean(word, SHELLS) ?? `the shells are: ${SHELLS.join(', ')}`;
  throw new SkeinError('SKEIN_USAGE', `there is no completion for ${JSON.stringify(word)}`, { hint });
}

function startLines(): string {
  return SHELLS.map((shell) => {
    const [file, line] = START_LINES[shell];
    return `  ${shell.padEnd(4)}  ${line.padEnd(32)}  in ${file}`;
  }).join('\n');
}

/** Nothing when anything is wrong: a message would stand in the middle of what somebody types. */
async function answer(program: Command | null, words: readonly string[], load: Sources['load']): Promise<string> {
  if (program === null) return '';
  try {
    const found = await candidatesFor(program, words, { load, stored });
    if ('paths' in found) return `\t${found.paths}\t${found.before}`;
    return found.map(({ word, about }) => `${word}\t${about}`).join('\n');
  } catch {
    return '';
  }
}

async function stored(kind: StoredKind, typed: string): Promise<readonly Candidate[]> {
  const { storedWords } = await import('../completion/stored-words.js');
  return await storedWords(kind, typed);
}
