import fc from 'fast-check';
import type { Label } from '../../src/guard/label.js';
import { LEVELS } from '../../src/guard/label.js';
import type { Arbitrary } from 'fast-check';
import { ERROR_CODES } from '../../src/base/errors.js';
import type { ErrorData } from '../../src/base/errors.js';
import type { Json, JsonObject } from '../../src/base/json.js';
import type { Census } from '../../src/events/census.js';
import type { JournalRecord, RecordedQuestion, Stored, TurnOf } from '../../src/journal/record.js';

/** Texts as models and files give them, odd ones often. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    '\u2028',
    '\0',
    '\n',
    '\r\n',
    '\ud800',
    '"\\',
    'a\nb',
    '💥',
    'toJSON',
  ),
);

/** As it comes out of a JSON parser: with a key `__proto__` of its own, without -0. */
export const anyJson: Arbitrary<Json> = fc
  .jsonValue({ maxDepth: 3, stringUnit: 'binary' })
  .chain((value) => text.map((name) => JSON.stringify({ [`x${name}`]: value, list: [value] }).replace('"x__', '"__')))
  .map((line) => JSON.parse(line) as Json);

const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((n) => n + 0);
const count = fc.nat();
const amount = fc.record({ usd: number, tokens: number, calls: number, toolCalls: number }, { noNullPrototype: true });
const named = fc
  .array(fc.tuple(text, text))
  .map((pairs) => `{${pairs.map((pair) => pair.map((one) => JSON.stringify(one)).join(':')).join(',')}}`)
  .map((line) => JSON.parse(line) as Readonly<Record<string, string>>);
const object = fc.tuple(text, anyJson).map(([name, value]) => {
  return JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`) as JsonObject;
});

/** A record in which only these fields may be absent. */
function shape<T>(
  fields: { [K in keyof T]-?: Arbitrary<Exclude<T[K], undefined>> },
  optional: (keyof T)[],
): Arbitrary<T> {
  const requiredKeys = (Object.keys(fields) as (keyof T)[]).filter((name) => !optional.includes(name));
  return fc.record(fields, { requiredKeys, noNullPrototype: true });
}

const stored: Arbitrary<Stored> = fc.oneof(
  fc.constant({}),
  anyJson.map((value) => ({ value })),
  text.map((blob) => ({ blob })),
);
const error = shape<ErrorData>(
  {
    code: fc.constantFrom(...ERROR_CODES),
    message: text,
    hint: text,
    details: anyJson,
    retryable: fc.boolean(),
    classes: fc.array(fc.string()),
    thrownCode: fc.string(),
    status: fc.nat(),
    retryAfterMs: number,
    name: text,
  },
  ['hint', 'details', 'retryable', 'retryAfterMs', 'name'],
);
const question = shape<RecordedQuestion>({ text, choices: fc.array(text), schema: anyJson, evidence: anyJson }, [
  'choices',
  'schema',
  'evidence',
]);
const census = shape<Census>(
  {
    succeeded: count,
    degraded: count,
    failed: count,
    skipped: count,
    timed_out: count,
    cancelled: count,
    paused: count,
    out_of_budget: count,
    notRun: count,
    limited: count,
  },
  ['limited'],
);

const label = shape<Label>(
  { level: fc.constantFrom(...LEVELS), isPrivate: fc.boolean(), sources: fc.array(text), more: fc.constant(true) },
  ['more'],
);

type Of<K extends JournalRecord['t']> = Extract<JournalRecord, { t: K }>;
const doneHead = shape<Omit<Of<'done'>, 'value' | 'blob'>>(
  {
    t: fc.constant('done'),
    at: number,
    key: text,
    id: text,
    reads: named,
    heard: label,
    wrote: fc.array(text),
    freed: fc.array(fc.record({ tool: text, fixed: text, free: fc.array(text) }, { noNullPrototype: true })),
    ms: number,
    error,
    cleanup: fc.constant(true),
    unmade: fc.constant(true),
    by: text,
    inline: fc.constant(true),
  },
  ['id', 'reads', 'heard', 'wrote', 'freed', 'ms', 'error', 'cleanup', 'unmade', 'by', 'inline'],
);

/** Any record that the types allow. */
export const anyRecord: Arbitrary<JournalRecord> = fc.oneof(
  shape<Of<'begin'>>(
    {
      t: fc.constant('begin'),
      at: number,
      run: text,
      name: text,
      seed: text,
      parent: text,
      thread: shape<TurnOf>({ id: text, turn: count, on: count }, []),
      influence: label,
      forget: fc.array(text),
      set: stored,
      plan: stored,
      code: named,
      inputs: stored,
      settings: stored,
      origin: object,
    },
    ['parent', 'thread', 'influence', 'forget', 'set', 'settings'],
  ),
  shape<Of<'open'>>(
    { t: fc.constant('open'), at: number, fence: count, plan: stored, code: named, inputs: stored, settings: stored },
    ['plan', 'code', 'inputs', 'settings'],
  ),
  shape<Of<'start'>>({ t: fc.constant('start'), at: number, key: text, id: text, reserved: amount, part: count }, [
    'id',
    'reserved',
    'part',
  ]),
  shape<Of<'spent'>>(
    { t: fc.constant('spent'), at: number, key: text, spent: amount, part: count, unmade: fc.constant(true as const) },
    ['part', 'unmade'],
  ),
  fc.tuple(doneHead, stored).map(([head, value]) => ({ ...head, ...value })),
  shape<Of<'timer'>>({ t: fc.constant('timer'), at: number, key: text, id: text, due: number }, ['id']),
  shape<Of<'pause'>>(
    {
      t: fc.constant('pause'),
      at: number,
      key: text,
      id: text,
      name: text,
      question,
      schema: fc.constant({ type: 'string' }),
      due: number,
    },
    ['question', 'schema', 'due'],
  ),
  shape<Of<'log'>>({ t: fc.constant('log'), at: number, path: text, body: object }, []),
  shape<Of<'end'>>(
    {
      t: fc.constant('end'),
      at: number,
      outcome: fc.constantFrom('succeeded', 'degraded', 'failed', 'paused', 'cancelled', 'out_of_budget'),
      census,
      error,
    },
    ['error'],
  ),
);
