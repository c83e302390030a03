import { AssertionError, deepStrictEqual } from 'node:assert';
import type { TurnResult } from '../machine/turn-types.js';

/** One turn, or the turns of a conversation in order. */
type Turns = TurnResult | readonly TurnResult[];

function all(turns: Turns): readonly TurnResult[] {
  return Array.isArray(turns) ? (turns as readonly TurnResult[]) : [turns as TurnResult];
}

/**
 * Asserts which transitions happened, in order, each as `FROM -EVENT-> TO`. A redirect shows its actual target.
 *
 * @throws AssertionError that shows what happened instead
 * @example
 * assertTransitions(await conversation.send('My order is late.'), ['intake -Escalate-> specialist']);
 */
export function assertTransitions(turns: Turns, expected: readonly string[]): void {
  const happened = all(turns).flatMap(({ transitions }) =>
    transitions.map(({ from, to, event }) => `${from} -${event}-> ${to}`),
  );
  deepStrictEqual(happened, [...expected]);
}

/**
 * Asserts which states spoke, in order. A state that only made calls did not speak.
 *
 * @throws AssertionError that shows who spoke instead
 * @example
 * assertSpeakers([await conversation.send('Hello'), await conversation.send('Bye')], ['intake', 'done']);
 */
export function assertSpeakers(turns: Turns, expected: readonly string[]): void {
  const spoke = all(turns).flatMap(({ messages }) =>
    messages.flatMap(({ role, text = '', current_workflow_state: { current_state } }) =>
      role === 'assistant' && text.trim() !== '' ? [current_state] : [],
    ),
  );
  deepStrictEqual(spoke, [...expected]);
}

/**
 * Asserts that the last turn ended the conversation: a terminal state has spoken.
 *
 * @param state the state in which it ended; if absent, any state
 * @throws AssertionError that names the current state instead
 * @example
 * assertComplete(await conversation.transition('Close'), 'done');
 */
export function assertComplete(turns: Turns, state?: string): void {
  const last = all(turns).at(-1);
  const why = last === undefined ? 'there was no turn' : whyNot(last, state);
  if (why !== undefined) throw new AssertionError({ message: `the conversation is not complete: ${why}` });
}

function whyNot({ complete, state, outcome, error }: TurnResult, expected: string | undefined): string | undefined {
  if (!complete)
    return `it stands in ${JSON.stringify(state)}, its last turn ${outcome}${error === undefined ? '' : `: ${error.message}`}`;
  if (expected === undefined || expected === state) return undefined;
  return `it ended in ${JSON.stringify(state)}, not in ${JSON.stringify(expected)}`;
}
