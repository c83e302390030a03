import type { ModelRegistry } from '../../agent/models/registry-options.js';
import type { CompiledPlan } from '../../engine/graph/compile.js';
import type { RunHandle } from '../../engine/run.js';
import type { Store } from '../../journal/store.js';
import { threadOfRun } from '../../journal/thread-rows.js';
import type { RunOptions } from '../options.js';
import { openTurn, rejoinTurn } from './open-turn.js';
import type { Turn } from './turn.js';

interface OnThread {
  readonly compiled: CompiledPlan;
  readonly models: ModelRegistry;
  readonly options: RunOptions;
}

/**
 * Opens the turn of a thread that a run is. Resolves to undefined if the run is not a turn, or not the last one of its thread. First
 * resumes an interrupted turn before it, by `launch`.
 *
 * @throws SkeinError as {@link openTurn}
 */
export async function turnOf(
  { compiled, models, options }: OnThread,
  store: Store,
  launch: (one: OnThread & { readonly turn: Turn }) => RunHandle,
): Promise<Turn | undefined> {
  const { thread, resume, signal } = options;
  if (resume !== undefined) {
    const id = threadOfRun(store.run(resume) ?? {});
    return id === undefined ? undefined : await rejoinTurn({ store, thread: { id }, signal }, resume);
  }
  if (thread === undefined) return undefined;
  return await openTurn({
    store,
    thread: typeof thread === 'string' ? { id: thread } : thread,
    name: compiled.plan.name,
    signal,
    async resume(before, turn) {
      // The models belong to the turn that follows, which ends them.
      const kept = { ...models, finish: () => Promise.resolve() };
      return await launch({ compiled, models: kept, options: { ...sharedBy(options), store, resume: before }, turn })
        .result;
    },
  });
}

/** The options that also hold for the turn before. What it began with is its own: inputs, budget, memory, prices, which of them are untrusted or private. */
function sharedBy({
  thread: _thread,
  inputs: _inputs,
  untrusted: _untrusted,
  private: _private,
  budget: _budget,
  memory: _memory,
  prices: _prices,
  runId: _id,
  listeners: _listeners,
  origin: _origin,
  ...shared
}: RunOptions): RunOptions {
  return shared;
}
