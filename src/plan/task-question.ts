import { lazily } from '../base/collections.js';
import { SkeinError } from '../base/errors.js';
import { asRecorded, isPlainObject, type Json } from '../base/json.js';
import { messageOf } from '../base/thrown.js';
import { schemaFault } from '../lang/schema-check.js';
import type { TaskQuestion } from './builder-input.js';
import { convertedSchema, standardOf } from './given-schema.js';

/** Returns the schema of an answer: the given one, or one of the choices. */
export function answerSchema(choices: readonly string[] | undefined, schema: unknown): { readonly schema?: unknown } {
  if (schema !== undefined) return { schema };
  return choices === undefined ? {} : { schema: { enum: choices } };
}

/**
 * Checks a function's question and adds the answer's schema. Functions may be untyped, and unreadable data must not be recorded.
 *
 * @throws SkeinError `SKEIN_USAGE` for an invalid question
 */
export function asQuestion(question: TaskQuestion): Omit<TaskQuestion, 'schema'> & ReturnType<typeof answerSchema> {
  if (!isPlainObject(question) || typeof question.text !== 'string')
    throw new SkeinError('SKEIN_USAGE', 'a question must be an object with a text', { hint: HINT });
  const { text, choices, evidence } = question;
  const areTexts = Array.isArray(choices) && choices.every((choice) => typeof choice === 'string');
  if (choices !== undefined && !areTexts)
    throw new SkeinError('SKEIN_USAGE', 'the choices of a question must be a list of texts', { hint: HINT });
  const standard = standardOf(question.schema);
  const schema = standard === undefined ? question.schema : (convertedSchema(standard) ?? null);
  const fault = schema === undefined ? undefined : schema === null ? NO_JSON_SCHEMA : schemaFault(schema);
  // No answer would match it, so the run would wait for good.
  if (fault !== undefined)
    throw new SkeinError('SKEIN_USAGE', `the schema of a question can't be used: ${fault}`, { hint: SCHEMA_HINT });
  return {
    text,
    ...(choices === undefined ? {} : { choices }),
    ...answerSchema(choices, schema),
    ...(evidence === undefined ? {} : { evidence: asEvidence(evidence) }),
  };
}

/** @throws SkeinError `SKEIN_USAGE` for what is not JSON */
function asEvidence(evidence: unknown): Json {
  try {
    return asRecorded(evidence);
  } catch (cause) {
    const message = `the evidence of a question must be JSON: ${messageOf(cause)}`;
    throw new SkeinError('SKEIN_USAGE', message, { hint: EVIDENCE_HINT, cause });
  }
}

const NO_JSON_SCHEMA = "it can't be converted to JSON Schema";
const HINT = "such as ask({ text: 'Publish?', choices: ['yes', 'no'] })";
const EVIDENCE_HINT = "it is JSON: ask({ text: 'Publish?', evidence: { draft } })";
const SCHEMA_HINT = "such as ask({ text: 'How many?', schema: { type: 'integer' } })";

/** Excludes control characters and unpaired surrogates: the name becomes part of a path. */
const NAME = lazily(() => /^\P{C}+$/u);

/**
 * Returns the name of a question: the given one, else its number in the step.
 *
 * @throws SkeinError `SKEIN_USAGE` for a name that is not a text, or has control characters
 */
export function questionName(name: unknown, number: string): string {
  if (name === undefined) return number;
  if (typeof name === 'string' && NAME().test(name)) return name;
  throw new SkeinError('SKEIN_USAGE', 'the name of a question must be a text of one line', {
    hint: "such as ask(question, 'publish')",
  });
}
