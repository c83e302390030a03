/**
 * PromptPack state machines without a model: a machine lists the possible events, processes one, and counts visits.
 *
 * @example
 * import { StateMachine, parseSpec } from 'skein/machine';
 *
 * const machine = new StateMachine(parseSpec(pack.workflow));
 */
export { openPack } from './machine/open-pack.js';
export type { TransitionExtras, TurnOptions } from './machine/transition-extras.js';
export type { OpenPackOptions, PackConversation } from './machine/open-pack.js';
export type { Turn } from './machine/turn.js';
export type { PackMessage, TurnEvent, TurnResult, WorkflowEvent } from './machine/turn-types.js';
export { packWorkflow } from './machine/pack-workflow.js';
export type { PackWorkflowOptions } from './machine/pack-workflow.js';
export { StateMachine } from './machine/pure/machine.js';
export type { MachineOptions, TransitionResult } from './machine/pure/machine.js';
export { MachineContext, MAX_HISTORY } from './machine/pure/context.js';
export type { ArtifactSnapshot, Context, StateTransition } from './machine/pure/context-data.js';
export { parseSpec } from './machine/pure/read-spec.js';
export type { ArtifactDef, Budget, Orchestration, Persistence, Spec, State } from './machine/pure/spec.js';
export { validateSpec, type ValidationResult } from './machine/pure/validate.js';
export { validatePack } from './notations/machine/read-pack.js';
export type { PackOptions } from './notations/machine/read-pack.js';
export { sortedEvents } from './machine/pure/state-table.js';
export { ARTIFACT_TOOL, TRANSITION_TOOL, artifactTool, toolsOf, transitionTool } from './machine/pure/tools.js';
export type { MachineTool } from './machine/pure/tools.js';
export { PendingTransitions, setArtifactCall } from './machine/pure/pending.js';
export type { CommitListeners, PendingTransition, ScheduledTransition } from './machine/pure/pending.js';
export { InvalidEventError, TerminalStateError } from './machine/pure/errors.js';
export { BudgetExhaustedError, MaxVisitsExceededError } from './machine/pure/errors.js';
