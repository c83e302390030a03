import { startAtOnce } from '../runtime/on-demand.js';
import * as running from '../runtime/running.js';

export type { ScriptAnswerInput, ScriptInput, ScriptRuleInput } from '../agent/script/script-input.js';
export { FakeClock } from './fake-clock.js';
export { assertComplete, assertSpeakers, assertTransitions } from './packs.js';
export { faultyStore } from './faulty-store.js';
export type { FaultyStore, StoreFault } from './faulty-store.js';
export { ManualDurable } from './manual-durable.js';
export type { ManualDurableOptions } from './manual-durable.js';
export type { PendingTicket } from './manual-ticket.js';
export { seededChooser, seededRandom } from './manual-durable.js';

// A test moves its clock, or delivers what its back end holds, right after it started a run: the run has to be there.
startAtOnce(running);
