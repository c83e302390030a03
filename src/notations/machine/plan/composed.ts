import { valueText } from '../../../lang/value-text.js';
import type { StateOf } from '../../../plan/builder-input.js';
import type { MachineSetup, MachineState, Standing } from './standing.js';
import { accountOf, isTransient, machineAt } from './standing.js';
import { systemClock } from '../../../base/clock.js';

/** What a composition gave: a channel of the turn's plan. */
export const COMPOSED = 'composed';

/**
 * The node behind a composition: it says what came of it, as a message of its state. The time that the composition took counts: its machine is made as of
 * when the turn began.
 */
export function composedBy(setup: MachineSetup, name: string, composition: string): (state: StateOf) => object {
  return (seen) => {
    const { position, artifacts, [COMPOSED]: value } = seen as MachineState & { readonly [COMPOSED]?: unknown };
    if (position === undefined) throw new TypeError('a state speaks after the node that begins a turn');
    const { at = systemClock.now(), ...standing } = position;
    const times = [at];
    const machine = machineAt(setup, position, artifacts, { now: () => times.pop() ?? systemClock.now() });
    const text = valueText(value);
    const now: Standing = { ...standing, machine: accountOf(machine), spoken: true };
    const message = { role: 'assistant', text, toolCalls: [], by: composition, state: name };
    return { said: text, position: now, ...(isTransient(setup, name) ? {} : { conversation: [message] }) };
  };
}
