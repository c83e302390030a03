import type { Json } from '../base/json.js';
import type { OverviewFold } from './overview-fold.js';
import { pathOfKey } from './overview-fold.js';
import type { Answer } from './store.js';

/** A question or an event that a run waits for. */
export interface OpenPause {
  /** What an answer is given to. */
  readonly key: string;
  /** Digest of what is asked: an edited question is another one. */
  readonly id: string;
  /** Path of the step that waits. */
  readonly path: string;
  /** Id of the `ask` node, name of the event or of the question. */
  readonly name: string;
  /** The question; absent: an event. */
  readonly question?: string;
  readonly choices?: readonly string[];
  /** JSON Schema of the answer. */
  readonly schema?: Json;
  /** What a person should see to decide, such as a tool call. */
  readonly evidence?: Json;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** When it is too late. */
  readonly due?: number;
  /** It is too late already. */
  readonly overdue?: true;
}

/** What is waited for and has no answer yet, also none that the run has not taken, in the order of asking. */
export function openPauses(fold: OverviewFold, answers: readonly Answer[], now: number): readonly OpenPause[] {
  const given = new Map(answers.map((answer) => [`${answer.key} ${answer.id}`, answer]));
  return [...fold.pauses.values()]
    .filter((pause) => !given.has(`${pause.key} ${pause.id}`))
    .map(({ key, id, name, at, due, question }) => {
      const { text, ...rest } = question ?? { text: undefined };
      return {
        key,
        id,
        path: pathOfKey(key),
        name,
        ...(text === undefined ? {} : { question: text }),
        ...rest,
        askedAt: at,
        ...(due === undefined ? {} : { due, ...(due <= now ? { overdue: true as const } : {}) }),
      };
    });
}
