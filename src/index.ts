/** Skein: workflows of agents. See README.md for a first workflow and ARCHITECTURE.md for how it is built. */
export { run, runOrThrow, runWorkflow, streamRun, type Fork, type PriceTable, type Runnable } from './runtime.js';
export { changeBudget, forkThread, readBudget, updateThread, type RunOptions, type ThreadOptions } from './runtime.js';
export type {
  ThreadChange,
  ThreadFork,
  ToolPins,
  WorkflowResult,
  WorkflowRun,
  WorkflowRunOptions,
  WrittenFiles,
} from './runtime.js';
export type { CustomGuard, GuardCall, GuardVerdict, Security, SecurityInput, Workflow } from './runtime.js';
export { compile, type CompiledPlan } from './engine/graph/compile.js';
export { startRun, type RunHandle, type RunResult, type StartOptions } from './engine/run.js';
export { MemoryDurable } from './engine/durable/memory-durable.js';
export type { AnswerQuestion } from './engine/durable/memory-questions.js';
export type { StepCheck, CheckedStep, StepReport } from './engine/services.js';
export type { Durable, Question, StepIo, Ticket } from './engine/ports/durable.js';
export type { Executor, Executors, Result, StepContext } from './engine/ports/executor.js';
export { NonRetryableError, SkeinError, ERROR_CODES, type ErrorCode, type ErrorData } from './base/errors.js';
export { formatProblem, hasErrors, type Position, type Problem } from './base/problem.js';
export { formatCensus, type Census, type RunOutcome, type StepOutcome } from './events/census.js';
export type { Cost, Listener, ModelSpending, SkeinEvent, Spending, Spent, StepNote, Usage } from './events/event.js';
export type { Budget, BudgetInput, BudgetLimits } from './plan/budget.js';
export type { Store } from './journal/store.js';
export { memoryStore } from './stores/memory.js';
export { answerRun, cancelRun, type CancelOutcome, type GivenAnswer, type KeptAnswer } from './journal/answering.js';
export { deliverEvent, type DeliveredEvent } from './journal/delivering.js';
export { readMoments, readRun } from './journal/overview.js';
export type { OpenQuestion, RunMoment, RunOverview, RunStatus, StepOverview } from './journal/overview.js';
export { listRuns, type RunSummary } from './journal/run-list.js';
export { pruneRuns, type PruneOptions, type PruneResult } from './journal/pruning.js';
export { getThread, listThreads, removeThread } from './journal/thread-overview.js';
export type { ThreadEdit, ThreadOverview, ThreadSummary, ThreadTurn } from './journal/thread-overview.js';
export { conditionText, templateText } from './lang/condition-text.js';
export { definePlan } from './plan/builder.js';
export { checkPlan } from './plan/checks.js';
export { toDot, toMermaid } from './plan/draw.js';
export { estimateCalls, type Bound, type Envelope } from './plan/envelope.js';
export { goto, type Goto } from './plan/goto.js';
export type { Guide, GuideCounts, GuideEnd, GuideOf, GuideStep, GuideTool, GuideVerdict } from './plan/guide.js';
export { outlinePlan, type Outline } from './plan/outline.js';
export { END, type Bindings, type Declarations, type Plan, type PlanNode, type DeclaredSend } from './plan/plan.js';
export type { FailedAttempt, RetryInput } from './plan/retry-input.js';
export type { Assessment, Commitment, Reconciled, SuperviseRequest, Supervisor, Verdict } from './plan/supervision.js';
export { supervisor, type SupervisorOptions } from './supervise/supervisor.js';
