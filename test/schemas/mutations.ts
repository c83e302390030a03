import fc from 'fast-check';
import type { Json } from '../../src/base/json.js';
import { dataOf } from './judging.js';
import type { Sample } from './judging.js';

type Path = readonly (string | number)[];

/** What a value is replaced by: each is the wrong type or the wrong word somewhere. */
const VALUES: readonly Json[] = [
  5,
  -1,
  0.5,
  99_999_999_999,
  true,
  false,
  null,
  '',
  ' ',
  'wrong word',
  [],
  ['a'],
  [5],
  [null],
  [{}],
  {},
  { x: 1 },
];

/** A sample with one thing changed. */
export interface Mutant {
  readonly sample: Sample;
  readonly data: Json;
  /** What was changed, for messages. */
  readonly change: string;
}

function placesOf(value: Json, at: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const entries: readonly (readonly [string | number, Json])[] = Array.isArray(value)
    ? value.map((item, i) => [i, item] as const)
    : Object.entries(value);
  return entries.flatMap(([key, inner]) => [[...at, key], ...placesOf(inner, [...at, key])]);
}

type Change = (holder: Map<string | number, Json>, key: string | number) => void;

const CHANGES: readonly (readonly [name: string, change: Change])[] = [
  ['drop', (holder, key) => holder.delete(key)],
  [
    'rename',
    (holder, key) => {
      holder.set(`${key}x`, holder.get(key) ?? null);
      holder.delete(key);
    },
  ],
  ...VALUES.map(setTo),
];

function setTo(value: Json): readonly [name: string, change: Change] {
  return [
    `set ${JSON.stringify(value)}`,
    (holder, key) => {
      holder.set(key, value);
    },
  ];
}

/** The value with a change at a place; lists keep their order. */
function changed(value: Json, path: Path, change: Change): Json {
  const [key, ...rest] = path;
  if (key === undefined || typeof value !== 'object' || value === null) return value;
  const holder = new Map<string | number, Json>(
    Array.isArray(value) ? value.map((item, i) => [i, item] as const) : Object.entries(value),
  );
  const inner = holder.get(key);
  if (rest.length === 0) change(holder, key);
  else if (inner !== undefined) holder.set(key, changed(inner, rest, change));
  return Array.isArray(value) ? [...holder.values()] : Object.fromEntries(holder);
}

/** The samples with one key or value changed at a random place. JSON is YAML, so that is what they are written as. */
export function mutants(samples: readonly Sample[]): fc.Arbitrary<Mutant> {
  const whole = samples.flatMap((sample) => {
    const data = dataOf(sample);
    return data === undefined ? [] : [{ sample, data, places: placesOf(data) }];
  });
  const place = fc.constantFrom(...whole.filter(({ places }) => places.length > 0));
  return place.chain(({ sample, data, places }) =>
    fc
      .record({ path: fc.constantFrom(...places), change: fc.constantFrom(...CHANGES) })
      .map(({ path, change }) => mutant(sample, data, path, change)),
  );
}

/** The sample with an empty text in each place, one at a time; of maps with the same keys, one. What counts as no value must be the same for all keys. */
export function emptiedOf(sample: Sample): readonly Mutant[] {
  const data = dataOf(sample);
  if (data === undefined) return [];
  const places = new Map(placesOf(data).map((path) => [kindOf(data, path), path]));
  return [...places.values()].map((path) => mutant(sample, data, path, setTo('')));
}

/** What tells places apart: the key, with the keys next to it and the one above. An entry of a list is told by the key of the list. */
function kindOf(data: Json, path: Path): string {
  const around = valueAt(data, path.slice(0, -1));
  const names = path.filter((key) => typeof key === 'string');
  return JSON.stringify([Array.isArray(around) ? 'list' : Object.keys(around as object), ...names.slice(-2)]);
}

/** The sample with each of its texts empty, blank, without a value and in capitals, one at a time. */
export function blankedOf(sample: Sample): readonly Mutant[] {
  const data = dataOf(sample);
  if (data === undefined) return [];
  return placesOf(data).flatMap((path) => {
    const text = valueAt(data, path);
    const values = typeof text === 'string' ? ['', ' ', null, text.toUpperCase()] : [];
    return values.map((value) => mutant(sample, data, path, setTo(value)));
  });
}

function valueAt(data: Json, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (value as { readonly [key: string | number]: unknown })[key], data);
}

function mutant(sample: Sample, data: Json, path: Path, [name, change]: (typeof CHANGES)[number]): Mutant {
  const made = changed(data, path, change);
  const json = JSON.stringify(made);
  const text = sample.name === 'agent' ? `---\n${json}\n---\nYou read.` : json;
  return { sample: { ...sample, text }, data: made, change: `${name} at ${path.join('.')}` };
}
