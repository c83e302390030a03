import type { RunResult } from '../../index.js';
import { jsonText } from '../view/printable.js';
import type { StepLog } from '../view/step-log.js';
import type { EndOfRun } from '../view/summary.js';
import type { StepContext } from './step-context.js';

/** What `skein run --json` prints. */
export interface ReportOptions extends EndOfRun {
  readonly workflow: string;
  readonly runId: string;
  readonly exitCode: number;
  /** For `skein exec`. */
  readonly context?: StepContext | undefined;
  /** The labels of state values that not only the user influenced. */
  readonly labels?: RunResult['labels'];
  /** The declared result of the workflow. */
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
