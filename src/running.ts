/** What the command line needs to run a workflow. What only recorded runs need is in `recorded-runs.ts`. */
export { formatOutput } from './audit/final-output.js';
export { isApproval } from './agent/loop/approval.js';
export { startOfRecording } from './agent/models/recording.js';
export { Given } from './engine/durable/open-question.js';
export { typedAnswer } from './lang/answers.js';
export { invariantCheck } from './runtime/invariants.js';
export { runWorkflow } from './runtime/workflow-run.js';
