import { ERROR_CODES, SkeinError, type ErrorData } from '../base/errors.js';
import { isPlainObject, type JsonObject } from '../base/json.js';
import type { Census } from '../events/census.js';
import { LEVELS, type Label } from '../guard/label.js';
import type { FreedArguments } from '../plan/tool-use.js';
import type { JournalRecord, RecordedAmount, RecordedQuestion, Stored, TurnOf } from './record.js';
import type { ChannelPlace, ThreadRecord, ThreadState } from './thread-record.js';

/** Returns the problem with a value at a place; undefined if there is none. */
type Check = (value: unknown, place: string) => string | undefined;

interface Field {
  readonly check: Check;
  readonly optional: boolean;
}

/** The fields of a record: named, and optional if the type makes them optional. */
type Shape<T> = {
  readonly [K in keyof T]-?: Field & { readonly optional: Record<never, never> extends Pick<T, K> ? true : false };
};

interface Fields {
  readonly byName: ReadonlyMap<string, Field>;
  readonly needed: number;
}

const need = (check: Check) => ({ check, optional: false }) as const;
const may = (check: Check) => ({ check, optional: true }) as const;

function fieldsOf<T>(shape: Shape<T>): Fields {
  // A Map, because names come from the file.
  const byName = new Map<string, Field>(Object.entries(shape));
  return { byName, needed: [...byName.values()].filter((field) => !field.optional).length };
}

const text: Check = (value, place) => (typeof value === 'string' ? undefined : expected(place, 'text', value));
const time: Check = (value, place) => (Number.isFinite(value) ? undefined : expected(place, 'a number', value));
const count: Check = (value, place) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : expected(place, 'a count', value);
const yes: Check = (value, place) => (value === true ? undefined : expected(place, 'true', value));
const flag: Check = (value, place) =>
  typeof value === 'boolean' ? undefined : expected(place, 'true or false', value);
const json: Check = () => undefined;
const object: Check = (value, place) => (isPlainObject(value) ? undefined : expected(place, 'an object', value));

const texts: Check = (value, place) => {
  if (!Array.isArray(value)) return expected(place, 'a list', value);
  const wrong = value.findIndex((item) => typeof item !== 'string');
  return wrong < 0 ? undefined : text(value[wrong], `${place}[${wrong}]`);
};

const listOf =
  (check: Check): Check =>
  (value, place) => {
    if (!Array.isArray(value)) return expected(place, 'a list', value);
    const problems = value.map((item, at) => check(item, `${place}[${at}]`));
    return problems.find((problem) => problem !== undefined);
  };

const byName =
  (check: Check): Check =>
  (value, place) => {
    if (!isPlainObject(value)) return expected(place, 'an object', value);
    // Places get names only after a failed check: a valid value may have thousands of names.
    const wrong = Object.keys(value).find((name) => check(value[name], place) !== undefined);
    return wrong === undefined ? undefined : check(value[wrong], `${place}.${wrong}`);
  };

const textsByName = byName(text);

const oneOf =
  (words: readonly string[]): Check =>
  (value, place) =>
    words.includes(value as string) ? undefined : `${place} is ${JSON.stringify(value)}, which is unknown`;

const inner =
  (fields: Fields): Check =>
  (value, place) =>
    isPlainObject(value) ? checkFields(value, fields, `${place}.`) : expected(place, 'an object', value);

const STORED = { value: may(json), blob: may(text) };
const stored = inner(fieldsOf<Stored>(STORED));
const error = inner(
  fieldsOf<ErrorData>({
    code: need(oneOf(ERROR_CODES)),
    message: need(text),
    hint: may(text),
    details: may(json),
    retryable: may(flag),
    retryAfterMs: may(time),
    name: may(text),
    classes: may(texts),
    thrownCode: may(text),
    status: may(count),
  }),
);
const label = inner(
  fieldsOf<Label>({ level: need(oneOf(LEVELS)), isPrivate: need(flag), sources: need(texts), more: may(yes) }),
);
const freed = inner(fieldsOf<FreedArguments>({ tool: need(text), fixed: need(text), free: need(texts) }));
const question = inner(
  fieldsOf<RecordedQuestion>({ text: need(text), choices: may(texts), schema: may(json), evidence: may(json) }),
);
const census = inner(
  fieldsOf<Census>({
    succeeded: need(count),
    degraded: need(count),
    failed: need(count),
    skipped: need(count),
    timed_out: need(count),
    cancelled: need(count),
    paused: need(count),
    out_of_budget: need(count),
    notRun: need(count),
    limited: may(count),
  }),
);
const amount = inner(
  fieldsOf<RecordedAmount>({ usd: need(time), tokens: need(time), calls: need(time), toolCalls: need(time) }),
);
const outcome = oneOf(['succeeded', 'degraded', 'failed', 'paused', 'cancelled', 'out_of_budget']);

