import { forgetSecrets } from './view/printable.js';
import { Command, CommanderError } from 'commander';
import { SkeinError } from '../base/errors.js';
import { EXIT, exitCodeOfError, printFailure, printRefusal } from './failures.js';
import { normalizeWords, unknownCommand } from './other-verbs.js';
import { versionNumber } from './own-package.js';
import { isHelp, wrongUsage } from './wrong-usage.js';

/** Adds arguments, options and an action to a command. `done` receives the exit code; `load` defines another command of the program. */
export type DefineCommand = (command: Command, done: (code: number) => void, load: LoadCommand) => void;

/** Loads the file of a command of the program and defines it, once. */
export type LoadCommand = (command: Command) => Promise<void>;

const SETUP = 'Setup and help:';

/** The commands under the headings of the help, in its order. */
const SUMMARIES = {
  'Begin:': {
    new: 'write a small workflow to start from',
    demo: 'run a code review with a scripted model: no key, no network',
  },
  'Check a workflow:': {
    validate: 'show everything that is wrong with workflow files',
    plan: 'show what a run would do, and run nothing',
    graph: 'draw a workflow',
    trust: 'say yes to what a workflow file can do beyond reading the project',
    convert: 'turn an Agentfile into code, or a tree in code into an Agentfile',
    schema: 'print a JSON Schema for editors',
  },
  'Run it:': {
    run: 'run a workflow',
    exec: 'run a pipeline or an agent with a prompt; print what the agents say',
    resume: 'continue a run; finished steps do not run again',
    fork: 'start a new run that reuses what another one has finished',
    answer: 'answer a question of a run',
    cancel: 'cancel a run',
    budget: 'show what a run may spend, or change it',
  },
  'Look at runs:': {
    runs: 'list the recorded runs; runs prune removes old ones, runs backup copies them',
    show: 'show the state of a recorded run',
    logs: 'show what happened in a recorded run',
    compare: 'show two recorded runs side by side',
  },
  'Conversations:': {
    threads: 'list the conversations',
    thread: 'show a conversation, turn by turn',
    event: 'fire an event in a conversation with a pack',
    context: 'print where a conversation with a pack is, and what it did',
  },
  [SETUP]: {
    doctor: 'show what can be used on this machine',
    prices: 'show what models cost',
    completion: 'print the script that completes skein commands in bash, zsh or fish',
    version: 'print the versions of skein, Node and SQLite',
  },
} as const;

type KeyOf<T> = T extends unknown ? keyof T : never;
type Name = KeyOf<(typeof SUMMARIES)[keyof typeof SUMMARIES]>;

const NAMES = Object.values(SUMMARIES).flatMap((group) => Object.keys(group)) as Name[];

const FILES: Readonly<Record<Name, () => Promise<{ readonly define: DefineCommand }>>> = {
  run: () => import('./commands/run.js'),
  exec: () => import('./commands/exec.js'),
  resume: () => import('./commands/resume.js'),
  event: () => import('./commands/event.js'),
  context: () => import('./commands/context.js'),
  fork: () => import('./commands/fork.js'),
  validate: () => import('./commands/validate.js'),
  trust: () => import('./commands/trust.js'),
  graph: () => import('./commands/graph.js'),
  convert: () => import('./commands/convert.js'),
  schema: () => import('./commands/schema.js'),
  plan: () => import('./commands/plan.js'),
  runs: () => import('./commands/runs.js'),
  threads: () => import('./commands/threads.js'),
  thread: () => import('./commands/thread.js'),
  show: () => import('./commands/show.js'),
  logs: () => import('./commands/logs.js'),
  compare: () => import('./commands/compare.js'),
  answer: () => import('./commands/answer.js'),
  cancel: () => import('./commands/cancel.js'),
  budget: () => import('./commands/budget.js'),
  prices: () => import('./commands/prices.js'),
  doctor: () => import('./commands/doctor.js'),
  new: () => import('./commands/new.js'),
  demo: () => import('./commands/demo.js'),
  completion: () => import('./commands/completion.js'),
  version: () => import('./commands/version.js'),
};

