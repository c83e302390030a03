import type { Json } from '../../base/json.js';
import { quoteShort } from '../../lang/value-text.js';
import { describe, toJson } from '../../text/nodes.js';
import type { Fields } from '../../text/shape.js';
import { readSchema } from '../schema-key.js';
import type { AskStep, CallStep, MapStep, StepDef } from './definition.js';
import { EXPIRED, MAP } from './keys.js';
import { NO_POLICIES, readDuration, readOnError, readPolicies, readWhen } from './read-policies.js';
import type { OpenStep } from './step-types.js';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** What templates call something else already. */
const OTHER_NAMES: ReadonlySet<string> = new Set(['steps', 'prompt']);

/** A step that repeats steps for each item of a list. Problem codes: `missing-over`, `bad-name`, `bad-path`. */
export function readMap({ fields, base }: OpenStep, steps: readonly StepDef[]): MapStep {
  return {
    type: 'map',
    ...base,
    ...readPolicies(fields),
    over: fields.scalar('over'),
    as: readItemName(fields),
    key: readKeyPath(fields),
    keys: fields.values(MAP),
    steps,
  };
}

function readItemName(fields: Fields): string {
  const name = fields.scalar('as');
  if (name === undefined || (NAME.test(name.text) && !OTHER_NAMES.has(name.text))) return name?.text ?? 'item';
  const hint = 'use letters, digits and _, no digit in front, and neither steps nor prompt';
  fields.error('bad-name', 'as', `as of ${fields.name} is ${quoteShort(name.text)}`, hint);
  return 'item';
}

function readKeyPath(fields: Fields): readonly string[] | undefined {
  const path = fields.scalar('key');
  if (path === undefined) return undefined;
  const parts = path.text.split('.');
  if (parts.every((part) => part.trim() !== '')) return parts;
  const hint = 'write the path into an item that names it, such as key: file.path';
  fields.error('bad-path', 'key', `key of ${fields.name} is ${quoteShort(path.text)}`, hint);
  return undefined;
}

/** A question to a person. Problem codes: `missing-question`, `empty-block`, `bad-duration`, `no-effect`, `missing-answer`. */
export function readAsk({ fields, base }: OpenStep): AskStep {
  return {
    type: 'ask',
    ...base,
    ...NO_POLICIES,
    when: readWhen(fields),
    onError: readOnError(fields),
    question: fields.scalar('question'),
    choices: readChoices(fields),
    schema: readSchema(fields),
    expiresMs: readDuration(fields, 'expires', { min: 1, max: Number.MAX_SAFE_INTEGER }),
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
  return [...new Set(choices.map(({ text }) => text))];
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

/** Another workflow file as a step. Problem codes: `missing-file`. */
export function readCall({ fields, base }: OpenStep): CallStep {
  return {
    type: 'call',
    ...base,
    ...readPolicies(fields),
    file: fields.scalar('file'),
    prompt: fields.scalar('prompt'),
    inputs: readInputs(fields),
  };
}

function readInputs(fields: Fields): CallStep['inputs'] {
  return (fields.entries('inputs') ?? []).flatMap(({ key: name, value, at }) => {
    if (value.kind === 'scalar') return [{ name, value, at }];
    const message = `input ${quoteShort(name)} of ${fields.name} must be text, not ${describe(value)}`;
    const hint = 'write one text, in quotes where it is needed';
    fields.findings.error('wrong-type', message, value.at, hint);
    return [];
  });
}
