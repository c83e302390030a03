import type { ErrorData } from '../../base/errors.js';
import type { Problem } from '../../base/problem.js';
import type { Census } from '../../events/census.js';
import type { RunOutcome } from '../../events/outcome.js';
import type { OpenQuestion } from '../../events/question.js';
import { EXIT } from '../failures.js';
import { jsonText } from '../view/printable.js';
import type { RunLog } from '../view/run-log.js';
import type { StepLog } from '../view/step-log.js';
import type { RecordedEnd } from '../view/summary.js';
import type { StepContext } from './step-context.js';

/** What `skein run --json` is made from. */
export interface ReportOptions {
  readonly workflow: string;
  readonly runId: string;
  readonly outcome: RunOutcome;
  readonly exitCode: number;
  readonly census: Census;
  readonly error: ErrorData | undefined;
  readonly log: RunLog;
  readonly auditFolder: string | undefined;
  readonly questions: readonly OpenQuestion[];
  readonly recorded?: RecordedEnd;
  /** Of `skein exec`. */
  readonly context?: StepContext | undefined;
  /** What a workflow in code ended with. */
  readonly state?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The JSON document of a run. Steps are keyed by their path; times are milliseconds.
 *
 * @example
 * printResult(runReport(options));
 */
export function runReport(options: ReportOptions): string {
  const { log, census, error, auditFolder, questions, recorded, context, state } = options;
  return jsonText({
    runId: options.runId,
    workflow: options.workflow,
    outcome: options.outcome,
    exitCode: options.exitCode,
    census,
    ...(error === undefined ? {} : { error }),
    steps: byName([...log.steps.values()].map((step) => [step.path, stepReport(step)])),
    ...(context === undefined ? {} : { context }),
    ...(state === undefined ? {} : { state }),
    ...recordedReport(recorded),
    ...log.spent.spending(),
    modelCallsByModel: byName([...log.spent.byModel].map(([model, { calls }]) => [model, calls])),
    durationMs: Math.max(0, log.now - log.startedAt),
    ...(auditFolder === undefined ? {} : { auditFolder }),
    ...(questions.length === 0 ? {} : { questions }),
    warnings: log.warnings,
  });
}

/** `usage` and calls are those of this session; what was paid before is apart. */
function recordedReport(recorded: RecordedEnd | undefined): Readonly<Record<string, unknown>> {
  if (recorded === undefined) return { recorded: false };
  const { reused, ran, before } = recorded;
  return {
    recorded: true,
    ...(reused === undefined ? {} : { reused, ran }),
    ...(before === undefined ? {} : { before }),
  };
}

/** The JSON document of a run that was refused before anything started. */
export function refusalReport(refusal: {
  readonly problems: readonly Problem[];
  readonly error?: ErrorData;
  readonly exitCode?: number;
}): string {
  const { error, problems, exitCode = EXIT.invalid } = refusal;
  return jsonText({ outcome: 'invalid', exitCode, problems, ...(error === undefined ? {} : { error }) });
}

function stepReport(step: StepLog): Readonly<Record<string, unknown>> {
  return {
    status: step.status,
    ...(step.output === undefined ? {} : { output: step.output }),
    ...step.account(),
    ...(step.reused ? { reused: true } : {}),
    ...(step.endedAt === undefined ? {} : { durationMs: step.endedAt - step.startedAt }),
    ...(step.model === undefined || step.model === '' ? {} : { model: step.model }),
  };
}

/** Names come from outside, so they are own properties of an object without a prototype chain that they could reach. */
function byName(entries: readonly (readonly [string, unknown])[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entries);
}
