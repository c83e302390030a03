import { existsSync } from 'node:fs';
import { SkeinError } from '../base/errors.js';
import { suggest } from '../base/suggest.js';
import { quoted } from './view/printable.js';
import type { Command } from 'commander';

/** Commands of other programs, by the equivalent command line of Skein. */
const OTHER_VERBS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'skein new DIR writes a workflow to start from': 'init create generate',
    'skein runs lists the recorded runs': 'ls list ps history',
    'skein show -1 shows the state of the newest run, skein runs lists all': 'status',
    'skein show -1 shows the state of the newest run': 'inspect get',
    'skein show -1 shows the state of the newest run; skein doctor, what can be used here': 'info',
    'skein run FILE': 'start execute dev',
    'skein exec FILE PROMPT': 'ask',
    'skein run PACK talks with a pack; skein exec FILE PROMPT asks an agent': 'chat',
    'skein run PACK talks with a pack; skein event THREAD EVENT fires an event':
      'talk send say fire trigger transition',
    'skein resume -1 continues the newest run': 'continue',
    'skein resume -1 tries again what failed in the newest run': 'retry',
    'skein fork -1 begins a new run that uses what the newest one has finished': 'rerun replay',
    'skein validate FILE': 'check lint',
    'skein run FILE --mock runs a workflow without a model': 'test',
    'skein graph FILE': 'draw visualize',
    'skein compare RUN RUN': 'diff',
    'skein logs -1 shows what happened in the newest run': 'trace events',
    'skein cancel -1': 'stop kill abort',
    'skein answer -1 yes': 'approve',
    'skein answer -1 TEXT': 'reply',
    'skein runs prune removes the records of old runs': 'rm delete clean',
    'skein runs prune': 'prune',
    'skein runs backup FILE': 'backup',
    'skein demo runs one; skein new DIR writes one': 'examples',
    'npm install -g skein@latest': 'upgrade update',
  }).flatMap(([hint, words]) => words.split(' ').map((word) => [word, hint] as const)),
);

/** Returns the error for an unknown command, or part of the command `of`, with the command line that was most likely meant. */
export function unknownCommand(word: string, commands: readonly string[], of?: string): SkeinError {
  const near = suggest(word, commands);
  if (of !== undefined) {
    const hint = near === undefined ? `skein ${of} takes: ${commands.join(', ')}` : `did you mean skein ${of} ${near}?`;
    return new SkeinError('SKEIN_USAGE', `there is no command ${JSON.stringify(`${of} ${word}`)}`, { hint });
  }
  const file = /\.(ya?ml|[cm]?[jt]s)$/.test(word) || existsSync(word) ? `skein run ${quoted(word)}` : undefined;
  const hint =
    OTHER_VERBS.get(word) ??
    file ??
    (near === undefined ? undefined : `did you mean skein ${near}?`) ??
    'skein help lists the commands';
  return new SkeinError('SKEIN_USAGE', `there is no command ${JSON.stringify(word)}`, { hint });
}

/** Names of flags in other programs. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['--inputs', '--input'],
  ['--streaming', '--stream'],
  ['--dryrun', '--dry-run'],
  ['--yolo', '--yes'],
]);

/**
 * Converts the words of a command line to the one form that is parsed: long flags may have a single dash (`-workflow`), some have other
 * names, and `--mock` without a value never takes the next word as its value.
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
