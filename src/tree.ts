/**
 * Workflows as trees: sequences of goals and convergences, whose agents work side by side.
 *
 * @example
 * import { goal, sequence, workflow } from 'skein/tree';
 *
 * const flow = workflow('greeting').input('who').add(sequence('main').steps(goal('greet', 'Greet $who.')));
 * console.log((await flow.execute({ model: 'mock/echo' }, { who: 'Ada' })).outputs.greet);
 */
export { agent, convergence, goal, sequence, workflow } from './tree/constructors.js';
export type { Agent, Convergence, FieldOptions, Goal, Node, Sequence, Step, Workflow } from './tree/objects.js';
export type { ModelChoice, Override } from './tree/override.js';
export { attributesOf, type TreeEvent, type TreeLevel, type TreeListener } from './tree/events.js';
export { checkpointStore, type Checkpoint, type CheckpointStore } from './tree/checkpoints.js';
export type { Runtime } from './tree/runtime.js';
export type { CompiledWorkflow } from './tree/prepare.js';
export type { TreeResult, TreeRunOptions } from './tree/state.js';
export { state, type TreeState } from './tree/state.js';
