/** Who looked at a call of a tool before it was made, and said what: a stage, `screen` or `review`, or a guard of the program by its name. */
export interface GuardNote {
  readonly kind: 'guard.verdict';
  readonly tool: string;
  readonly by: string;
  readonly verdict: 'safe' | 'suspicious' | 'allow' | 'ask' | 'modify' | 'deny';
  /** In the words of a model that has read what the agent has; empty where nothing is said. */
  readonly reason: string;
}

/** Whether a note says what somebody thinks of a call. */
export function isGuardNote<N extends { readonly kind: string }>(note: N): note is Extract<N, GuardNote> {
  return note.kind === 'guard.verdict';
}

const WHO: ReadonlyMap<string, string> = new Map([
  ['screen', 'the screener'],
  ['review', 'the reviewer'],
]);

/**
 * A verdict in words. The reason is in it as it came.
 *
 * @example
 * guardText({ kind: 'guard.verdict', tool: 'shell', by: 'review', verdict: 'deny', reason: 'the page asks for it' });
 * // 'the reviewer says deny of shell: the page asks for it'
 */
export function guardText({ tool, by, verdict, reason }: GuardNote): string {
  const who = WHO.get(by) ?? `the guard ${by}`;
  return `${who} says ${verdict} of ${tool}${reason === '' ? '' : `: ${reason}`}`;
}
