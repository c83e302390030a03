import { existsSync } from 'node:fs';
import { SkeinError } from '../base/errors.js';
import { suggest } from '../base/suggest.js';
import type { Command } from 'commander';

/** Commands of other programs, and the command line that does the same here. */
const OTHER_VERBS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    init: 'skein new DIR writes a workflow to start from',
    create: 'skein new DIR writes a workflow to start from',
    generate: 'skein new DIR writes a workflow to start from',
    ls: 'skein runs lists the recorded runs',
    list: 'skein runs lists the recorded runs',
    ps: 'skein runs lists the recorded runs',
    history: 'skein runs lists the recorded runs',
    status: 'skein show -1 shows the state of the newest run, skein runs lists all',
    inspect: 'skein show -1 shows the state of the newest run',
    get: 'skein show -1 shows the state of the newest run',
    info: 'skein show -1 shows the state of the newest run; skein doctor, what can be used here',
    start: 'skein run FILE',
    execute: 'skein run FILE',
    chat: 'skein exec FILE PROMPT',
    ask: 'skein exec FILE PROMPT',
    dev: 'skein run FILE',
    continue: 'skein resume -1 continues the newest run',
    retry: 'skein resume -1 tries again what failed in the newest run',
    rerun: 'skein fork -1 begins a new run that uses what the newest one has finished',
    replay: 'skein fork -1 begins a new run that uses what the newest one has finished',
    check: 'skein validate FILE',
    lint: 'skein validate FILE',
    test: 'skein run FILE --mock runs a workflow without a model',
    draw: 'skein graph FILE',
    visualize: 'skein graph FILE',
    diff: 'skein compare RUN RUN',
    trace: 'skein logs -1 shows what happened in the newest run',
    events: 'skein logs -1 shows what happened in the newest run',
    stop: 'skein cancel -1',
    kill: 'skein cancel -1',
    abort: 'skein cancel -1',
    approve: 'skein answer -1 yes',
    reply: 'skein answer -1 TEXT',
    rm: 'skein runs prune removes the records of old runs',
    delete: 'skein runs prune removes the records of old runs',
    clean: 'skein runs prune removes the records of old runs',
    prune: 'skein runs prune',
    backup: 'skein runs backup FILE',
    examples: 'skein demo runs one; skein new DIR writes one',
    upgrade: 'npm install -g skein@latest',
    update: 'npm install -g skein@latest',
  }),
);

/**
 * Why a first word is not a command, with the command line that was most likely meant.
 *
 * @example
 * throw unknownCommand('ls', ['run', 'runs']); // hint: skein runs lists the recorded runs
 */
export function unknownCommand(word: string, commands: readonly string[]): SkeinError {
  const near = suggest(word, commands);
  const file = /\.(ya?ml|[cm]?[jt]s)$/.test(word) || existsSync(word) ? `skein run ${JSON.stringify(word)}` : undefined;
  const hint =
    OTHER_VERBS.get(word) ??
    file ??
    (near === undefined ? undefined : `did you mean skein ${near}?`) ??
    'skein help lists the commands';
  return new SkeinError('SKEIN_USAGE', `there is no command ${JSON.stringify(word)}`, { hint });
}

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
