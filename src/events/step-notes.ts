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

/** What is told of the rounds of something that is done again and again. */
export type LoopNote =
  /** A round of a loop is over: the share of the lines of its texts that the round before did not have, from 0 to 1. */
  | { readonly kind: 'loop.round'; readonly round: number; readonly change: number }
  /** A round gave the texts of the one before; or of the one before that, and so did the round before (A B A B). */
  | { readonly kind: 'loop.repeated' | 'loop.oscillating'; readonly round: number }
  /** A loop has used all of its rounds, and goes on with the last one. */
  | { readonly kind: 'loop.capped'; readonly rounds: number };

/** Whether a note is of the rounds of something. */
export function isLoopNote<N extends { readonly kind: string }>(note: N): note is Extract<N, LoopNote> {
  return note.kind.startsWith('loop.');
}

/** Such a note in words: `round 2: 40% of its lines are new`. */
export function loopText(note: LoopNote): string {
  switch (note.kind) {
    case 'loop.round':
      return `round ${note.round}: ${percentText(note.change)} of its lines are new`;
    case 'loop.repeated':
      return `round ${note.round} gives the text of round ${note.round - 1}`;
    case 'loop.oscillating':
      return `round ${note.round} gives the text of round ${note.round - 2}, as round ${note.round - 1} did of round ${note.round - 3}`;
    case 'loop.capped':
      return `it used all of its rounds: ${note.rounds}`;
  }
}

/** A share as people read it. */
export function percentText(share: number): string {
  return `${Math.round(share * 100)}%`;
}