type Kind = JournalRecord['t'];
type ShapeOf<K extends Kind> = Shape<Omit<Extract<JournalRecord, { t: K }>, 't' | 'at'>>;
const SHAPES: { readonly [K in Kind]: ShapeOf<K> } = {
  begin: {
    run: need(text),
    name: need(text),
    seed: need(text),
    parent: may(text),
    influence: may(label),
    thread: may(inner(fieldsOf<TurnOf>({ id: need(text), turn: need(count), on: need(count) }))),
    forget: may(texts),
    set: may(stored),
    plan: need(stored),
    code: need(textsByName),
    inputs: need(stored),
    settings: may(stored),
    origin: need(object),
  },
  open: { fence: need(count), plan: may(stored), code: may(textsByName), inputs: may(stored), settings: may(stored) },
  start: { key: need(text), id: may(text), reserved: may(amount), part: may(count) },
  spent: { key: need(text), spent: need(amount), part: may(count), unmade: may(yes) },
  done: {
    key: need(text),
    id: may(text),
    reads: may(textsByName),
    heard: may(label),
    wrote: may(texts),
    freed: may(listOf(freed)),
    ms: may(time),
    error: may(error),
    cleanup: may(yes),
    unmade: may(yes),
    by: may(text),
    inline: may(yes),
    ...STORED,
  },
  timer: { key: need(text), id: may(text), due: need(time) },
  pause: {
    key: need(text),
    id: need(text),
    name: need(text),
    question: may(question),
    schema: may(json),
    due: may(time),
  },
  log: { path: need(text), body: need(object) },
  end: { outcome: need(outcome), census: need(census), error: may(error) },
};

const HEAD = { v: need(count), t: need(text), at: need(time) };
const recordsOf = (shapes: object): ReadonlyMap<unknown, Fields> =>
  new Map(
    Object.entries(shapes).map(([kind, shape]) => [kind, fieldsOf<object>({ ...HEAD, ...(shape as Shape<object>) })]),
  );
const RECORDS = recordsOf(SHAPES);

/**
 * Reads a line of a journal. Written by hand: lines are read by the ten thousand and returned as parsed, so that a key such as `__proto__`
 * in a value stays data.
 *
 * @throws SkeinError `SKEIN_JOURNAL` with the problem
 */
export function readRecord(line: string): JournalRecord {
  return readAs(line, RECORDS) as JournalRecord;
}

const channelPlace = inner(
  fieldsOf<ChannelPlace>({
    from: need(count),
    at: need(count),
    digest: need(text),
    kind: need(text),
    label: may(label),
  }),
);
const PLACES = { channels: need(byName(channelPlace)), shape: may(count), absent: may(label) };
const STATE = inner(fieldsOf<ThreadState>(PLACES));
type ThreadShapes = { readonly [K in ThreadRecord['t']]: Shape<Omit<Extract<ThreadRecord, { t: K }>, 't' | 'at'>> };
const THREAD_SHAPES: ThreadShapes = {
  thread: {
    thread: need(text),
    from: may(inner(fieldsOf({ thread: need(text), turn: need(count) }))),
    state: need(STATE),
  },
  shape: { workflow: need(text), steps: need(texts), channels: need(object), digest: need(text) },
  put: { channel: need(text), more: may(yes), given: may(yes), ...STORED },
  turn: { turn: need(count), run: need(text), inputs: may(stored), on: need(count) },
  ended: {
    turn: need(count),
    run: need(text),
    outcome: need(outcome),
    error: may(error),
    on: may(count),
    state: may(STATE),
    repeated: may(texts),
  },
  edit: { turn: need(count), who: need(text), why: need(text), values: need(texts), state: need(STATE) },
};
const THREAD_RECORDS = recordsOf(THREAD_SHAPES);

