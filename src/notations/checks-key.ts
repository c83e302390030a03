import { present } from '../base/json.js';
import { quoteShort } from '../lang/value-text.js';
import type { AnswerCheck, CheckRule } from '../plan/answer-check.js';
import { flag, integer, list, map, text, texts, variants, word, type MapForm } from '../text/forms.js';
import type { Findings } from '../text/findings.js';
import { describe, type SourceNode } from '../text/nodes.js';
import { isEmptyText, readFields, type Fields } from '../text/shape.js';

const MOST = 100_000_000;

const WHAT_FOLLOWS = {
  direction: word(['output', 'input', 'both'], 'what is checked: answers, what the agent is asked, or both', {
    default: 'output',
  }),
  on_violation: word(['fail', 'warn'], 'fail: an answer may be corrected once, then the step fails', {
    default: 'fail',
  }),
  message: text('the message of the failure, or of the warning'),
} as const;

const kind = (about: string): MapForm['keys'] => ({ kind: text(about) });
const rule = <const T extends MapForm['keys']>(about: string, keys: T) =>
  map({ ...kind(about), ...keys, ...WHAT_FOLLOWS }, about, { needed: true });

const characters = (about: string) => integer(about, { min: 1, max: MOST, needed: true });
const FORMS = {
  banned_words: rule('words that it must not contain, in upper or lower case', {
    words: texts('the words', { needed: true, min: 1 }),
  }),
  max_length: rule('a longest text', { characters: characters('code points at most') }),
  min_length: rule('a shortest text', { characters: characters('code points at least') }),
  max_sentences: rule('a number of sentences', { sentences: characters('sentences at most') }),
  required_fields: rule('keys of a JSON object, or words of any other text', {
    fields: texts('the keys, or words', { needed: true, min: 1 }),
  }),
  pattern: rule('a regular expression', {
    pattern: text('written as in JSON Schema', { needed: true }),
    ignore_case: flag('upper and lower case are the same', { default: false }),
    matches: flag('false: a match is forbidden', { default: true }),
  }),
  json: rule('a text that is JSON', {}),
} as const;

export const CHECKS = list(
  variants('kind', FORMS, { exact: true, about: 'a check' }),
  'what answers must hold, and what the agent is asked',
);

type Kind = keyof typeof FORMS;

/** Reads the key `checks` of an agent. Problem codes: `unknown-check`, `missing-key`, and those of the types. */
export function readChecks(agent: Fields, label: string): readonly AnswerCheck[] | undefined {
  const node = agent.node('checks');
  if (node === undefined || isEmptyText(node)) return undefined;
  const called = `checks of ${label}`;
  if (node.kind !== 'list') {
    const hint = 'write each check as - kind: max_length';
    agent.error('wrong-type', 'checks', `${called} must be a list, not ${describe(node)}`, hint);
    return undefined;
  }
  const checks = node.items.flatMap((item) => readCheck(item, label, agent.findings) ?? []);
  return checks.length === 0 ? undefined : checks;
}

function readCheck(item: SourceNode, name: string, findings: Findings): AnswerCheck | undefined {
  const open = readFields(item, { name: `a check of ${name}` }, findings);
  if (open === undefined) return undefined;
  const written = open.scalar('kind');
  const type = written?.text ?? '';
  const kinds = Object.keys(FORMS);
  if (!isKind(type)) {
    const message = type === '' ? `a check of ${name} needs a kind` : `there is no check ${quoteShort(type)}`;
    const near = type === '' ? undefined : findings.near(type, kinds);
    findings.error('unknown-check', message, written?.at ?? item.at, near ?? `one of: ${kinds.join(', ')}`);
    return undefined;
  }
  const fields = readFields(item, { name: `check ${type} of ${name}`, form: FORMS[type] }, findings);
  const made = fields === undefined ? undefined : ruleOf(type, fields);
  if (fields === undefined || made === undefined) return undefined;
  const { direction, on_violation: onViolation } = fields.values(map(WHAT_FOLLOWS, ''));
  return present({ ...made, direction, onViolation, message: fields.given('message')?.text });
}

function isKind(type: string): type is Kind {
  return Object.hasOwn(FORMS, type);
}

function ruleOf(type: Kind, fields: Fields): CheckRule | undefined {
  switch (type) {
    case 'banned_words':
      return listed(fields, 'words', (words) => ({ kind: 'bannedWords', words }));
    case 'required_fields':
      return listed(fields, 'fields', (names) => ({ kind: 'requiredFields', fields: names }));
    case 'max_length':
    case 'min_length': {
      const kindOf = type === 'max_length' ? 'maxLength' : 'minLength';
      return counted(fields, 'characters', (most) => ({ kind: kindOf, characters: most }));
    }
    case 'max_sentences':
      return counted(fields, 'sentences', (sentences) => ({ kind: 'maxSentences', sentences }));
    case 'pattern': {
      const { ignore_case, matches } = fields.values(FORMS.pattern);
      const pattern = fields.given('pattern')?.text;
      if (pattern === undefined) return missing(fields, 'pattern');
      return {
        kind: 'pattern',
        pattern,
        ...(ignore_case === true ? { ignoreCase: true } : {}),
        ...(matches === false ? { matches: false } : {}),
      };
    }
    case 'json':
      return { kind: 'json' };
  }
}

function listed(fields: Fields, key: string, make: (texts: readonly string[]) => CheckRule): CheckRule | undefined {
  const given = fields.texts(key);
  if (given === undefined && fields.has(key) && !isEmptyText(fields.node(key))) return undefined;
  return given === undefined || given.length === 0 ? missing(fields, key) : make(given.map((one) => one.text));
}

function counted(fields: Fields, key: string, make: (count: number) => CheckRule): CheckRule | undefined {
  const count = fields.integer(key, characters(''));
  if (count !== undefined) return make(count);
  return fields.has(key) && !isEmptyText(fields.node(key)) ? undefined : missing(fields, key);
}

function missing(fields: Fields, key: string): undefined {
  if (!fields.isMisspelt(key)) fields.error('missing-key', key, `${fields.name} needs ${key}`, `add ${key}: ...`);
}
