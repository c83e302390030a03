import { isGuardQuestion, pathOf, stepOf } from '../base/address.js';
import { recordText, type Json } from '../base/json.js';

/**
 * A question that waits for an answer, or an event that the run waits for. Results of runs, events, stores and the JSON of the command line
 * all report it in this form.
 */
export interface OpenQuestion {
  /** The key that an answer names: the path of the step, its attempt from the second on, and the part of the step that asks. */
  readonly key: string;
  /** Digest of the question: an edited question gets another id. */
  readonly id: string;
  /** Path of the step that waits. */
  readonly path: string;
  /** Id of the `ask` node, or name of the event or the question. */
  readonly name: string;
  /** The text of the question. Absent for an event. */
  readonly question?: string;
  readonly choices?: readonly string[];
  /** JSON Schema of the answer. */
  readonly schema?: Json;
  /** What a person needs to see to decide, such as a tool call. */
  readonly evidence?: Json;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** Deadline, in milliseconds since 1970. Absent if the question has none. */
  readonly expires?: number;
  /** True if the deadline has passed. */
  readonly overdue?: true;
}

/** A recorded question or event. */
export interface Waiting {
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly at: number;
  /** Deadline. */
  readonly due?: number;
  /** JSON Schema of the event's value. */
  readonly schema?: Json;
  readonly question?: {
    readonly text: string;
    readonly choices?: readonly string[];
    readonly schema?: Json;
    readonly evidence?: Json;
  };
}

/** Returns the report of a recorded question or event. */
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

/** Returns the shortest name that means this question alone among the open ones: of the event, the step's path, or the key. */
export function questionName(asked: OpenQuestion, open: readonly OpenQuestion[]): string {
  if (isGuardQuestion(asked.key)) return asked.key;
  // An event has a name that the author chose; the name of a question, such as `1` or `ask:tool#1.1`, says nothing to a person.
  const names = asked.question === undefined ? [asked.name, asked.path] : [asked.path];
  const others = open.filter((one) => one !== asked);
  return (
    names.find((name) => others.every(({ key, path, name: its }) => ![key, path, its].includes(name))) ?? asked.key
  );
}

/** Describes where an answer came from, such as `by skein answer` for `command`. Undefined if unknown. */
export function answeredText(by: string | undefined): string {
  return by === undefined ? 'by a person' : (ANSWERED.get(by) ?? `by ${by}`);
}

const ANSWERED: ReadonlyMap<string, string> = new Map([
  ['terminal', 'on the terminal'],
  ['command', 'by skein answer'],
  ['stdin', 'from standard input'],
  ['code', 'by the program'],
  ['script', 'by the script'],
  ['flag', 'by --yes'],
]);

/** Returns the note that reports an answer to listeners. */
export function answerNote(answer: unknown): { readonly kind: 'answer'; readonly answer: string } {
  return { kind: 'answer', answer: typeof answer === 'string' ? answer : recordText(answer) };
}