/** @throws SkeinError `SKEIN_JOURNAL` with the problem */
export function readThreadRecord(line: string): ThreadRecord {
  return readAs(line, THREAD_RECORDS) as ThreadRecord;
}

/**
 * Refuses a record that {@link readRecord} or {@link readThreadRecord} would refuse: once written, it would make the whole journal
 * unreadable. Values from programs do not always have their declared types.
 *
 * @throws SkeinError `SKEIN_NOT_JSON` with the problem
 */
export function checkRecord(record: JournalRecord | ThreadRecord): void {
  const fields = RECORDS.get(record.t) ?? THREAD_RECORDS.get(record.t);
  const problem = fields === undefined ? 'it is not a kind of record' : checkFields({ v: 1, ...record }, fields, '');
  if (problem === undefined) return;
  throw new SkeinError('SKEIN_NOT_JSON', `the record '${record.t}' can't be written: ${problem}`, {
    hint: 'give values of the types that are declared',
  });
}

function readAs(line: string, kinds: ReadonlyMap<unknown, Fields>): unknown {
  const parsed = parse(line);
  if (!isPlainObject(parsed)) throw new SkeinError('SKEIN_JOURNAL', 'it is not a JSON object');
  const record = upcast(parsed as JsonObject);
  const fields = kinds.get(record['t']);
  if (fields === undefined) {
    throw new SkeinError('SKEIN_JOURNAL', `'t' is ${JSON.stringify(record['t'])}, which is not a kind of record`);
  }
  const problem = checkFields(record, fields, '');
  if (problem !== undefined) throw new SkeinError('SKEIN_JOURNAL', problem);
  return withoutVersion(record);
}

/** Parses a line that {@link readRecord} has already checked. */
export function readChecked(line: string): JournalRecord {
  return withoutVersion(upcast(parse(line) as JsonObject));
}

function withoutVersion(record: JsonObject): JournalRecord {
  const { v: _, ...rest } = record;
  return rest as unknown as JournalRecord;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new SkeinError('SKEIN_JOURNAL', 'it is not JSON', { cause });
  }
}

function checkFields(value: Readonly<Record<string, unknown>>, fields: Fields, prefix: string): string | undefined {
  let needed = 0;
  for (const name of Object.keys(value)) {
    const field = fields.byName.get(name);
    if (field === undefined) return `${JSON.stringify(prefix + name)} is not one of its fields`;
    // Only a record that is not written yet can have such a value.
    if (field.optional && value[name] === undefined) continue;
    const problem = field.check(value[name], prefix + name);
    if (problem !== undefined) return problem;
    if (!field.optional) needed += 1;
  }
  if (Object.hasOwn(value, 'blob') && Object.hasOwn(value, 'value'))
    return `both ${prefix}value and a blob are present`;
  return needed === fields.needed ? undefined : missing(value, fields, prefix);
}

function missing(value: object, fields: Fields, prefix: string): string {
  const names = [...fields.byName].filter(([name, field]) => !field.optional && !Object.hasOwn(value, name));
  return `${names.map(([name]) => prefix + name).join(', ')} is missing`;
}

function expected(place: string, what: string, value: unknown): string {
  const is = value === null || Number.isNaN(value) ? String(value) : Array.isArray(value) ? 'a list' : typeof value;
  return `${place} has to be ${what}, it is ${is === 'object' ? 'an object' : is}`;
}

export type Lift = (record: JsonObject) => JsonObject;

/** The conversions of older records, in this place only: the first converts version 1 to 2, and so on. The written version is one more. */
const LIFTS: readonly Lift[] = [];

/** @throws SkeinError `SKEIN_JOURNAL` if a newer version wrote the record, or it has no version */
export function upcast(record: JsonObject, lifts: readonly Lift[] = LIFTS): JsonObject {
  const { v } = record;
  const current = lifts.length + 1;
  if (v === current) return record;
  if (typeof v !== 'number' || !Number.isSafeInteger(v) || v < 1) {
    throw new SkeinError('SKEIN_JOURNAL', "its 'v' is not a record version");
  }
  if (v > current) {
    const message = `it was written by a newer Skein: it has version ${v} of the records, this Skein knows versions up to ${current}`;
    throw new SkeinError('SKEIN_JOURNAL', message, { hint: 'upgrade Skein to the version that ran it last' });
  }
  const lifted = lifts.slice(v - 1).reduce((older, lift) => lift(older), record);
  return { ...lifted, v: current };
}
