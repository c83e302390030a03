/**
 * What the command line needs for conversations with packs.
 *
 * @example
 * import { KeptState, machineOf } from './talking.js';
 *
 * const { setup } = machineOf(plan);
 */
export { KeptState } from './machine/kept-state.js';
export { markedInputs } from './machine/marked-inputs.js';
export type { Context } from './machine/pure/context-data.js';
export { startOf } from './machine/open-pack.js';
export { checkTurn, refusalOf, standOf, wasRefused } from './machine/stand.js';
export type { Stand } from './machine/stand.js';
export { machineOf } from './notations/machine/load.js';
export type { LoadedMachine } from './notations/machine/load.js';
export { placeOfAgent } from './notations/machine/pack-names.js';
export { missingTools } from './notations/machine/pack-tools.js';
export { contextOf } from './notations/machine/plan/standing.js';
export type { LogEntry } from './notations/machine/plan/standing.js';
export { completeVariables, variablesFromTexts } from './notations/machine/variables.js';
export { sharedModels } from './runtime/launch.js';
export type { SharedModels } from './runtime/launch.js';
