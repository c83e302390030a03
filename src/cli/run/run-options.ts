import { InvalidArgumentError, Option, type Command } from 'commander';
import { SkeinError } from '../../base/errors.js';
import type { SecurityInput } from '../../plan/security.js';
import type { OutputFormat } from '../../plan/workflow.js';
import { FORMATS, type TalkFlags } from './run-flags.js';

/** Adds the common flags of `run`, `exec`, `resume`, `fork` and `event`, under headings for the help. What a command adds next stands under "Options". */
export function addRunOptions(command: Command): Command {
  addModelOptions(command.optionsGroup('Models:'));
  addLimitOptions(command.optionsGroup('Limits:'));
  addSafetyOptions(command.optionsGroup('Safety:'));
  addOutputOptions(command.optionsGroup('Output:'));
  addRecordOptions(command.optionsGroup(RECORDS));
  return configOption(command.optionsGroup(PACKS)).optionsGroup('Options:').addHelpText('after', EXIT_CODES);
}

const PACKS = 'Packs and Agentfiles:';
const RECORDS = 'Records:';
const UNTRUSTED_HELP = "mark an input whose value comes from a source you don't control, such as a mail; repeatable";

function addModelOptions(command: Command): void {
  command
    .option('-m, --model <provider/model>', 'the model for all agents; overrides the files')
    .addOption(
      new Option('--mock [file]', 'use no model: every step answers with its prompt, or from a script').conflicts(
        'replay',
      ),
    )
    .option('--record <file>', 'write all model calls to a file')
    .option('--replay <file>', 'answer all model calls from such a file')
    .addOption(pricesOption())
    .option('--limits <file>', 'limits on provider use, as YAML or JSON: parallel calls, calls and tokens per minute');
}

function addLimitOptions(command: Command): void {
  command
    .option('--budget <amounts>', BUDGET_HELP, readBudgetFlag)
    .option('--concurrency <n>', 'how many steps run at once', readCount)
    .option('--max-steps <n>', 'how many nodes may run one after another', readCount);
}

function addSafetyOptions(command: Command): void {
  command
    .option('--trust', 'say yes to what the file can do beyond reading the project, this time only')
    .option('-y, --yes', 'allow the tool calls that would ask a person (also --yolo); a resume needs it again')
    .option('--interactive', 'agents may ask, unless their step or the workflow says otherwise')
    .addOption(policyOption())
    .option('--untrusted <name>', UNTRUSTED_HELP, oneMore)
    .option(
      '--security <mode>',
      'which models look at tool calls, at least: default, paranoid, or research=SCOPE',
      readSecurityFlag,
    )
    .option('--allow-private-addresses', 'let the fetch tool reach this machine and its network')
    .option('--strict', 'refuse files with warnings; exit with 4 if a step failed that was allowed to fail')
    .addOption(lenientOption());
}

function addOutputOptions(command: Command): void {
  command
    .option('--json', 'print one JSON document about the run instead of the results')
    .addOption(new Option('--format <format>', 'format of the results').choices(FORMATS).argParser(readFormat))
    .option('--stream', 'show text as it arrives (also --streaming)')
    .addOption(new Option('--verbose', 'show model turns and tool calls').conflicts('quiet'))
    .option('-q, --quiet', 'print only warnings, errors and results')
    .option('--no-color', 'print no colours');
}

function addRecordOptions(command: Command): void {
  command
    .addOption(
      new Option(
        '--durability <mode>',
        'what a finished step survives: a killed process (fast), or also a power cut (full)',
      ).choices(['fast', 'full']),
    )
    .option('--audit-dir <dir>', 'where the run folder is created')
    .option('--no-audit', 'create no run folder');
}

/** Adds `--dry-run` and `--no-store` to a command that starts a run. */
export function addStartOptions(command: Command): Command {
  return command
    .optionsGroup(RECORDS)
    .option('--no-store', "keep no record: the run can't be resumed")
    .optionsGroup('Options:')
    .option('--dry-run', 'show what the run would do, and run nothing (the same as skein plan)');
}

const BUDGET_HELP =
  'what the run may spend: 0.50 (dollars), 200k-tokens, 20-calls, 50-tool-calls, 10m; +0.50 raises the limit on a resume';

/** Joins repeated flags with commas. */
function readBudgetFlag(text: string, before: string | undefined): string {
  return before === undefined ? text : `${before},${text}`;
}