/** Runs the command line and returns the exit code. Loads only the file of the requested command. */
export async function runCli(words: readonly string[]): Promise<number> {
  let code: number = EXIT.ok;
  forgetSecrets();
  const program = createProgram();
  const asked = askedCommand(words);
  for (const [heading, group] of Object.entries(SUMMARIES)) {
    program.commandsGroup(heading);
    for (const [name, summary] of Object.entries(group)) program.command(name).description(summary);
  }
  const command = program.commands.find((one) => one.name() === asked);
  try {
    const load = loaderOf((end) => {
      code = end;
    });
    if (command !== undefined) await load(command);
    if (words.length === 0) program.help({ error: true });
    // During completion, an error would disturb what the user types.
    if (asked !== 'completion') checkDirectory();
    const [word = '-'] = operandsOf(words);
    if (command === undefined && !word.startsWith('-') && word !== 'help') throw unknownCommand(word, NAMES);
    if (command !== undefined) checkPart(command, words);
    await program.parseAsync(normalizeWords(helpTarget(words, asked), command), { from: 'user' });
    return code;
  } catch (error) {
    return exitCodeOfThrown(error, words, command);
  }
}

/** Refuses an unknown part of a command that takes nothing else, such as `runs prun`. The word after an unknown flag is its value. */
function checkPart(command: Command, words: readonly string[]): void {
  const [, word] = operandsOf(words);
  const before = word === undefined ? '' : (words[words.indexOf(word, 1) - 1] ?? '');
  if (before.startsWith('-') && !command.options.some(({ short, long }) => short === before || long === before)) return;
  const parts = command.commands.map((part) => part.name());
  const takesWords = parts.length === 0 || command.registeredArguments.length > 0;
  if (takesWords || word === undefined || parts.includes(word)) return;
  throw unknownCommand(word, parts, command.name());
}

function loaderOf(done: (code: number) => void): LoadCommand {
  const left = new Set(NAMES);
  const load: LoadCommand = async (command) => {
    const name = command.parent?.parent == null ? nameIn(command.name()) : undefined;
    if (name === undefined || !left.delete(name)) return;
    const { define } = await FILES[name]();
    define(command, done, load);
  };
  return load;
}

function createProgram(): Command {
  return (
    new Command('skein')
      .description('Runs agent workflows. Begin with skein demo, or with skein new.')
      .version(versionNumber(), '-V, --version', 'print the version')
      .helpOption('-h, --help', 'show this help')
      .commandsGroup(SETUP)
      .helpCommand('help [command]', 'show the options of a command')
      .configureHelp({ showGlobalOptions: false })
      // Printed as all errors are, once its hint is known.
      .configureOutput({ outputError: () => {} })
      .exitOverride()
      .enablePositionalOptions()
  );
}

/** The requested command, also after `help`. */
function askedCommand(words: readonly string[]): Name | undefined {
  const [first = ''] = operandsOf(words);
  return nameIn(first);
}

function nameIn(word: string): Name | undefined {
  return NAMES.find((name) => name === word);
}

/** The words that are not flags, without a leading `help`. */
function operandsOf(words: readonly string[]): readonly string[] {
  const operands = words.filter((word) => !word.startsWith('-'));
  return operands[0] === 'help' ? operands.slice(1) : operands;
}

/** Help for a subcommand is a flag of the subcommand. */
function helpTarget(words: readonly string[], asked: string | undefined): readonly string[] {
  const [first, second = '-', ...more] = words;
  if (first !== 'help') return words;
  if (second === '--help' || second === '-h') return [second];
  return asked !== undefined && more.length > 0 ? [second, ...more, '--help'] : words;
}

/** All paths start from the working directory, which may have been removed. */
function checkDirectory(): void {
  try {
    process.cwd();
  } catch (cause) {
    const hint = 'change to a folder that exists';
    throw new SkeinError('SKEIN_USAGE', 'the working directory no longer exists', { hint, cause });
  }
}

/** Whether the words ask for one JSON document. They count even where the rest of them can't be parsed. */
function wantsDocument(words: readonly string[], command: Command): boolean {
  if (!command.options.some(({ long }) => long === '--json')) return false;
  const known = normalizeWords(words, command);
  const end = known.indexOf('--');
  return known.slice(0, end === -1 ? undefined : end).includes('--json');
}

/** Prints what was thrown, once for people and, on request, as a document, so that stdout is never empty for a program. */
function exitCodeOfThrown(thrown: unknown, words: readonly string[], command: Command | undefined): number {
  // Commander has already printed the help.
  if (thrown instanceof CommanderError && isHelp(thrown)) return thrown.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const part = command?.commands.find((one) => one.name() === operandsOf(words)[1]);
  const error = thrown instanceof CommanderError ? wrongUsage(thrown, part ?? command) : thrown;
  printFailure(error);
  if (command !== undefined && wantsDocument(words, command)) printRefusal(error);
  return exitCodeOfError(error);
}
