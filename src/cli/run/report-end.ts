import { present } from '../../base/json.js';
import { formatCensus, type StepOutcome } from '../../events/census.js';
import type { Listener } from '../../events/event.js';
import type { RunResult, WorkflowResult, WorkflowRunOptions } from '../../index.js';
import type { Store } from '../../journal/store.js';
import type { OutputFormat } from '../../plan/workflow.js';
import type { formatOutput as FormatOutput } from '../../running.js';
import { exitCodeOf } from '../failures.js';
import type { ModuleWorkflow } from '../modules/load-module.js';
import { shortId } from '../runs/find-run.js';
import { escapeJson, escaped, jsonText, printable, secretsHidden, shownJson } from '../view/printable.js';
import type { RunLog } from '../view/run-log.js';
import type { StepLog } from '../view/step-log.js';
import { printNote, printResult } from '../view/streams.js';
import type { Style } from '../view/style.js';
import { summaryLines, trouble, type EndOfRun, type RecordedEnd } from '../view/summary.js';
import { runNeedsYes } from './needs-yes.js';
import { keptIn, type Recording } from './recording.js';
import type { CommonFlags } from './run-flags.js';
import { stepContext, type StepContext } from './step-context.js';

/** The line above the outputs of all steps. */
const CONTEXT_HEAD = '--- Step Context ---';

export interface Ended {
  readonly result: WorkflowResult;
  readonly style: Style;
  /** True to report only what went wrong. */
  readonly quiet: boolean;
}

/** Prints the end of a run and its results, and returns the exit code. */
export async function reportEnd(execution: Execution, { result, style, quiet }: Ended): Promise<number> {
  const { flags, workflow, log } = execution;
  const { formatOutput } = await import('../../running.js');
  const strict = flags.strict ?? false;
  const exitCode = exitCodeOf(result.outcome, { strict, error: result.error });
  const name = workflow.plan?.name ?? 'workflow';
  const { outcome, census, error, auditFolder, questions, labels } = result;
  const shared = {
    log,
    outcome,
    census,
    error,
    auditFolder,
    questions,
    recorded: await recordedEnd(execution, result),
  };
  warnOfAudit(result, style);
  const context = flags.exec === true && workflow.plan !== undefined ? stepContext(workflow.plan, log) : undefined;
  // Before the verdict, which users look for at the end.
  if (context !== undefined && !quiet && flags.json !== true) printNote(`\n${CONTEXT_HEAD}\n${shownJson(context)}`);
  const summary = { ...shared, name, censusText: formatCensus(census), strict, style };
  const tellSummary = (): void => {
    for (const line of quiet ? trouble(summary) : summaryLines(summary)) printNote(line);
  };
  // On one screen the verdict and the next step are last, where users see them.
  const onOneScreen = process.stdout.isTTY && process.stderr.isTTY;
  if (!onOneScreen) tellSummary();
  if (flags.json === true) {
    const state = isCode(workflow) ? result.state : undefined;
    const told = { workflow: name, runId: result.runId, exitCode, context, state, labels, result: result.result };
    const report = runReport({ ...shared, ...told });
    printResult(report);
    warnOfSecrets(report);
  } else if (flags.exec !== true || flags.format !== undefined || workflow.plan?.values !== undefined) {
    printResults(execution, result, formatOutput);
  }
  if (onOneScreen) tellSummary();
  return exitCode;
}

function warnOfAudit({ auditFailures: [failure, ...more] }: WorkflowResult, style: Style): void {
  if (failure === undefined) return;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  printNote(`${style.warn('warning')}: the audit folder is incomplete: ${printable(failure)}${others}`);
}

/** Results are printed unchanged: programs that read them get what the run produced. */
function warnOfSecrets(text: string): void {
  if (secretsHidden().text(text) !== text)
    printNote(
      'warning: the results hold what looks like a secret; screens, logs and the audit folder show [redacted] in its place',
    );
}

function printResults(
  { flags, workflow, log }: Execution,
  { state, steps, result }: WorkflowResult,
  format: typeof FormatOutput,
): void {
  const form = flags.format ?? (result === undefined ? workflow.settings.output.format : 'json');
  // For a turn of a pack: what was said.
  if (workflow.plan?.notation === 'machine' && typeof state['said'] === 'string') {
    printResult(state['said']);
    return warnOfSecrets(state['said']);
  }
  const latest = (id: string): StepOutcome | undefined => {
    const status = log.at(id)?.status;
    return status === 'running' ? undefined : status;
  };
  const text = givesUpdates(workflow)
    ? stateText(state, form)
    : format({ workflow, state, reports: steps, latest, result, ...present({ format: flags.format }) });
  const safe = form === 'json' ? escapeJson : escaped;
  printResult(process.stdout.isTTY ? safe(text) : text);
  warnOfSecrets(text);
}

