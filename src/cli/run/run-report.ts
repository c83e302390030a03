import type { ErrorData } from '../../base/errors.js';
import type { Problem } from '../../base/problem.js';
import type { RunResult } from '../../index.js';
import { EXIT } from '../failures.js';
import { jsonText } from '../view/printable.js';
import type { StepLog } from '../view/step-log.js';
import type { EndOfRun } from '../view/summary.js';
import type { StepContext } from './step-context.js';

/** What `skein run --json` is made from. */
export interface ReportOptions extends EndOfRun {
  readonly workflow: string;
  readonly runId: string;
  readonly exitCode: number;
  /** Of `skein exec`. */
  readonly context?: StepContext | undefined;
  /** Where values of its state come from, of those that not only the user had a say in. */
  readonly labels?: RunResult['labels'];
  /** What the workflow says that it gives. */
  readonly result?: RunResult['result'];
  /** What a workflow in code ended with. */
  readonly state?: Readonly<Record<string, unknown>> | undefined;
}

/** The JSON document of a run. Steps are keyed by their path; times are milliseconds. */
export function runReport(options: ReportOptions): string {
  const { runId, workflow, outcome, exitCode, census, error, log, context, state, labels, auditFolder, questions } =
    options;
  const { result } = options;
  // Values that are undefined are left out by JSON.
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

/** What was spent is that of this session; what was paid before is apart, and so is what answers had cost that came from the record. */
function recordedReport(recorded: EndOfRun['recorded']): object {
  if (recorded === undefined) return { recorded: false };
  const { reused, ran, before, saved } = recorded;
  return { recorded: true, reused, ran, before, saved };
}

/** The JSON document of a run that was refused before anything started. */
export function refusalReport(refusal: {
  readonly problems: readonly Problem[];
  readonly error?: ErrorData;
  readonly exitCode?: number;
}): string {
  const { error, problems, exitCode = EXIT.invalid } = refusal;
  return jsonText({ outcome: 'invalid', exitCode, problems, error });
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

/** Names come from outside, so they are own properties of an object without a prototype chain that they could reach. */
function byName(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries);
}
