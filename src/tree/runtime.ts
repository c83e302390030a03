import type { AnswerQuestion } from '../engine/durable/memory-questions.js';
import type { TreeOverride } from '../notations/tree/definition.js';
import type { Supervisor } from '../plan/supervision.js';
import type { CheckpointStore } from './checkpoints.js';
import type { TreeListener } from './events.js';
import { overrideOf } from './override.js';
import type { Override } from './override.js';

/** What a tree runs with. It is read, never changed. */
export interface Runtime extends Pick<Override, 'model' | 'tools' | 'mcp' | 'policy' | 'systemContext' | 'sandbox'> {
  /** Judges supervised steps. */
  readonly supervisor?: Supervisor;
  /** Corrections of a step at most. Default 1. */
  readonly maxReorientAttempts?: number;
  /** Answers for the person, in this process. Without it, and with a store, a question pauses the run. */
  readonly human?: AnswerQuestion;
  /** Gets the events of the tree, as they happen. What it throws or how slow it is never fails a run. */
  readonly telemetry?: TreeListener;
  /**
   * Keeps what supervision said of each step that was accepted or ended: a folder, with one of its own for each run, a store, or a function that gets a name
   * and the checkpoint. No run reads it.
   */
  readonly checkpoints?: string | CheckpointStore | CheckpointStore['save'];
  /** Prints prompts and answers with their content, on stderr. */
  readonly debug?: boolean;
}

/** The fields of a runtime that decide about the plan. */
export function plannedFields({
  model,
  tools,
  mcp,
  policy,
  systemContext,
  sandbox,
  maxReorientAttempts,
}: Runtime): readonly unknown[] {
  return [model, tools, mcp, policy, systemContext, sandbox, maxReorientAttempts];
}

/**
 * What steps have that customize nothing.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for a model or a tool that can't be used
 */
export function defaultsOf({ model, tools, mcp, policy, systemContext, sandbox }: Runtime): TreeOverride {
  return overrideOf({
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { tools }),
    ...(mcp === undefined ? {} : { mcp }),
    ...(policy === undefined ? {} : { policy }),
    ...(systemContext === undefined ? {} : { systemContext }),
    ...(sandbox === undefined ? {} : { sandbox }),
  });
}
