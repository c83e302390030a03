import type { Json } from '../base/json.js';
import { choiceSchema, type TextChoice } from '../lang/answers.js';
import { any, either, list, map, text } from '../text/forms.js';
import { checkName, NAME_FORM } from '../text/names.js';
import { describe, toJson, type SourceNode, type SourceScalar } from '../text/nodes.js';
import { readFields, type Fields } from '../text/shape.js';
import { STEP_SCHEMA } from './schema-form.js';
import { readSchema } from './schema-key.js';
import { duration, LONGEST_WAIT_MS, readDuration } from './step-keys.js';

/** The answer to an expired question. */
const EXPIRED = map({ answer: any('the answer', { needed: true }) }, 'the answer that counts then');

/** A choice that also requires a text. */
const CHOICE = map(
  {
    value: text('the choice', { needed: true }),
    text: text('the name of the text that is asked for as well', { ...NAME_FORM, except: ['choice'], needed: true }),
  },
  '',
);

export const ASK_KEYS = {
  question: text('what is asked', { needed: true }),
  choices: either(
    [
      text('', { needed: true, blank: true }),
      list(either([text('', { needed: true }), CHOICE], '', { needed: true }), '', { min: 1 }),
    ],
    'answers to choose from, some of which may ask for a text as well; or a reference to a list of them',
  ),
  schema: STEP_SCHEMA,
  expires: duration('how long the question waits: 24h', 0.0005, LONGEST_WAIT_MS / 1_000),
  on_expire: either([text('', { pattern: '^(?:fail|\\s*)$' }), EXPIRED], 'what happens then: fail, or {answer: VALUE}'),
} as const;

export interface AskDef {
  /** Undefined if a problem was reported. */
  readonly question: SourceScalar | undefined;
  readonly choices: readonly string[] | undefined;
  readonly choicesFrom: SourceScalar | undefined;
  readonly schema: Json | undefined;
  readonly expiresMs: number | undefined;
  /** The answer used when the question expires. Undefined: the step fails. */
  readonly expireAnswer: Json | undefined;
}

/** Reads a question. Codes: `missing-question`, `empty-block`, `bad-duration`, `no-effect`, `missing-answer`, and those of the types. */
export function readAskKeys(fields: Fields): AskDef {
  fields.needs('question', 'missing-question', `${fields.name} asks nothing`, 'add "question: TEXT"');
  const node = fields.node('choices');
  const isReference = node?.kind === 'scalar';
  const choices = isReference ? undefined : readChoices(fields);
  const asksText = choices?.some((choice) => choice.text !== undefined) === true;
  const schema = readSchema(fields);
  if (asksText && schema !== undefined) {
    const message = `schema of ${fields.name} has no effect when a choice asks for a text`;
    fields.warning('no-effect', 'schema', message, 'remove it');
  }
  const expireAnswer = readExpireAnswer(fields);
  return {
    question: fields.scalar('question'),
    choices: choices?.map(({ value }) => value),
    choicesFrom: isReference ? fields.given('choices') : undefined,
    schema: asksText ? choiceSchema(choices) : schema,
    expiresMs: readDuration(fields, 'expires', { min: 1, max: LONGEST_WAIT_MS }),
    expireAnswer: asksText && typeof expireAnswer === 'string' ? { choice: expireAnswer } : expireAnswer,
  };
}

function readChoices(fields: Fields): readonly TextChoice[] | undefined {
  const items = fields.items('choices', 'list the answers, or write a reference to a list');
  if (items === undefined) return undefined;
  if (items.length === 0) {
    const message = `choices of ${fields.name} is empty`;
    fields.error('empty-block', 'choices', message, 'list the answers, or remove the key');
    return undefined;
  }
  const choices = items.flatMap((item) => readChoice(item, fields));
  return [...new Map(choices.map((choice) => [choice.value, choice])).values()];
}

function readChoice(item: SourceNode, { name, findings }: Fields): readonly TextChoice[] {
  if (item.kind === 'scalar' && item.text.trim() !== '' && item.value !== null) return [{ value: item.text }];
  const owner = `a choice of ${name}`;
  if (item.kind !== 'map') {
    const message = `${owner} must be a text, not ${describe(item)}`;
    findings.error('wrong-type', message, item.at, 'write a text, or {value: revise, text: feedback}');
    return [];
  }
  const fields = readFields(item, { name: owner, form: CHOICE }, findings);
  const value = fields?.given('value')?.text;
  const label = fields?.given('text');
  for (const key of ['value', 'text'])
    fields?.needs(key, 'missing-answer', `${owner} has no ${key}`, 'write {value: revise, text: feedback}');
  if (value === undefined || label === undefined) return [];
  if (label.text === 'choice' || !checkName(label.text, 'name of a text', label.at, findings)) {
    if (label.text === 'choice') {
      const message = `the text of ${owner} can't be called choice: that is the choice itself`;
      findings.error('bad-name', message, label.at, 'call it feedback, for example');
    }
    return [];
  }
  return [{ value, text: label.text }];
}

function readExpireAnswer(step: Fields): Json | undefined {
  const node = step.node('on_expire');
  if (node?.kind === 'scalar' && node.text === 'fail') return undefined;
  const fields = step.fields('on_expire', EXPIRED);
  if (fields === undefined) return undefined;
  const answer = fields.node('answer');
  if (answer === undefined)
    step.error('missing-answer', 'on_expire', `on_expire of ${step.name} gives no answer`, 'write {answer: no}');
  if (step.has('expires')) return answer === undefined ? undefined : toJson(answer);
  const hint = 'add "expires: 24h", or remove on_expire';
  step.warning('no-effect', 'on_expire', `on_expire of ${step.name} has no effect: it never expires`, hint);
  return undefined;
}
