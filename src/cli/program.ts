import { Command, CommanderError } from 'commander';
import { SkeinError } from '../base/errors.js';
import { EXIT, exitCodeOfError } from './failures.js';
import { normalizeWords } from './other-verbs.js';
import { versionNumber } from './own-package.js';

/** Adds arguments, options and action to its command; `done` takes the exit code, `load` does the same for another command of the program. */
export type DefineCommand = (command: Command, done: (code: number) => void, load: LoadCommand) => void;

/** Loads the file of a command of the program and defines it, unless that has been done. */
export type LoadCommand = (command: Command) => Promise<void>;

interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly define: DefineCommand }>;
}

const COMPLETION = 'completion';

const COMMANDS: readonly CommandEntry[] = [
  { name: 'run', summary: 'run a workflow', load: () => import('./commands/run.js') },
  {
    name: 'exec',
    summary: 'run a pipeline or an agent with a prompt; prints what the agents say',
    load: () => import('./commands/exec.js'),
  },
  {
    name: 'resume',
    summary: 'continue a run; finished steps are not run again',
    load: () => import('./commands/resume.js'),
  },
  {
    name: 'fork',
    summary: 'begin a new run that uses what another one has finished',
    load: () => import('./commands/fork.js'),
  },
  {
    name: 'validate',
    summary: 'show everything that is wrong with workflow files',
    load: () => import('./commands/validate.js'),
  },
  { name: 'graph', summary: 'draw a workflow', load: () => import('./commands/graph.js') },
  { name: 'schema', summary: 'print a JSON Schema for editors', load: () => import('./commands/schema.js') },
  { name: 'plan', summary: 'show what a run would do, and run nothing', load: () => import('./commands/plan.js') },
  {
    name: 'runs',
    summary: 'list the recorded runs; runs prune removes old ones, runs backup copies them',
    load: () => import('./commands/runs.js'),
  },
  { name: 'threads', summary: 'list the conversations', load: () => import('./commands/threads.js') },
  { name: 'thread', summary: 'show a conversation, turn by turn', load: () => import('./commands/thread.js') },
  { name: 'show', summary: 'show the state of a recorded run', load: () => import('./commands/show.js') },
  { name: 'logs', summary: 'show what happened in a recorded run', load: () => import('./commands/logs.js') },
  { name: 'compare', summary: 'show two recorded runs side by side', load: () => import('./commands/compare.js') },
  { name: 'answer', summary: 'answer a question of a run', load: () => import('./commands/answer.js') },
  { name: 'cancel', summary: 'cancel a run', load: () => import('./commands/cancel.js') },
  { name: 'doctor', summary: 'show what can be used on this machine', load: () => import('./commands/doctor.js') },
  { name: 'new', summary: 'write a small workflow to start from', load: () => import('./commands/new.js') },
  {
    name: 'demo',
    summary: 'run a code review with a scripted model: no key, no network',
    load: () => import('./commands/demo.js'),
  },
  {
    name: COMPLETION,
    summary: 'print a script with which bash, zsh or fish completes what is typed',
    load: () => import('./commands/completion.js'),
  },
  {
    name: 'version',
    summary: 'print the versions of skein, Node and SQLite',
    load: () => import('./commands/version.js'),
  },
];

/** Runs the command line and gives the exit code. Only the file of the command that is asked for is loaded. */
export async function runCli(words: readonly string[]): Promise<number> {
  let code: number = EXIT.ok;
  const program = createProgram();
  const asked = askedCommand(words);
  try {
    for (const { name, summary } of COMMANDS) program.command(name).description(summary);
    const load = loaderOf((end) => {
      code = end;
    });
    const command = program.commands.find((one) => one.name() === asked);
    if (command !== undefined) await load(command);
    if (words.length === 0) program.help({ error: true });
    // Somebody types there: an error would stand in the way.
    if (asked !== COMPLETION) checkDirectory();
    const [word = '-'] = operandsOf(words);
    if (command === undefined && !word.startsWith('-') && word !== 'help') await refuseWord(word);
    if (command?.registeredArguments[0]?.name() === 'run') command.showHelpAfterError(HINT_OF_RUN);
    await program.parseAsync(normalizeWords(helpTarget(words, asked), command), { from: 'user' });
    return code;
  } catch (error) {
    return await exitCodeOfThrown(error);
  }
}

const HINT_OF_RUN = '    hint: name a run: -1 is the newest, skein runs lists them all';

function loaderOf(done: (code: number) => void): LoadCommand {
  const left = new Map(COMMANDS.map((entry) => [entry.name, entry]));
  const load: LoadCommand = async (command) => {
    const name = command.parent?.parent == null ? command.name() : '';
    const entry = left.get(name);
    if (entry === undefined) return;
    left.delete(name);
    const { define } = await entry.load();
    define(command, done, load);
  };
  return load;
}

async function refuseWord(word: string): Promise<never> {
  const { unknownCommand } = await import('./other-verbs.js');
  throw unknownCommand(
    word,
    COMMANDS.map(({ name }) => name),
  );
}

function createProgram(): Command {
  return new Command('skein')
    .description('Runs workflows of agents.')
    .version(versionNumber(), '-V, --version', 'print the version')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({ showGlobalOptions: false })
    .showHelpAfterError('(skein help lists the commands, skein help COMMAND its options)')
    .exitOverride()
    .enablePositionalOptions();
}

/** The command that the words ask for, also behind `help`. */
function askedCommand(words: readonly string[]): string | undefined {
  const [first] = operandsOf(words);
  return COMMANDS.some((entry) => entry.name === first) ? first : undefined;
}

/** The words that are not flags, without a `help` before them. */
function operandsOf(words: readonly string[]): readonly string[] {
  const operands = words.filter((word) => !word.startsWith('-'));
  return operands[0] === 'help' ? operands.slice(1) : operands;
}

/** Help for a command of a command is a flag of it. */
function helpTarget(words: readonly string[], asked: string | undefined): readonly string[] {
  const [first, second = '-', ...more] = words;
  if (first !== 'help') return words;
  if (second === '--help' || second === '-h') return [second];
  return asked !== undefined && more.length > 0 ? [second, ...more, '--help'] : words;
}

/** Everything is found from the working directory, which somebody may have removed. */
function checkDirectory(): void {
  try {
    process.cwd();
  } catch (cause) {
    const hint = 'change to a folder that exists';
    throw new SkeinError('SKEIN_USAGE', 'the working directory no longer exists', { hint, cause });
  }
}

async function exitCodeOfThrown(error: unknown): Promise<number> {
  // Commander has printed what is wrong.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const { printFailure } = await import('./failures.js');
  printFailure(error);
  return exitCodeOfError(error);
}
