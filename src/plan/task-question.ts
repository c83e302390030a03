import type { TaskQuestion } from './builder-input.js';

/** The schema of an answer: as it is given, or that of a choice. */
export function answerSchema(choices: readonly string[] | undefined, schema: unknown): { readonly schema?: unknown } {
  if (schema !== undefined) return { schema };
  return choices === undefined ? {} : { schema: { enum: choices } };
}

/** What a function of the program asks, with the schema of its answer. */
export function asQuestion({ text, choices, schema }: TaskQuestion): {
  readonly text: string;
  readonly choices?: readonly string[];
  readonly schema?: unknown;
} {
  return {
    text,
    ...(choices === undefined ? {} : { choices }),
    ...answerSchema(choices, schema),
  };
}
