/**
 * The choice that a typed number means, or the text as it is.
 *
 * @example
 * pickChoice('2', ['red', 'blue']); // 'blue'
 */
export function pickChoice(answer: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? answer : (chosen(answer.trim(), choices, answer) ?? answer);
}

/** The choice that is meant, `otherwise` what is no number, undefined for a number that no choice has. A choice that is itself a number wins. */
export function chosen(typed: string, choices: readonly string[], otherwise: string = typed): string | undefined {
  if (choices.length === 0 || choices.includes(typed) || !/^\d{1,4}$/.test(typed)) return otherwise;
  return choices[Number(typed) - 1];
}
