import type { OpenQuestion } from '../events/question.js';
import { openQuestion } from '../events/question.js';
import type { OverviewFold } from './overview-fold.js';
import type { Answer } from './store.js';

/** What is waited for and has no answer yet, also none that the run has not taken, in the order of asking. */
export function openQuestions(fold: OverviewFold, answers: readonly Answer[], now: number): readonly OpenQuestion[] {
  const given = new Set(answers.map((answer) => `${answer.key} ${answer.id}`));
  return [...fold.pauses.values()]
    .filter((pause) => !given.has(`${pause.key} ${pause.id}`))
    .map((pause) => {
      const open = openQuestion(pause);
      return open.expires !== undefined && open.expires <= now ? { ...open, overdue: true } : open;
    });
}
