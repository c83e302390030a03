import { isPlainObject } from '../base/json.js';
import type { Problem } from '../base/problem.js';

/** Reports what is wrong with a value at a path. */
type Report = (path: string, message: string) => void;
type Form = (value: unknown, path: string, report: Report) => void;

/**
 * Checks that a value has the form of a plan, so that whatever reads it afterwards finds the types it expects. Sub-plans are not entered.
 * Never throws, whatever the value.
 */
export function checkForm(plan: unknown, place: string): readonly Problem[] {
  const problems: Problem[] = [];
  PLAN(plan, place, (path, message) => {
    const where = path === '' ? 'the plan' : path;
    problems.push({ code: 'bad-plan', severity: 'error', message: `${where} ${message}`, path: where });
  });
  return problems;
}

function is(test: (value: unknown) => boolean, what: string): Form {
  return (value, path, report) => {
    if (!test(value)) report(path, `must be ${what}`);
  };
}

const TEXT = is((value) => typeof value === 'string', 'text');
const NUMBER = is((value) => typeof value === 'number', 'a number');
const FLAG = is((value) => typeof value === 'boolean', 'true or false');
const OBJECT = is(isPlainObject, 'an object');
const ANY: Form = () => {};

function oneOf(...words: readonly unknown[]): Form {
  return is((value) => words.includes(value), `one of ${words.map((word) => JSON.stringify(word)).join(', ')}`);
}

function list(item: Form): Form {
  return (value, path, report) => {
    if (!Array.isArray(value)) report(path, 'must be a list');
    else value.forEach((each, at) => item(each, `${path}[${at}]`, report));
  };
}

function record(item: Form): Form {
  return (value, path, report) => {
    if (!isPlainObject(value)) report(path, 'must be an object');
    else for (const key of Object.keys(value)) item(value[key], `${path}.${key}`, report);
  };
}

/** An object with these keys; a key that ends with `?` may be absent. Other keys are left alone. */
function object(keys: Readonly<Record<string, Form>>): Form {
  const fields = Object.entries(keys).map(([key, form]) => ({
    key: key.replace(/\?$/, ''),
    optional: key.endsWith('?'),
    form,
  }));
  return (value, path, report) => {
    if (!isPlainObject(value)) {
      report(path, 'must be an object');
      return;
    }
    for (const { key, optional, form } of fields) {
      const field = Object.hasOwn(value, key) ? value[key] : undefined;
      const at = path === '' ? key : `${path}.${key}`;
      if (field !== undefined) form(field, at, report);
      else if (!optional) report(at, 'is missing');
    }
  };
}

/** Text, or an object of a form. */
function textOr(words: readonly string[], form: Form): Form {
  return (value, path, report) =>
    typeof value === 'string' ? oneOf(...words)(value, path, report) : form(value, path, report);
}

const REF_KEYS = { channel: TEXT, 'path?': list(TEXT), 'written?': TEXT };
const REF = object(REF_KEYS);
const TRUNCATE = object({
  strategy: oneOf('chars', 'lines', 'tokens'),
  limit: NUMBER,
  'keep?': oneOf('first', 'last'),
});
const TEMPLATE_REF = object({ ...REF_KEYS, 'truncate?': TRUNCATE, 'mustBe?': oneOf('text'), 'expected?': FLAG });
const OUTPUTS = object({ outputs: oneOf('prior') });
const TEMPLATE = list((piece, path, report) => {
  if (typeof piece === 'string') return;
  const isBlock = isPlainObject(piece) && Object.hasOwn(piece, 'outputs');
  (isBlock ? OUTPUTS : TEMPLATE_REF)(piece, path, report);
});

const MOST_FIELDS = 50;

/** Fields within fields are followed by hand: how deep they go comes from the data. */
const CEL_VAR: Form = (value, path, report) => {
  let level = [{ value, path }];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MOST_FIELDS) {
      report(path, `is nested deeper than ${MOST_FIELDS} levels`);
      return;
    }
    const below: typeof level = [];
    for (const each of level) {
      const fields =
        isPlainObject(each.value) && Object.hasOwn(each.value, 'fields') ? each.value['fields'] : undefined;
      if (fields === undefined) REF(each.value, each.path, report);
      else if (!isPlainObject(fields)) report(`${each.path}.fields`, 'must be an object');
      else
        for (const key of Object.keys(fields)) below.push({ value: fields[key], path: `${each.path}.fields.${key}` });
    }
    level = below;
  }
};

const TEXT_CONDITION = object({ value: REF, operand: TEMPLATE });
const CONDITION_FORMS: ReadonlyMap<unknown, Form> = new Map<unknown, Form>([
  ['contains', TEXT_CONDITION],
  ['not_contains', TEXT_CONDITION],
  ['equals', TEXT_CONDITION],
  ['matches_json', object({ value: REF, operand: ANY })],
  ['truthy', object({ value: REF, text: TEXT })],
  ['cel', object({ expression: TEXT, vars: record(CEL_VAR), 'text?': TEXT })],
  ['code', ANY],
]);

const CONDITIONS = list(byWord('op', CONDITION_FORMS));

const TO = object({ to: TEXT });
const FAIL = object({ fail: TEXT, 'hint?': TEXT });
const AT_CAP: Form = (value, path, report) =>
  (isPlainObject(value) && Object.hasOwn(value, 'fail') ? FAIL : TO)(value, path, report);
