import type { AnswerQuestion } from '../engine/durable/memory-durable.js';
import type { TreeOverride } from '../notations/tree/definition.js';
import type { Supervisor } from '../plan/supervision.js';
import type { TreeListener } from './events.js';
import { overrideOf } from './override.js';
import type { Override } from './override.js';

/** What a tree runs with. It is read, never changed. */
export interface Runtime extends Pick<Override, 'model' | 'tools' | 'mcp' | 'policy' | 'systemContext'> {
  /** Judges supervised steps. */
  readonly supervisor?: Supervisor;
  /** Corrections of a step at most. Default 1. */
  readonly maxReorientAttempts?: number;
  /** Answers for the person, in this process. Without it, and with a store, a question pauses the run. */
  readonly human?: AnswerQuestion;
  /** Gets the events of the tree, as they happen. What it throws or how slow it is never fails a run. */
  readonly telemetry?: TreeListener;
}

const kept = new WeakMap<Runtime, { readonly fields: readonly unknown[]; readonly override: TreeOverride }>();

/**
 * What steps have that customize nothing. It is made once for a runtime whose fields stay the same.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for a model or a tool that can't be used
 */
export function defaultsOf(runtime: Runtime): TreeOverride {
  const { model, tools, mcp, policy, systemContext } = runtime;
  const fields = [model, tools, mcp, policy, systemContext];
  const known = kept.get(runtime);
  if (known?.fields.every((field, at) => field === fields[at]) === true) return known.override;
  const override = overrideOf({
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { tools }),
    ...(mcp === undefined ? {} : { mcp }),
    ...(policy === undefined ? {} : { policy }),
    ...(systemContext === undefined ? {} : { systemContext }),
  });
  kept.set(runtime, { fields, override });
  return override;
}
