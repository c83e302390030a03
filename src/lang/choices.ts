/**
 * The choice that a typed number means, or the text as it is.
 *
 * @example
 * pickChoice('2', ['red', 'blue']); // 'blue'
 */
export function pickChoice(answer: string, choices: readonly string[] | undefined): string {
  const typed = answer.trim();
  if (choices === undefined || choices.includes(typed) || !/^\d{1,4}$/.test(typed)) return answer;
  return choices[Number(typed) - 1] ?? answer;
}
