import { amountOf, amountPattern, amountText, amountWord } from '../plan/budget-text.js';
import type { BudgetChange } from '../plan/budget.js';
import type { Lack, Standing } from './account.js';

/** Names a limit: `the budget of the run`, `the budget of the day`, `the budget of step review`. */
export function limitName({ name }: Pick<Standing, 'name'>): string {
  return `the budget of ${/^(?:run|day|thread)\b/.test(name) ? 'the ' : ''}${name}`;
}

/** Describes the standing of a limit: `$0.4831 of $0.50 spent, $0.01 reserved`. */
export function standingText({ measure, spent, reserved, limit }: Standing): string {
  const held = reserved > 0 ? `, ${amountText(measure, reserved)} reserved` : '';
  return `${amountText(measure, spent)} of ${amountText(measure, limit)} spent${held}`;
}

/** Explains why an amount does not fit: `the budget of the run is used up: $0.4831 of $0.50 spent; what comes next may take $0.0312.` */
export function lackText(lack: Lack): string {
  return `${limitName(lack)} is used up: ${standingText(lack)}${wantedText(lack, 'what comes next')}`;
}

/** `waits for the budget of the run: $0.40 of $0.50 spent, $0.09 reserved; it may take $0.0312` */
export function waitingText(lack: Lack): string {
  return `waits for ${limitName(lack)}: ${standingText(lack)}${wantedText(lack, 'it')}`;
}

function wantedText({ measure, wanted }: Lack, what: string): string {
  return wanted > 0 ? `; ${what} may take ${amountText(measure, wanted)}` : '';
}

/** Returns the question how much more may be spent. {@link moreIn} can parse every answer that its schema accepts. */
export function moreQuestion(lack: Lack): { readonly text: string; readonly schema: object } {
  const { measure, limit, wanted } = lack;
  const example = `an amount such as ${amountWord(measure, Math.max(limit, wanted))}, or no`;
  return {
    text: `${lackText(lack)}. How much more may be spent? (${example})`,
    schema: { type: 'string', pattern: `^\\s*(?:${NO}|${amountPattern(measure)})\\s*$`, description: example },
  };
}

const NO = '[nN][oO]';

/** Parses a person's answer. Undefined if nothing more is granted. */
export function moreIn(measure: Lack['measure'], answer: unknown): BudgetChange | undefined {
  const more = typeof answer === 'string' ? amountOf(measure, answer.trim()) : undefined;
  return more === undefined || more <= 0 ? undefined : { set: {}, add: { [measure]: more } };
}