const EFFECT = oneOf('read', 'idempotent', 'once');
const NODE_KEYS = {
  id: TEXT,
  'label?': TEXT,
  'writes?': list(TEXT),
  'output?': TEXT,
  'join?': textOr(['all', 'any', 'each', 'settled'], object({ quorum: NUMBER })),
  'when?': CONDITIONS,
  'retry?': object({
    retries: NUMBER,
    backoff: oneOf('fixed', 'linear', 'exponential'),
    delayMs: NUMBER,
    'maxDelayMs?': NUMBER,
    'on?': textOr(
      ['any', 'code'],
      list(is((value) => ['string', 'number'].includes(typeof value), 'a text or a number')),
    ),
    'jitter?': NUMBER,
  }),
  'timeoutMs?': NUMBER,
  'onError?': textOr(['fail', 'continue', 'skipDependents', 'ignore'], TO),
  'maxVisits?': NUMBER,
  'countsAnewFrom?': TEXT,
  'onMaxVisits?': textOr(['fail', 'skip'], AT_CAP),
  'effect?': EFFECT,
  'version?': TEXT,
  'quiet?': FLAG,
};

const AGENT = object({
  name: TEXT,
  instructions: TEMPLATE,
  models: list(TEXT),
  'tools?': list(TEXT),
  'functions?': list(object({ name: TEXT, description: TEXT, input: OBJECT, effect: EFFECT, 'coerce?': FLAG })),
  'approve?': list(TEXT),
  'permissions?': object({ 'deny?': list(TEXT), 'allow?': list(TEXT) }),
  'mcpServers?': record(OBJECT),
  'maxTurns?': NUMBER,
  'maxToolCalls?': NUMBER,
  'output?': object({ schema: ANY }),
  'allowEmpty?': FLAG,
  'about?': list(oneOf('date', 'environment')),
});
const TEXT_INPUT = object({ template: TEMPLATE });
const SUB_INPUTS = record((value, path, report) => {
  if (isPlainObject(value) && Object.hasOwn(value, 'value')) return;
  (isPlainObject(value) && Object.hasOwn(value, 'template') ? TEXT_INPUT : REF)(value, path, report);
});
const SUB_KEYS = {
  plan: OBJECT,
  'errorPrefix?': TEXT,
  'inputs?': SUB_INPUTS,
  'outputs?': record(TEXT),
  'concurrency?': NUMBER,
};

const ASK_KEYS = {
  question: TEMPLATE,
  'choices?': list(TEXT),
  'expiresMs?': NUMBER,
  'onExpire?': textOr(['fail'], object({ answer: ANY })),
};

const NODE_FORMS: ReadonlyMap<unknown, Form> = new Map<unknown, Form>([
  ['task', object(NODE_KEYS)],
  ['agent', object({ ...NODE_KEYS, agent: AGENT, prompt: TEMPLATE })],
  ['call', object({ ...NODE_KEYS, ...SUB_KEYS })],
  [
    'map',
    object({ ...NODE_KEYS, ...SUB_KEYS, over: REF, item: TEXT, 'key?': list(TEXT), result: TEXT, 'maxItems?': NUMBER }),
  ],
  ['loop', object({ ...NODE_KEYS, ...SUB_KEYS, until: CONDITIONS, 'carry?': list(TEXT), 'maxRounds?': NUMBER })],
  ['ask', object({ ...NODE_KEYS, ...ASK_KEYS })],
  [
    'wait',
    object({
      ...NODE_KEYS,
      'ms?': NUMBER,
      'event?': TEXT,
      'until?': is((value) => value === 'code' || typeof value === 'number', 'a number or "code"'),
      'onExpire?': ASK_KEYS['onExpire?'],
    }),
  ],
  ['pass', object(NODE_KEYS)],
]);

/** An object whose form follows from one of its keys. */
function byWord(key: string, forms: ReadonlyMap<unknown, Form>): Form {
  return (value, path, report) => {
    if (!isPlainObject(value)) {
      report(path, 'must be an object');
      return;
    }
    const form = forms.get(Object.hasOwn(value, key) ? value[key] : undefined);
    if (form === undefined) report(`${path}.${key}`, `must be one of ${[...forms.keys()].map(String).join(', ')}`);
    else form(value, path, report);
  };
}

const REDUCER = oneOf('append', 'extend', 'mergeDict', 'add', 'last', 'code');

const PLAN = object({
  format: oneOf(1),
  name: TEXT,
  'description?': TEXT,
  inputs: list(object({ channel: TEXT, name: TEXT, 'description?': TEXT, required: FLAG })),
  'openInputs?': FLAG,
  'closedState?': FLAG,
  'computed?': list(TEXT),
  channels: list(object({ name: TEXT, 'reducer?': REDUCER, 'label?': TEXT })),
  nodes: list(byWord('kind', NODE_FORMS)),
  edges: list(object({ from: TEXT, to: TEXT })),
  routes: list(
    object({
      from: TEXT,
      'choose?': oneOf('code', 'result'),
      'map?': record(TEXT),
      'cases?': list(object({ when: CONDITIONS, to: list(TEXT) })),
      'otherwise?': list(TEXT),
      'targets?': list(TEXT),
      'parent?': list(TEXT),
      'mentions?': list(TEXT),
    }),
  ),
  'entry?': TEXT,
  'exits?': list(TEXT),
  'firstExitWins?': FLAG,
  'output?': list(TEXT),
  'limits?': object({ 'maxSteps?': NUMBER, 'concurrency?': NUMBER }),
});
