import type { Command } from 'commander';

/** Other names of flags, as other programs write them. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['--inputs', '--input'],
  ['--streaming', '--stream'],
  ['--dryrun', '--dry-run'],
  ['--yolo', '--yes'],
]);

/**
 * The words of a command line in the one form that is parsed: long flags may stand with a single dash (`-workflow`), some have
 * other names, and `--mock` without a value never takes the next word for one.
 *
 * @example
 * normalizeWords(['run', '-workflow=a.yaml', '--mock', 'b'], command); // ['run', '--workflow=a.yaml', '--mock=', 'b']
 */
export function normalizeWords(words: readonly string[], command: Command | undefined): readonly string[] {
  const known = new Set(command?.options.map((option) => option.long ?? '') ?? []);
  const end = words.indexOf('--');
  return words.map((word, at) => (end !== -1 && at >= end ? word : normalizeWord(word, known)));
}

function normalizeWord(word: string, known: ReadonlySet<string>): string {
  const match = /^(--?[a-z][a-z-]+)(=[^]*)?$/.exec(word);
  if (match === null) return word;
  const [, flag = '', value] = match;
  const long = flag.startsWith('--') ? flag : `-${flag}`;
  const name = ALIASES.get(long) ?? long;
  if (!known.has(name)) return word;
  if (name === '--mock' && value === undefined) return '--mock=';
  return value === undefined ? name : name + value;
}
