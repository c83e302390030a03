import { SkeinError } from '../../base/errors.js';
import { countText } from '../../base/text.js';
import type { Problem } from '../../base/problem.js';
import type { ThreadOptions } from '../../index.js';
import { present } from '../../base/json.js';
import { EXIT, printProblems, refusalReport } from '../failures.js';
import { shellWord } from '../runs/text.js';
import { printable } from '../view/printable.js';
import { printNote, printResult } from '../view/streams.js';
import { RunLog } from '../view/run-log.js';
import type { Execution } from './report-end.js';
import { executeRun } from './execute-run.js';
import { readInputs, withTexts, type GivenInput } from './given-inputs.js';
import { saidOf, withInputsOfOthers } from './inputs-of-others.js';
import { loadWorkflow, valuesFor } from './load-workflow.js';
import { writeOrigin } from './origin.js';
import { storeFile, storeRoot, checkOwn } from './open-store.js';
import { isPromptUnused, readPrompt } from './prompt-input.js';
import { storeForRun, type Recording } from './recording.js';
import type { ModuleWorkflow } from '../modules/load-module.js';
import { broughtBy, type Brought } from '../talk/brought.js';
import { checkNoTalk } from './run-options.js';
import type { RunFlags } from './run-flags.js';
import { needsStore, threadOf } from './thread-options.js';

/**
 * `skein run` and `skein exec`: loads, checks, runs, prints, and returns the exit code.
 *
 * @throws SkeinError what keeps the run from starting
 */
export async function runCommand(flags: RunFlags): Promise<number> {
  const cwd = process.cwd();
  const { defaults = {}, strict = false } = flags;
  const read = await readInputs(flags.inputs, cwd);
  const given = flags.exec === true ? readPrompt(read) : read;
  const thread = threadOf(flags);
  const pack = await broughtBy(flags, cwd);
  // The run itself refuses models without a price, because it knows which models are called.
  const budgets = async () => await (await import('./plan-cost.js')).foreseen(flags, true);
  const options = { ...flags, cwd, inputs: given, mayLack: thread !== undefined, pack, toRun: true, budgets };
  const { workflow, problems, broken } = await loadWorkflow(flags.file, options);
  const isTalk = !broken && workflow.plan?.notation === 'machine';
  if (!isTalk) printProblems(problems);
  if (broken || workflow.plan === undefined) {
    if (flags.json === true) printResult(refusalReport({ problems }));
    return EXIT.invalid;
  }
  if (workflow.plan.notation === 'machine')
    return await talkWith({ flags, cwd, workflow, brought: pack, given, problems });
  checkNoTalk(flags, flags.file);
  if (flags.exec === true && (await isPromptUnused(workflow, given))) tellUnusedPrompt(strict);
  const known = workflow.plan.inputs.filter(({ name }) => Object.hasOwn(defaults, name));
  const values = { ...Object.fromEntries(known.map(({ name }) => [name, defaults[name] ?? ''])), ...given };
  const inputs = await valuesFor(workflow.plan, values);
  const marked = await withInputsOfOthers(flags, flags.inputs, cwd);
  const execution: Execution = { ...marked, cwd, workflow, inputs, log: new RunLog(workflow.plan) };
  const ended = flags.store ? recorded(marked.flags, execution, thread) : executeRun(execution);
  return await withTexts(flags.inputs, ended);
}

interface Talking {
  readonly flags: RunFlags;
  readonly cwd: string;
  readonly workflow: ModuleWorkflow;
  readonly brought: Brought;
  readonly given: Readonly<Record<string, unknown>>;
  /** Warnings about the pack. */
  readonly problems: readonly Problem[];
}

/** A pack talks: its inputs are variables, and the prompt of `exec` is the message. */
async function talkWith({ flags, cwd, workflow, brought, given, problems }: Talking): Promise<number> {
  const { prompt, ...others } = given;
  const isSaid = flags.exec === true && typeof prompt === 'string';
  const variables = isSaid ? others : given;
  const { file } = flags;
  const [{ openConversation }, { messagesOf }, { talk }] = await Promise.all([
    import('../talk/open-conversation.js'),
    import('../talk/messages.js'),
    import('../talk/talk-command.js'),
  ]);
  const said = isSaid ? [] : saidOf(flags.message);
  const { flags: marked, told } = await withInputsOfOthers(flags, [...flags.inputs, ...contextOf(flags), ...said], cwd);
  // The prompt is the message.
  const asTold = (names: readonly string[] | undefined): readonly string[] | undefined =>
    names?.map((name) => (isSaid && name === 'prompt' ? 'message' : name));
  const names = { untrusted: asTold(marked.untrusted), private: asTold(marked.private) };
  const known = { ...marked, ...present(names) };
  const conversation = await openConversation({ flags: known, told, file, cwd, workflow, brought, variables });
  tellWarnings(conversation.isNew, problems, file);
  const messages = await messagesOf(flags.message ?? (isSaid ? [prompt] : undefined));
  return await talk(conversation, messages, { ...flags, cwd });
}

/** A conversation that goes on need not repeat them at each turn. */
function tellWarnings(isNew: boolean, problems: readonly Problem[], file: string): void {
  if (isNew || problems.length === 0) return printProblems(problems);
  const count = countText(problems.length, 'warning');
  printNote(printable(`${count} about ${file}: skein validate ${shellWord(file)} shows them`));
}

/** The context that a conversation begins with, as the input of its first turn. */
function contextOf({ context }: RunFlags): readonly GivenInput[] {
  return context === undefined ? [] : [{ name: 'start', value: context, isFile: true }];
}

/** @throws SkeinError `SKEIN_INPUT` if every warning is an error */
function tellUnusedPrompt(strict: boolean): void {
  if (!strict) return printNote('warning: no step reads the prompt');
  throw new SkeinError('SKEIN_INPUT', 'no step reads the prompt', { hint: 'leave out the prompt, or --strict' });
}

/** A missing store is created once nothing else keeps the run from starting: a refused run writes nothing. */
async function recorded(flags: RunFlags, execution: Execution, thread: ThreadOptions | undefined): Promise<number> {
  const { cwd, workflow } = execution;
  const opening = { cwd, ...(flags.durability === undefined ? {} : { durability: flags.durability }) };
  const root = storeRoot({ cwd, create: true }) ?? cwd;
  const store = await storeForRun({ ...opening, create: false });
  // The message that this machine has no SQLite has been printed.
  const unusable = store === undefined && storeRoot({ cwd, create: false }) !== undefined;
  if (unusable && thread !== undefined) throw needsStore('skein doctor says which SQLite can be used here');
  if (unusable) return await executeRun(execution);
  const recording: Recording = {
    ...(store === undefined ? { open: () => storeForRun({ ...opening, create: true }) } : { store }),
    origin: writeOrigin({ root, cwd, file: flags.file, flags, workflow }),
    ...(thread === undefined ? {} : { thread }),
  };
  try {
    // The state of earlier turns needs the same trust as the record of a resumed run.
    if (thread !== undefined && store !== undefined) checkOwn(store.token, storeFile(root));
    return await executeRun({ ...execution, recording });
  } finally {
    recording.store?.close();
  }
}
