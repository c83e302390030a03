export { FakeClock } from './fake-clock.js';
export { ManualDurable } from './manual-durable.js';
export type { ManualDurableOptions, PendingTicket } from './manual-durable.js';
export { seededChooser, seededRandom } from './seeded.js';
