import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { SkeinError } from '../../base/errors.js';
import type { OutputFormat, Workflow } from '../../plan/workflow.js';
import type { WorkflowResult, WorkflowRunOptions } from '../../runtime.js';
import { exitCodeOf } from '../exit-codes.js';
import { escapeJson } from '../view/json-text.js';
import { printable } from '../view/printable.js';
import type { RunLog } from '../view/run-log.js';
import { printNote, printResult } from '../view/streams.js';
import type { Style } from '../view/style.js';
import { createStyle, wantsColor } from '../view/style.js';
import { summaryLines, trouble } from '../view/summary.js';
import { createView } from '../view/view.js';
import type { GivenInput } from './given-inputs.js';
import { watchInterrupt } from './interrupt.js';
import type { Asker } from './questions.js';
import { createAsker } from './questions.js';
import { runReport } from './run-report.js';

/** What stands on the command line of `skein run`. */
export interface RunFlags {
  readonly file: string;
  readonly inputs: readonly GivenInput[];
  readonly model?: string;
  /** Empty: echo; else the script. */
  readonly mock?: string;
  readonly record?: string;
  readonly replay?: string;
  readonly json?: boolean;
  readonly format?: OutputFormat;
  readonly stream?: boolean;
  readonly verbose?: boolean;
  readonly quiet?: boolean;
  readonly concurrency?: number;
  readonly strict?: boolean;
  readonly interactive?: boolean;
  readonly auditDir?: string;
  readonly audit: boolean;
  readonly allowPrivateAddresses?: boolean;
  readonly color: boolean;
}

/** A workflow that was loaded and may be run. */
export interface Execution {
  readonly flags: RunFlags;
  readonly cwd: string;
  readonly workflow: Workflow;
  readonly inputs: Readonly<Record<string, string>>;
  readonly log: RunLog;
}

/**
 * Runs a loaded workflow, prints how it goes and its results, and gives the exit code. Until it starts, a signal ends the process as
 * usual: nothing has been written.
 */
export async function executeRun(execution: Execution): Promise<number> {
  const { flags, workflow, log } = execution;
  await checkRecord(flags.record, execution.cwd);
  const { runWorkflow } = await import('../../runtime.js');
  const style = createStyle(wantsColor(process.stderr, process.env, flags.color));
  const { quiet, verbose } = loudness(flags, workflow);
  const view = createView({
    log,
    style,
    quiet,
    verbose,
    stream: flags.stream ?? workflow.settings.streaming ?? false,
    screen: process.stderr,
    env: process.env,
  });
  const terminal = process.stdin.isTTY && process.stderr.isTTY;
  const asker = createAsker({ view, terminal, input: process.stdin, output: process.stderr });
  const interrupt = watchInterrupt((name) =>
    view.say(`${name}: closing the run; once more ends it without closing it`),
  );
  if (flags.mock === '' && !quiet) view.say('--mock: no model is asked, every step answers with its prompt');
  try {
    const run = await runWorkflow(workflow, {
      ...runOptions(execution),
      signal: interrupt.signal,
      // Apart, so that what can't be shown is reported all the same.
      listeners: [(event) => log.listen(event), (event) => view.listen(event)],
      answer: (question, address, signal) => asker.answer(question, address, signal),
    });
    const result = await run.result;
    view.stop();
    return await report(execution, { result, asker, style });
  } finally {
    view.stop();
    interrupt.release();
  }
}

/** What flags say, or else `config.log_level`. */
function loudness(flags: RunFlags, workflow: Workflow): { readonly quiet: boolean; readonly verbose: boolean } {
  const { quiet = false, verbose = false } = flags;
  if (quiet || verbose) return { quiet, verbose };
  const level = workflow.settings.logLevel;
  return { quiet: level === 'warn' || level === 'error', verbose: level === 'debug' };
}

/** A recording is written at the end, when it would be too late to hear that there is no place for it. */
async function checkRecord(record: string | undefined, cwd: string): Promise<void> {
  if (record === undefined) return;
  const file = resolve(cwd, record);
  const folder = dirname(file);
  const there = await stat(file).catch(() => undefined);
  if (there?.isDirectory() === true) {
    throw new SkeinError('SKEIN_FILE', `${file}, where the recording goes, is a directory`, {
      hint: 'name a file in it',
    });
  }
  try {
    await access(folder, constants.W_OK);
  } catch (cause) {
    const hint = 'make the folder, or record into another one';
    throw new SkeinError('SKEIN_FILE', `${folder}, where the recording goes, can't be written to`, { hint, cause });
  }
}

function runOptions({ flags, cwd, inputs }: Execution): WorkflowRunOptions {
  const { mock, model, record, replay, auditDir, concurrency } = flags;
  return {
    inputs,
    cwd,
    models: {
      ...(model === undefined ? {} : { override: model }),
      ...(mock === undefined ? {} : mock === '' ? { mock: true } : { script: mock }),
      ...(record === undefined ? {} : { record }),
      ...(replay === undefined ? {} : { replay }),
    },
    allowPrivateAddresses: flags.allowPrivateAddresses ?? false,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(flags.stream === true || flags.verbose === true ? { streaming: true } : {}),
    ...(flags.audit ? (auditDir === undefined ? {} : { audit: { dir: resolve(cwd, auditDir) } }) : { audit: false }),
  };
}

interface Ended {
  readonly result: WorkflowResult;
  readonly asker: Asker;
  readonly style: Style;
}

async function report({ flags, workflow, log }: Execution, { result, asker, style }: Ended): Promise<number> {
  const [{ formatCensus }, { formatOutput }] = await Promise.all([
    import('../../index.js'),
    import('../../runtime.js'),
  ]);
  const strict = flags.strict ?? false;
  const exitCode = exitCodeOf(result.outcome, { strict, error: result.error });
  const name = workflow.plan?.name ?? flags.file;
  const shared = {
    log,
    census: result.census,
    error: result.error,
    auditFolder: result.auditFolder,
    questions: asker.open,
  };
  const [failure, ...more] = result.auditFailures;
  if (failure !== undefined) {
    const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
    printNote(`${style.warn('warning')}: the audit folder is incomplete: ${printable(failure)}${others}`);
  }
  const summary = { ...shared, name, outcome: result.outcome, censusText: formatCensus(result.census), strict, style };
  for (const line of loudness(flags, workflow).quiet ? trouble(summary) : summaryLines(summary)) printNote(line);
  if (flags.json === true) {
    printResult(runReport({ ...shared, workflow: name, runId: result.runId, outcome: result.outcome, exitCode }));
  } else {
    const format = flags.format ?? workflow.settings.output.format;
    const text = formatOutput({ workflow, state: result.state, reports: result.steps, format });
    const safe = format === 'json' ? escapeJson : printable;
    printResult(process.stdout.isTTY ? safe(text) : text);
  }
  return exitCode;
}
