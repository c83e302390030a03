/** What the command line runs a workflow with. What only recorded runs need is not loaded through here: see `recorded-runs.ts`. */
export { formatOutput } from './audit/final-output.js';
export { isApproval } from './agent/loop/approval.js';
export { Given } from './engine/durable/open-question.js';
export { typedAnswer } from './lang/answers.js';
export { invariantCheck } from './runtime/invariants.js';
export { runWorkflow } from './runtime/workflow-run.js';
