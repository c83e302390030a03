import { present } from '../base/json.js';
import type { AnswerQuestion } from '../engine/durable/memory-questions.js';
import type { TreeOverride } from '../notations/tree/definition.js';
import { SkeinError } from '../base/errors.js';
import { checkOptions, type OptionForms } from '../base/options.js';
import { kindText } from '../lang/value-text.js';
import type { Supervisor } from '../plan/supervision.js';
import type { CheckpointStore } from './checkpoints.js';
import type { TreeListener } from './events.js';
import { checkSupervisor } from '../runtime/check-run.js';
import { overrideOf, type Override } from './override.js';

/** The settings a tree runs with. They are never changed. */
export interface Runtime extends Pick<Override, 'model' | 'tools' | 'mcp' | 'policy' | 'systemContext' | 'sandbox'> {
  /** The supervisor that judges supervised steps. */
  readonly supervisor?: Supervisor;
  /** Maximum number of corrections of a step. Default 1. */
  readonly maxReorientAttempts?: number;
  /** Answers questions for the person, in this process. Without it, and with a store, a question pauses the run. */
  readonly human?: AnswerQuestion;
  /** Receives the events of the tree as they happen. Its errors and delays never fail a run. */
  readonly telemetry?: TreeListener;
  /**
   * Keeps the supervision record of each step that was accepted or ended: in a folder with a subfolder for each run, in a store, or in a
   * function that gets a name and the checkpoint. Runs never read it.
   */
  readonly checkpoints?: string | CheckpointStore | CheckpointStore['save'];
  /** Prints prompts and answers in full, on stderr. */
  readonly debug?: boolean;
}

const FORMS: OptionForms<Runtime> = {
  model: 'text, or an object',
  tools: 'any',
  mcp: 'an object',
  policy: 'an object',
  systemContext: 'text',
  sandbox: 'text',
  supervisor: 'an object',
  maxReorientAttempts: 'a number',
  human: 'a function',
  telemetry: 'a function',
  checkpoints: 'text, or an object, or a function',
  debug: 'true or false',
};

/** @throws SkeinError `SKEIN_USAGE` for settings that do not exist: a run would know nothing of a misspelt `policy` */
export function checkRuntime(runtime: unknown): void {
  if (typeof runtime !== 'object' || runtime === null) {
    const hint = "execute({ model: 'openai/gpt-5' }); {} takes what the environment names";
    throw new SkeinError('SKEIN_USAGE', `a runtime is an object, not ${kindText(runtime)}`, { hint });
  }
  checkOptions<Runtime>('a runtime', runtime, FORMS);
  checkSupervisor(runtime, 'a runtime');
}

/** Returns the fields of a runtime that affect the plan. */
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

/** @throws SkeinError `SKEIN_DEFINITION` for a model or a tool that can't be used */
export function defaultsOf({ model, tools, mcp, policy, systemContext, sandbox }: Runtime): TreeOverride {
  return overrideOf(present({ model, tools, mcp, policy, systemContext, sandbox }));
}