function readSecurityFlag(text: string): SecurityInput {
  if (text === 'default' || text === 'paranoid') return text;
  const [, scope = ''] = /^research=(.*)$/s.exec(text) ?? [];
  if (scope.trim() !== '') return { mode: 'research', scope };
  throw new InvalidArgumentError('It is default, paranoid, or research=SCOPE with what may be investigated.');
}

/** Collects the values of a repeatable option. */
function oneMore(name: string, before: readonly string[] = []): readonly string[] {
  return [...before, name];
}

/** `--prices`, for every command that shows costs in advance. */
export function pricesOption(): Option {
  return new Option('--prices <file>', 'prices of models, as YAML or JSON; they override those that come with Skein');
}

/** `--policy`, for every command that shows what a run may do. */
export function policyOption(): Option {
  return new Option('--policy <file>', 'what agents may do, as YAML or TOML, in addition to your own policy');
}

/** `--lenient`, for every command that loads a workflow file. */
export function lenientOption(): Option {
  const about = 'load a file even if it uses features that Skein does not support, such as hooks or sub-agents';
  return new Option('--lenient', about).conflicts('strict');
}

/** `--strict` and `--lenient` for commands that only check a file, and the options for reading an Agentfile. */
export function addJudgingOptions(command: Command): Command {
  return configOption(command.option('--strict', 'every warning is an error').addOption(lenientOption())).option(
    '--tools <file>',
    'tools of an Agentfile, such as write,bash; or a module with the functions of a pack, whose code is run',
  );
}

/** `--trust`, for commands that only check a file. */
export function trustOption(command: Command): Command {
  return command.option(
    '--trust',
    'run the code of a module that you have not trusted with skein trust, for this once',
  );
}

function configOption(command: Command): Command {
  return command.option('--config <file>', 'configuration of an Agentfile, which overrides its agent.toml');
}

const EXIT_CODES = `
Exit codes: 0 succeeded, 1 wrong usage, 2 invalid definition or input (nothing ran), 3 a step failed,
4 degraded under --strict, 5 paused (a question waits), 6 out of budget, 130 cancelled.`;

/** Other names of formats. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['md', 'markdown'],
  ['text', 'plain'],
]);

function readFormat(text: string): OutputFormat {
  const name = text.toLowerCase();
  const format = FORMATS.find((one) => one === (ALIASES.get(name) ?? name));
  if (format === undefined) throw new InvalidArgumentError('Allowed choices are markdown, plain, json.');
  return format;
}

/** Parses a whole number from 1 up. */
export function readCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,6}$/.test(text) || count < 1) throw new InvalidArgumentError('It must be a whole number from 1 up.');
  return count;
}

export function addTalkOptions(command: Command): Command {
  return command
    .optionsGroup(PACKS)
    .option('--message <text>', 'what you say to a pack; repeat for each turn; - for stdin', oneMore)
    .option('--state <name>', 'the state in which the conversation begins')
    .option('--agent <name>', 'talk with this agent of the pack')
    .option('--prompt <name>', 'talk with this prompt of the pack alone, without its workflow')
    .option('--context <file>', 'continue from a context of PromptKit, or of skein context')
    .option('--tools <file>', 'tools of an Agentfile, such as write,bash; or a module with the tools of a pack')
    .optionsGroup('Options:');
}

const TALK_FLAGS = ['message', 'state', 'agent', 'prompt', 'context'] as const satisfies readonly (keyof TalkFlags)[];

/** @throws SkeinError `SKEIN_USAGE` for a flag that only packs have */
export function checkNoTalk(flags: TalkFlags, file: string): void {
  const given = TALK_FLAGS.find((name) => flags[name] !== undefined);
  if (given === undefined) return;
  const hint =
    given === 'message' || given === 'prompt' ? 'a workflow takes --input NAME=VALUE' : `leave out --${given}`;
  throw new SkeinError('SKEIN_USAGE', `--${given} is for packs; ${file} is not a pack`, { hint });
}

/** Refuses an argument too many. With `--mock`, it may be a script that was meant as the value of that flag. */
export function checkCount(extra: string | undefined, mock: string | undefined, advice: string): void {
  if (extra === undefined) return;
  const isScript = mock === '' && /\.ya?ml$/.test(extra);
  const hint = isScript ? `a script is given as --mock=${extra}` : advice;
  throw new SkeinError('SKEIN_USAGE', `too many arguments: ${extra}`, { hint });
}
