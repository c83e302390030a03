import { pathOf, stepOf } from '../base/address.js';
import type { Json } from '../base/json.js';
import { recordText } from '../base/json.js';

/**
 * A question that waits for an answer, or an event that is waited for. It has the same form wherever it is reported: in the result of a run, in an
 * event, in what is read of a store, and in JSON of the command line.
 */
export interface OpenQuestion {
  /** What an answer is given to: the path of the step, its attempt from the second on, and what of the step asks. */
  readonly key: string;
  /** Digest of what is asked: an edited question is another one. */
  readonly id: string;
  /** Path of the step that waits. */
  readonly path: string;
  /** Id of the `ask` node, name of the event or of the question. */
  readonly name: string;
  /** What is asked; absent: an event. */
  readonly question?: string;
  readonly choices?: readonly string[];
  /** JSON Schema of the answer. */
  readonly schema?: Json;
  /** What a person should see to decide, such as a tool call. */
  readonly evidence?: Json;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** When it is too late, milliseconds since 1970; absent: never. */
  readonly expires?: number;
  /** It is too late already. */
  readonly overdue?: true;
}

/** A question or an event as it is recorded. */
export interface Waiting {
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly at: number;
  /** When it is too late. */
  readonly due?: number;
  /** Of an event: JSON Schema of what comes with it. */
  readonly schema?: Json;
  readonly question?: {
    readonly text: string;
    readonly choices?: readonly string[];
    readonly schema?: Json;
    readonly evidence?: Json;
  };
}

/**
 * What is reported of something that is waited for.
 *
 * @example
 * openQuestion({ key: 'gate@answer', id: '8fK...', name: 'gate', at: 0, question: { text: 'Publish?' } }).path; // 'gate'
 */
export function openQuestion({ key, id, name, at, due, question, schema }: Waiting): OpenQuestion {
  const { text, ...rest } = question ?? { text: undefined };
  return {
    key,
    id,
    path: pathOf(stepOf(key)),
    name,
    ...(text === undefined ? {} : { question: text }),
    ...rest,
    ...(schema === undefined ? {} : { schema }),
    askedAt: at,
    ...(due === undefined ? {} : { expires: due }),
  };
}

/**
 * Where an answer came from, in words: `terminal`, `command` (`skein answer`), `code` (the program), `script`, `flag` (`--yes`), or what a store
 * says. Undefined: nobody knows.
 *
 * @example
 * answeredText('command'); // 'by skein answer'
 */
export function answeredText(by: string | undefined): string {
  return by === undefined ? 'by a person' : (ANSWERED.get(by) ?? `by ${by}`);
}

const ANSWERED: ReadonlyMap<string, string> = new Map([
  ['terminal', 'on the terminal'],
  ['command', 'by skein answer'],
  ['code', 'by the program'],
  ['script', 'by the script'],
  ['flag', 'by --yes'],
]);

/** What listeners are told of an answer. */
export function answerNote(answer: unknown): { readonly kind: 'answer'; readonly answer: string } {
  return { kind: 'answer', answer: typeof answer === 'string' ? answer : recordText(answer) };
}
