import type { Json } from '../../base/json.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Findings } from '../../text/findings.js';
import { describe, toJson } from '../../text/nodes.js';
import type { Fields } from '../../text/shape.js';
import type { AskStep, CallStep, MapStep, StepDef } from './definition.js';
import { DEFAULT_ITEMS, EXPIRED, MAP } from './keys.js';
import { NO_POLICIES, readDuration, readOnError, readPolicies } from './read-policies.js';
import { requireKey } from './step-types.js';
import type { OpenStep } from './step-types.js';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** What templates call something else already. */
const OTHER_NAMES: ReadonlySet<string> = new Set(['steps', 'prompt']);

/**
 * A step that repeats steps for each item of a list. Problem codes: `missing-over`, `bad-name`, `bad-path`.
 *
 * @example
 * const step = readMap(open, innerSteps, findings);
 */
export function readMap(step: OpenStep, steps: readonly StepDef[], findings: Findings): MapStep {
  const { fields, base } = step;
  const hint = 'add "over: $steps.ID.output", the list to go through';
  requireKey(step, 'map', { key: 'over', code: 'missing-over', hint, text: true }, findings);
  return {
    type: 'map',
    ...base,
    ...readPolicies(fields, base.label, findings),
    over: fields.scalar('over'),
    as: readItemName(step, findings),
    key: readKeyPath(step, findings),
    maxItems: fields.integer('max_items', MAP.keys.max_items) ?? DEFAULT_ITEMS,
    concurrency: fields.integer('concurrency', MAP.keys.concurrency),
    onItemError: fields.word('on_item_error', MAP.keys.on_item_error) ?? 'fail',
    steps,
  };
}

function readItemName({ fields, base }: OpenStep, findings: Findings): string {
  const name = fields.scalar('as');
  if (name === undefined || (NAME.test(name.text) && !OTHER_NAMES.has(name.text))) return name?.text ?? 'item';
  const hint = 'use letters, digits and _, no digit in front, and neither steps nor prompt';
  findings.error('bad-name', `as of ${base.label} is ${quoteShort(name.text)}`, name.at, hint);
  return 'item';
}

function readKeyPath({ fields, base }: OpenStep, findings: Findings): readonly string[] | undefined {
  const path = fields.scalar('key');
  if (path === undefined) return undefined;
  const parts = path.text.split('.');
  if (parts.every((part) => part.trim() !== '')) return parts;
  const hint = 'write the path into an item that names it, such as key: file.path';
  findings.error('bad-path', `key of ${base.label} is ${quoteShort(path.text)}`, path.at, hint);
  return undefined;
}

/**
 * A question to a person. Problem codes: `missing-question`, `empty-block`, `bad-duration`, `no-effect`, `missing-answer`.
 *
 * @example
 * const step = readAsk(open, findings);
 */
export function readAsk(step: OpenStep, findings: Findings): AskStep {
  const { fields, base } = step;
  const hint = 'add "question: TEXT"';
  requireKey(step, 'ask', { key: 'question', code: 'missing-question', hint, text: true }, findings);
  const limits = { label: base.label, min: 1, max: Number.MAX_SAFE_INTEGER };
  return {
    type: 'ask',
    ...base,
    ...NO_POLICIES,
    onError: readOnError(fields),
    question: fields.scalar('question'),
    choices: readChoices(step, findings),
    schema: readSchema(fields, base.label, findings),
    expiresMs: readDuration(fields, 'expires', limits, findings),
    expireAnswer: readExpireAnswer(fields, base.label, findings),
  };
}

function readChoices({ fields, base }: OpenStep, findings: Findings): readonly string[] | undefined {
  const choices = fields.texts('choices');
  if (choices === undefined) return undefined;
  const node = fields.node('choices');
  if (node?.kind === 'list' && node.items.length === 0) {
    findings.error('empty-block', `choices of ${base.label} is empty`, node.at, 'list the answers, or remove the key');
    return undefined;
  }
  return [...new Set(choices.map(({ text }) => text))];
}

function readSchema(fields: Fields, label: string, findings: Findings): Json | undefined {
  const node = fields.node('schema');
  if (node === undefined) return undefined;
  if (node.kind === 'map') return toJson(node);
  const message = `schema of ${label} must be a JSON Schema, not ${describe(node)}`;
  findings.error('wrong-type', message, node.at, 'write a map such as {type: boolean}');
  return undefined;
}

function readExpireAnswer(step: Fields, label: string, findings: Findings): Json | undefined {
  const node = step.node('on_expire');
  if (node?.kind === 'scalar' && node.text === 'fail') return undefined;
  const fields = step.fields('on_expire', EXPIRED);
  if (fields === undefined) return undefined;
  if (!step.has('expires')) {
    const hint = 'add "expires: 24h", or remove on_expire';
    findings.warning('no-effect', `on_expire of ${label} has no effect: it never expires`, fields.at, hint);
    return undefined;
  }
  const answer = fields.node('answer');
  if (answer !== undefined) return toJson(answer);
  findings.error('missing-answer', `on_expire of ${label} gives no answer`, fields.at, 'write {answer: no}');
  return undefined;
}

/**
 * Another workflow file as a step. Problem codes: `missing-file`.
 *
 * @example
 * const step = readCall(open, findings);
 */
export function readCall(step: OpenStep, findings: Findings): CallStep {
  const { fields, base } = step;
  const hint = 'add "file: PATH", relative to this file';
  requireKey(step, 'call', { key: 'file', code: 'missing-file', hint, text: true }, findings);
  return {
    type: 'call',
    ...base,
    ...readPolicies(fields, base.label, findings),
    file: fields.scalar('file'),
    prompt: fields.scalar('prompt'),
    inputs: readInputs(fields, base.label, findings),
  };
}

function readInputs(fields: Fields, label: string, findings: Findings): CallStep['inputs'] {
  const inputs: CallStep['inputs'][number][] = [];
  for (const { key: name, value, at } of fields.entries('inputs') ?? []) {
    if (value.kind === 'scalar') inputs.push({ name, value, at });
    else {
      const message = `input ${quoteShort(name)} of ${label} must be text, not ${describe(value)}`;
      findings.error('wrong-type', message, value.at, 'write one text, in quotes where it is needed');
    }
  }
  return inputs;
}
