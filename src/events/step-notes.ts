/** A verdict on a tool call before it is made. `by` is a stage, `screen` or `review`, or the name of a guard of the program. */
export interface GuardNote {
  readonly kind: 'guard.verdict';
  readonly tool: string;
  readonly by: string;
  readonly verdict: 'safe' | 'suspicious' | 'allow' | 'ask' | 'modify' | 'deny';
  /** In the words of a model that has read what the agent read. Empty if no reason was given. */
  readonly reason: string;
}

export function isGuardNote<N extends { readonly kind: string }>(note: N): note is Extract<N, GuardNote> {
  return note.kind === 'guard.verdict';
}

const WHO: ReadonlyMap<string, string> = new Map([
  ['screen', 'the screener'],
  ['review', 'the reviewer'],
]);

/** Describes a verdict: `the reviewer says deny of shell: the page asks for it`. The reason appears unchanged. */
export function guardText({ tool, by, verdict, reason }: GuardNote): string {
  const who = WHO.get(by) ?? `the guard ${by}`;
  return `${who} says ${verdict} of ${tool}${reason === '' ? '' : `: ${reason}`}`;
}

/** A note about the rounds of a loop. */
export type LoopNote =
  /** A round has ended. `change` is the share of lines in its texts that the round before did not have, from 0 to 1. */
  | { readonly kind: 'loop.round'; readonly round: number; readonly change: number }
  /** A round produced the same texts as the round before, or alternates between two texts (A B A B). */
  | { readonly kind: 'loop.repeated' | 'loop.oscillating'; readonly round: number }
  /** A loop has used all its rounds and continues with the result of the last one. */
  | { readonly kind: 'loop.capped'; readonly rounds: number };

export function isLoopNote<N extends { readonly kind: string }>(note: N): note is Extract<N, LoopNote> {
  return note.kind.startsWith('loop.');
}

/** Describes such a note: `round 2: 40% of its lines are new`. */
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

export function percentText(share: number): string {
  return `${Math.round(share * 100)}%`;
}