/** Whether the workflow is code: its state has names that the author chose, while files print the results of steps. */
function isCode({ plan }: ModuleWorkflow): boolean {
  return plan?.notation === undefined || plan.notation === 'graph';
}

/** Functions that return updates do not declare the keys they write, so the result is the whole state. */
function givesUpdates({ plan }: ModuleWorkflow): boolean {
  return plan?.nodes.every((node) => node.output === undefined && (node.writes?.length ?? 0) === 0) ?? false;
}

function stateText(state: WorkflowResult['state'], form: OutputFormat): string {
  if (form === 'json') return jsonText({ state });
  return `${form === 'markdown' ? '# Workflow Results\n\n' : ''}${jsonText(state)}\n`;
}

async function recordedEnd({ recording, flags }: Execution, result: WorkflowResult): Promise<RecordedEnd | undefined> {
  const { runId, reused, ran, saved, error, outcome } = result;
  const store = keptIn(recording?.store);
  if (recording === undefined || store === undefined || isRemoved(error)) return undefined;
  const { before, resume, fork } = recording;
  const goesOn = resume !== undefined || fork !== undefined;
  const own = { id: nameOf(store, runId) ?? runId, takenOver: error?.code === 'SKEIN_LEASE' };
  // Without the flag, the file needed no yes or had one.
  const trust = flags.trust === true && outcome !== 'succeeded' && (await runNeedsYes(store, runId));
  return { ...own, trust, ...(goesOn ? { reused, ran, saved } : {}), ...present({ before }) };
}

/** The store was removed meanwhile, so there is no record to name. */
function isRemoved(error: WorkflowResult['error']): boolean {
  const { code, details } = error ?? {};
  return code === 'SKEIN_STORE' && typeof details === 'object' && details !== null && 'removed' in details;
}

/** The name of a run in commands. Undefined if they don't find it. A broken store can't tell what else it contains. */
export function nameOf(given: Store | undefined, runId: string): string | undefined {
  const store = keptIn(given);
  if (store === undefined) return undefined;
  try {
    return shortId(runId, store.ids());
  } catch {
    return shortId(runId, []);
  }
}

export interface Execution {
  readonly flags: CommonFlags;
  readonly cwd: string;
  readonly workflow: ModuleWorkflow;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly log: RunLog;
  /** Absent if nothing is recorded. */
  readonly recording?: Recording;
  /** Models shared with other runs. Defaults to those of the flags. */
  readonly models?: NonNullable<WorkflowRunOptions['models']>;
  /** What the user is told of the inputs when the run starts. */
  readonly told?: readonly string[];
  /** Receives the events of the run, beside what is printed. */
  readonly listener?: Listener;
}

/** What `skein run --json` prints. */
interface ReportOptions extends EndOfRun {
  readonly workflow: string;
  readonly runId: string;
  readonly exitCode: number;
  /** For `skein exec`. */
  readonly context?: StepContext | undefined;
  /** The labels of state values that not only the user influenced. */
  readonly labels?: RunResult['labels'];
  readonly result?: RunResult['result'];
  /** The final state of a workflow in code. */
  readonly state?: Readonly<Record<string, unknown>> | undefined;
}

/** The JSON document of a run. Steps are keyed by their path; times are milliseconds. */
export function runReport(options: ReportOptions): string {
  const { runId, workflow, outcome, exitCode, census, error, log, context, state, labels, auditFolder, questions } =
    options;
  const { result } = options;
  // JSON leaves out undefined values.
  return jsonText({
    runId,
    workflow,
    outcome,
    exitCode,
    census,
    error,
    steps: byName([...log.steps.values()].map((step) => [step.path, stepReport(step)])),
    context,
    result,
    state,
    labels,
    ...recordedReport(options.recorded),
    ...log.spent.spending(),
    models: [...log.spent.byModel.values()],
    durationMs: Math.max(0, log.now - log.startedAt),
    auditFolder,
    questions: questions.length === 0 ? undefined : questions,
    warnings: log.warnings,
  });
}

/** The spending is that of this session. Earlier spending, and the cost of reused answers, are separate. */
function recordedReport(recorded: EndOfRun['recorded']): object {
  if (recorded === undefined) return { recorded: false };
  const { reused, ran, before, saved } = recorded;
  return { recorded: true, reused, ran, before, saved };
}

function stepReport(step: StepLog): object {
  const { status, output, startedAt, endedAt, model } = step;
  return {
    status,
    output,
    ...step.account(),
    reused: step.reused ? true : undefined,
    durationMs: endedAt === undefined ? undefined : endedAt - startedAt,
    model: model === '' ? undefined : model,
  };
}

/** Names come from outside: as own properties they can't reach a prototype. */
function byName(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries);
}
