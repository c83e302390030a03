import { isPlainObject, ownValue, type Json } from '../base/json.js';
import type { Position } from '../base/problem.js';
import type {
  CelVar,
  Computed,
  Condition,
  ItemsBlock,
  JsonTemplate,
  OutputsBlock,
  Template,
  TemplateRef,
  Truncate,
  ValueRef,
  XmlNames,
} from '../lang/values.js';
import {
  any,
  flag,
  integer,
  is,
  list,
  misfit,
  names,
  NUMBER,
  object,
  TEXT,
  variants,
  withKey,
  withPart,
  word,
  type Form,
  type Keys,
  type Misfits,
} from './form.js';

export const POSITION = object<Position>({ 'file?': TEXT, line: NUMBER, column: NUMBER });

const REF_KEYS: Keys<ValueRef> = { channel: TEXT, 'path?': list(TEXT), 'written?': TEXT, 'absent?': any<Json>() };

export const REF = object<ValueRef>(REF_KEYS);

const TRUNCATE = object<Truncate>({
  strategy: word('chars', 'lines', 'tokens'),
  limit: integer(0),
  'keep?': word('first', 'last'),
});
const TEMPLATE_REF = object<TemplateRef>({
  ...REF_KEYS,
  'truncate?': TRUNCATE,
  'escape?': word('xml'),
  'mustBe?': word('text'),
  'optional?': flag<true>(),
  'expected?': flag<true>(),
});
const TAG = is<string>(
  (value) => typeof value === 'string' && /^[A-Za-z_][\w.-]*$/.test(value),
  'the name of an XML element: letters, digits, _, - and .',
);
const XML = object<XmlNames>({ tag: TAG, each: TAG });
const OUTPUTS = object<OutputsBlock>({
  outputs: word('prior'),
  'xml?': XML,
  'budget?': integer(1),
  'except?': list(TEXT),
  'only?': list(TEXT),
});
const ITEMS = object<ItemsBlock>({ items: REF, xml: XML, 'budget?': integer(1) });
const MOST_FIELDS = 50;

const CEL_VAR: Form<CelVar> = (value) => celVarMisfits(value, 0);

/** The data determines how deep fields are nested. */
function celVarMisfits(value: unknown, depth: number): Misfits {
  if (depth > MOST_FIELDS) return misfit(`is nested deeper than ${MOST_FIELDS} levels`);
  const fields = ownValue(value, 'fields');
  if (fields === undefined) return REF(value);
  return withPart(undefined, 'fields', names((field) => celVarMisfits(field, depth + 1))(fields));
}

const COMPUTED = object<Computed>({ expression: TEXT, vars: names(CEL_VAR), 'truncate?': TRUNCATE });
const INSERTED = withKey('outputs', OUTPUTS, withKey('items', ITEMS, withKey('expression', COMPUTED, TEMPLATE_REF)));

export const TEMPLATE: Form<Template> = list((piece) => (typeof piece === 'string' ? undefined : INSERTED(piece)));

/** Maximum depth of lists and objects in a JSON template. */
const MOST_LEVELS = 200;

/** A JSON value whose texts are templates. */
export const JSON_TEMPLATE: Form<JsonTemplate> = (value) => jsonTemplateMisfits(value, 0);

function jsonTemplateMisfits(value: unknown, depth: number): Misfits {
  if (depth > MOST_LEVELS) return misfit(`is nested deeper than ${MOST_LEVELS} levels`);
  if (!isPlainObject(value)) return misfit('must be an object');
  if (Object.hasOwn(value, 'value')) return undefined;
  if (Object.hasOwn(value, 'template')) return withPart(undefined, 'template', TEMPLATE(value['template']));
  const inner = (part: unknown): Misfits => jsonTemplateMisfits(part, depth + 1);
  if (Object.hasOwn(value, 'list')) return withPart(undefined, 'list', list(inner)(value['list']));
  if (Object.hasOwn(value, 'object')) return withPart(undefined, 'object', names(inner)(value['object']));
  return Object.hasOwn(value, 'expression') ? COMPUTED(value) : TEMPLATE_REF(value);
}

/** The fields of a condition, without its operator. */
type Beside<O> = Condition extends infer C
  ? C extends Condition
    ? O extends C['op']
      ? Omit<C, 'op'>
      : never
    : never
  : never;

export const LINE = is<string>(
  (value) => typeof value === 'string' && value !== '' && value === value.trim() && !value.includes('\n'),
  'one line of text, without spaces around it',
);
const TEXT_KEYS = { value: REF, operand: TEMPLATE };
const CONDITION_FORMS: { readonly [O in Condition['op']]: Form<Beside<O>> } = {
  contains: object(TEXT_KEYS),
  not_contains: object(TEXT_KEYS),
  equals: object(TEXT_KEYS),
  matches_json: object({ value: REF, operand: any<Json>() }),
  truthy: object({ value: REF, text: TEXT, 'optional?': flag<true>() }),
  line: object({ value: REF, line: LINE }),
  cel: object({ expression: TEXT, vars: names(CEL_VAR), 'text?': TEXT }),
  code: object({}),
};

/** Conditions that must all hold. */
export const CONDITIONS: Form<readonly Condition[]> = list(
  variants('op', Object.keys(CONDITION_FORMS) as Condition['op'][], (op) => CONDITION_FORMS[op]),
);
