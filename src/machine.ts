/**
 * State machines of PromptPack: the machine itself, without any model. It says which events there are, takes one, and keeps count.
 *
 * @example
 * import { StateMachine, parseSpec } from 'skein/machine';
 *
 * const machine = new StateMachine(parseSpec(pack.workflow));
 */
export { StateMachine } from './machine/machine.js';
export type { MachineOptions, TransitionResult } from './machine/machine.js';
export { MachineContext, MAX_HISTORY } from './machine/context.js';
export type { ArtifactSnapshot, Context, StateTransition } from './machine/context-data.js';
export { parseSpec } from './machine/read-spec.js';
export type { ArtifactDef, Budget, Orchestration, Persistence, Spec, State } from './machine/spec.js';
export { validateSpec, type ValidationResult } from './machine/validate.js';
export { validatePack, type PackOptions } from './notations/machine/validate-pack.js';
export { sortedEvents } from './machine/state-table.js';
export { ARTIFACT_TOOL, TRANSITION_TOOL, artifactTool, toolsOf, transitionTool } from './machine/tools.js';
export type { MachineTool } from './machine/tools.js';
export { PendingTransitions, setArtifactCall } from './machine/pending.js';
export type { CommitListeners, PendingTransition, ScheduledTransition } from './machine/pending.js';
export { InvalidEventError, TerminalStateError } from './machine/errors.js';
export { BudgetExhaustedError, MaxVisitsExceededError } from './machine/errors.js';
