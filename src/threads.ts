/** Conversations over several runs (J12). */
export { getThread, listThreads, removeThread } from './journal/thread-overview.js';
export type { ThreadEdit, ThreadOverview, ThreadSummary, ThreadTurn } from './journal/thread-overview.js';
export { forkThread, updateThread } from './runtime/threads/edit-thread.js';
export type { ThreadChange, ThreadFork } from './runtime/threads/edit-thread.js';
export type { ThreadOptions } from './runtime/threads/open-turn.js';
