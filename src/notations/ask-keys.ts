import type { Json } from '../base/json.js';
import { any, either, map, text, texts } from '../text/forms.js';
import { toJson } from '../text/nodes.js';
import type { SourceScalar } from '../text/nodes.js';
import type { Fields } from '../text/shape.js';
import { STEP_SCHEMA } from './schema-form.js';
import { readSchema } from './schema-key.js';
import { duration, LONGEST_WAIT_MS, readDuration } from './duration-key.js';

/** What happens to a question that nobody answers. */
const EXPIRED = map({ answer: any('the answer', { needed: true }) }, 'the answer that counts then');

/** The keys of a question to a person in YAML. */
export const ASK_KEYS = {
  question: text('what is asked', { needed: true }),
  choices: texts('answers to choose from', { min: 1 }),
  schema: STEP_SCHEMA,
  expires: duration('how long the question waits: 24h', 0.0005, LONGEST_WAIT_MS / 1_000),
  on_expire: either([text('', { pattern: '^(?:fail|\\s*)$' }), EXPIRED], 'what happens then: fail, or {answer: VALUE}'),
} as const;

/** A question, as it was written. */
export interface AskDef {
  /** Absent: something was reported. */
  readonly question: SourceScalar | undefined;
  readonly choices: readonly string[] | undefined;
  readonly schema: Json | undefined;
  readonly expiresMs: number | undefined;
  /** The answer that is taken when nobody gave one in time; absent: the step fails then. */
  readonly expireAnswer: Json | undefined;
}

/** Reads the keys of a question. Problem codes: `missing-question`, `empty-block`, `bad-duration`, `no-effect`, `missing-answer`, and those of the types. */
export function readAskKeys(fields: Fields): AskDef {
  if (fields.lacks('question'))
    fields.error('missing-question', 'question', `${fields.name} asks nothing`, 'add "question: TEXT"');
  return {
    question: fields.scalar('question'),
    choices: readChoices(fields),
    schema: readSchema(fields),
    expiresMs: readDuration(fields, 'expires', { min: 1, max: LONGEST_WAIT_MS }),
    expireAnswer: readExpireAnswer(fields),
  };
}

function readChoices(fields: Fields): readonly string[] | undefined {
  const choices = fields.texts('choices');
  if (choices === undefined) return undefined;
  const node = fields.node('choices');
  if (node?.kind === 'list' && node.items.length === 0) {
    const message = `choices of ${fields.name} is empty`;
    fields.error('empty-block', 'choices', message, 'list the answers, or remove the key');
    return undefined;
  }
  return [...new Set(choices.map((choice) => choice.text))];
}

function readExpireAnswer(step: Fields): Json | undefined {
  const node = step.node('on_expire');
  if (node?.kind === 'scalar' && node.text === 'fail') return undefined;
  const fields = step.fields('on_expire', EXPIRED);
  if (fields === undefined) return undefined;
  if (!step.has('expires')) {
    const hint = 'add "expires: 24h", or remove on_expire';
    step.warning('no-effect', 'on_expire', `on_expire of ${step.name} has no effect: it never expires`, hint);
    return undefined;
  }
  const answer = fields.node('answer');
  if (answer !== undefined) return toJson(answer);
  step.error('missing-answer', 'on_expire', `on_expire of ${step.name} gives no answer`, 'write {answer: no}');
  return undefined;
}
