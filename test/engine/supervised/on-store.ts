import { compile } from '../../../src/engine/graph/compile.js';
import type { RunResult } from '../../../src/engine/run.js';
import { startRun } from '../../../src/engine/run.js';
import type { SkeinEvent } from '../../../src/events/event.js';
import type { Store } from '../../../src/journal/store.js';
import { recordedIn } from '../../../src/runtime/backends/recorded.js';
import { openModels } from '../../../src/runtime/launch.js';
import type { RunOptions } from '../../../src/runtime/options.js';
import type { Case } from './cases.js';
import type { ScriptedPhases } from './scripted-phases.js';

/** Runs a case on a store, with phases of the test. */
export async function runOn(
  store: Store,
  one: Case,
  phases: ScriptedPhases,
  options: Pick<RunOptions, 'inputs' | 'runId' | 'resume' | 'fork' | 'answer'> = {},
): Promise<{ readonly result: RunResult; readonly events: readonly SkeinEvent[] }> {
  const events: SkeinEvent[] = [];
  const compiled = compile(one.plan, one.bindings);
  const runId = options.resume ?? options.runId ?? 'r';
  const definition = {
    runId,
    compiled,
    models: openModels({ models: { mock: true, env: {} } }),
    signal: () => new AbortController().signal,
    launch: () => {
      throw new Error('no run needs another one here');
    },
  };
  const opened = await recordedIn(store).open(definition, options);
  const { start, close } = opened.begin({ cancel: () => undefined });
  const { executors } = one;
  const handle = startRun(compiled, { ...start, executors, phases, listeners: [(event) => events.push(event)] });
  return { result: close(await handle.result), events };
}
