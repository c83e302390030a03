/** What the command line needs to read, resume and fork recorded runs. */
export { findLeftovers, removeFolder } from './audit/retention.js';
export { codeDigests } from './engine/durable/identity.js';
export { forkStart } from './journal/fork-from.js';
export type { ForkStart } from './journal/fork-from.js';
export { isLeaving } from './journal/leaving.js';
export type { RunCosts } from './journal/run-costs.js';
export { storeReader } from './journal/run-reader.js';
export type { RunReader } from './journal/run-reader.js';
export { forkEdits } from './runtime/fork-edits.js';
export { limitName, standingText } from './budget/lack-text.js';
export type { Standing } from './budget/ledger.js';
export { readLimit } from './runtime/recorded-limits.js';
export type { BudgetWish } from './runtime/recorded-limits.js';
export { changesOf, goingOn, readRecord } from './runtime/going-on.js';
export type { RecordedRun } from './runtime/going-on.js';
export { modelsText, placeOf } from './runtime/changes.js';
export type { Changes } from './runtime/changes.js';
export { openModels } from './runtime/launch.js';
