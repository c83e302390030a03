import { readFile } from 'node:fs/promises';
import { Argument, type Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { candidatesFor, type Candidate, type Sources, type StoredKind } from '../completion/candidates.js';
import { packageRoot } from '../own-package.js';
import { printResult } from '../view/streams.js';

/** The start-up file of each shell, and the line in it that loads the script from `completions/`. */
const SHELLS = {
  bash: ['~/.bashrc', 'eval "$(skein completion bash)"'],
  zsh: ['~/.zshrc', 'eval "$(skein completion zsh)"'],
  fish: ['~/.config/fish/config.fish', 'skein completion fish | source'],
} as const;

type Shell = keyof typeof SHELLS;

const NAMES = Object.keys(SHELLS) as Shell[];

/** `skein completion SHELL`, and `skein completion words`, which the scripts call. */
export function define(command: Command, _done: unknown, load: Sources['load']): void {
  command
    .usage('[options] [shell]')
    .addArgument(new Argument('[shell]', 'the shell to print the script for').choices(NAMES).argParser(shellOf))
    .addHelpText('after', `\nThe script is for the file that the shell reads when it starts:\n${startLines()}`)
    .action(async (shell?: Shell) => {
      printResult(shell === undefined ? startLines() : await readFile(scriptOf(shell), 'utf8'));
    });
  command
    .command('words', { hidden: true })
    .argument('[index]')
    .argument('[words...]')
    .action(async (index: string | undefined, words: readonly string[]) => {
      printResult(await answer(command.parent, words.slice(1, Number(index) + 1), load));
    });
}

function shellOf(word: string): Shell {
  const shell = NAMES.find((one) => one === word);
  if (shell !== undefined) return shell;
  const hint = didYouMean(word, NAMES) ?? `the shells are: ${NAMES.join(', ')}`;
  throw new SkeinError('SKEIN_USAGE', `there is no completion for ${JSON.stringify(word)}`, { hint });
}

/**
 * Each script calls `skein completion words` for the candidates of the word at the cursor, one per line: the word, a tab, a description. A
 * line that begins with a tab requests paths: a tab, `files` or `folders`, a tab, and what precedes the path in the same word. The output
 * is data: no script evaluates it, or splits it anywhere except at line ends and the first tab.
 */
function scriptOf(shell: Shell): URL {
  return new URL(`completions/skein.${shell}`, packageRoot());
}

function startLines(): string {
  const lines = Object.entries(SHELLS).map(
    ([shell, [file, line]]) => `  ${shell.padEnd(4)}  ${line.padEnd(32)}  in ${file}`,
  );
  return lines.join('\n');
}

/** Prints nothing after any error: a message would appear in the middle of the user's typing. */
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
