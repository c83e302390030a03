import { present } from '../base/json.js';
import { countText } from '../base/text.js';
import { DURATION_PATTERN, parseDuration } from '../base/duration.js';
import { quoteShort } from '../lang/value-text.js';
import { any, either, integer, map, names, number, text, word, type Form } from '../text/forms.js';
import { isEmptyText, type Fields } from '../text/shape.js';
import type { Position } from '../base/problem.js';
import { seen, type SourceNode, type SourceScalar } from '../text/nodes.js';
import type { Require, WaitNode } from '../plan/plan.js';

/** The longest delay of a timer: 24.8 days. */
export const MAX_TIMER_MS = 2_147_483_647;

/** The longest delay of a timer, in seconds. */
export const LONGEST_TIMER = MAX_TIMER_MS / 1_000;

export const LONGEST_WAIT_MS = Number.MAX_SAFE_INTEGER;

/** Creates a row for a time such as `30s`, or a number of seconds. Half a millisecond is rounded up to one. */
export const duration = (about: string, min: 0 | 0.0005, max = LONGEST_TIMER): Form =>
  either([text('', { pattern: DURATION_PATTERN, from: 'string' }), number('', { min, max })], about);

/** Reads a duration such as `30s`, or a number of seconds. Returns milliseconds. Problem code: `bad-duration`. */
export function readDuration(
  fields: Fields,
  key: string,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  const node = fields.scalar(key);
  if (node === undefined) return undefined;
  const ms = typeof node.value === 'number' ? Math.round(node.value * 1_000) : parseDuration(node.text);
  if (ms !== undefined && ms >= min && ms <= max) return ms;
  const isCount = typeof node.value === 'string' && /^\d+(?:\.\d+)?$/.test(node.text) && Number(node.text) > 0;
  const most = max === MAX_TIMER_MS ? '; at most 24 days' : '';
  const hint = isCount ? `write ${node.text}s for seconds` : `write 90s, 10m or 1h30m, or a number of seconds${most}`;
  fields.error('bad-duration', key, `${key} of ${fields.name} is ${quoteShort(node.text)}`, hint);
  return undefined;
}

export const CALL_KEYS = {
  file: text('a pipeline or a DAG workflow, relative to this file', { needed: true }),
  inputs: names(any('a text, a list or a map; references are filled in'), 'inputs of that file, by name'),
} as const;

export interface CallDef {
  /** Undefined if a problem was reported. */
  readonly file: SourceScalar | undefined;
  readonly inputs: readonly GivenInput[];
}

/** An input passed to the called file: a value whose texts may hold references. */
export interface GivenInput {
  readonly name: string;
  readonly value: SourceNode;
  readonly at: Position;
}

/** Reads the keys of a call. Problem codes: `missing-file`, and those of the types. */
export function readCallKeys(fields: Fields): CallDef {
  fields.needs('file', 'missing-file', `${fields.name} calls no file`, 'add "file: PATH", relative to this file');
  const inputs = fields.entries('inputs') ?? [];
  return { file: fields.scalar('file'), inputs: inputs.map(({ key: name, value, at }) => ({ name, value, at })) };
}

export const WAIT_KEYS = {
  for: duration(
    'how long: 30s, 2h, or a number of seconds; with event: how long for it at most',
    0.0005,
    LONGEST_WAIT_MS / 1_000,
  ),
  event: text('the name of an outside event, which skein answer delivers', { blank: false }),
} as const;

/** A wait as written: for a time, or for an event within a time. */
export type WaitDef = Pick<WaitNode, 'ms' | 'event'>;

/** Reads the keys of a wait. Problem codes: `missing-wait`, `bad-duration`, `bad-name`. */
export function readWaitKeys(fields: Fields): WaitDef {
  const ms = readDuration(fields, 'for', { min: 1, max: LONGEST_WAIT_MS });
  const event = fields.scalar('event')?.text;
  if (!fields.has('for') && !fields.has('event') && fields.lacks('for') && fields.lacks('event')) {
    const hint = 'add "for: 30s", or "event: NAME"';
    fields.findings.error('missing-wait', `nothing says what ${fields.name} waits for`, fields.at, hint);
  }
  if (event?.trim() === '') fields.error('bad-name', 'event', `event of ${fields.name} is empty`, 'write event: NAME');
  return present({ ms, event });
}

export const END_KEYS = {
  status: word(['succeeded', 'failed'], 'how the file ends', { default: 'succeeded' }),
  reason: text('why; the message of a file that failed', { blank: true }),
} as const;

const KEYS = map(END_KEYS, '');

export interface EndDef {
  readonly status: 'succeeded' | 'failed';
  readonly reason: SourceScalar | undefined;
}

export function readEnd(fields: Fields): EndDef {
  const { status = 'succeeded' } = fields.values(KEYS);
  return { status, reason: fields.given('reason') };
}

/** More parts than any group has. */
const MANY = 1_000_000;

/** The key that sets how many parts of a group must succeed. */
export const REQUIRE_KEY = {
  require: either(
    [text('', { pattern: '^(?:[Aa][Ll][Ll]|\\s*)$', from: 'string' }), integer('', { min: 1, max: MANY })],
    'how many of its parts must succeed, or all: a part that fails cancels no other one. Absent: the first failure ends it',
  ),
} as const;

/** The maximum number of parts in a group, and the word for a part. */
export interface Parts {
  readonly most: number;
  readonly word: 'step' | 'item';
}

/** Reads `require` of a group. Problem code: `bad-require`. */
export function readRequire(fields: Fields, { most, word: part }: Parts): Require | undefined {
  const node = fields.node('require');
  if (node === undefined || isEmptyText(node)) return undefined;
  const value = node.kind === 'scalar' ? node.value : undefined;
  if (node.kind === 'scalar' && node.text.toLowerCase() === 'all') return 'all';
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value;
  const few = typeof value === 'number' && value > most ? `, and it has ${countText(most, part)} at most` : '';
  const hint = `write all, or a whole number from 1${Number.isFinite(most) ? ` to ${most}` : ''}`;
  fields.error('bad-require', 'require', `require of ${fields.name} is ${seen(node)}${few}`, hint);
  return undefined;
}

export const ENDORSE = word(
  ['person', 'schema'],
  'who vets the output if untrusted text influenced it: a person who sees it, or the schema of the output, which then has only booleans, bounded numbers and enums',
);
