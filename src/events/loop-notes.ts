import type { StepNote } from './event.js';

/** What is told of the rounds of something that is done again and again. */
export type LoopNote = Extract<StepNote, { readonly kind: `loop.${string}` }>;

/** Whether a note is of the rounds of something. */
export function isLoopNote(note: StepNote): note is LoopNote {
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
