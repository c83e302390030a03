import { isPlainObject, ownValue } from '../../base/json.js';
import { all, below, nameText, shown, wrong, type Evaluation, type Keyword, type Spot } from './context.js';

export const PART_KEYWORDS: readonly (readonly [string, Keyword])[] = [
  ['required', required],
  ['properties', properties],
  ['patternProperties', patternProperties],
  ['additionalProperties', additionalProperties],
  ['propertyNames', propertyNames],
  ['dependentRequired', dependentRequired],
  ['dependentSchemas', dependentSchemas],
  ['dependencies', (...args) => dependentRequired(...args) && dependentSchemas(...args)],
  ['prefixItems', tuple],
  ['items', items],
  ['additionalItems', additionalItems],
  ['contains', contains],
];

/** Keywords that are evaluated last, on what the others left over. */
export const REST_KEYWORDS: readonly (readonly [string, Keyword])[] = [
  ['unevaluatedProperties', unevaluatedProperties],
  ['unevaluatedItems', unevaluatedItems],
];

function checkProperty(evaluation: Evaluation, schema: unknown, spot: Spot, name: string): boolean {
  spot.seen?.properties.add(name);
  const value = ownValue(spot.value, name);
  return evaluation.check(schema, spot, { value, at: below(spot.at, name), seen: undefined });
}

function checkItem(evaluation: Evaluation, schema: unknown, spot: Spot, index: number): boolean {
  spot.seen?.items.add(index);
  const value = (spot.value as readonly unknown[])[index];
  return evaluation.check(schema, spot, { value, at: below(spot.at, index), seen: undefined });
}

function names(evaluation: Evaluation, value: object): readonly string[] {
  const keys = Object.keys(value);
  evaluation.budget.spend(keys.length);
  return keys;
}

function required(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const { value } = spot;
  if (!Array.isArray(given) || !isPlainObject(value)) return true;
  evaluation.budget.spend(given.length);
  return all(
    given,
    (name) => Object.hasOwn(value, nameText(name)) || wrong(spot, `lacks the property ${shown(name)}`),
    spot,
  );
}

function properties(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const { value } = spot;
  if (!isPlainObject(given) || !isPlainObject(value)) return true;
  const declared = names(evaluation, given).filter((name) => Object.hasOwn(value, name));
  return all(declared, (name) => checkProperty(evaluation, given[name], spot, name), spot);
}

function patternProperties(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const { value } = spot;
  if (!isPlainObject(given) || !isPlainObject(value)) return true;
  const there = names(evaluation, value);
  const fits = (pattern: string): boolean =>
    all(
      there.filter((name) => evaluation.finds(pattern, name)),
      (name) => checkProperty(evaluation, given[pattern], spot, name),
      spot,
    );
  return all(names(evaluation, given), fits, spot);
}

function additionalProperties(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const { value, schema } = spot;
  if (!isPlainObject(value)) return true;
  const declared = ownValue(schema, 'properties');
  const patterns = ownValue(schema, 'patternProperties');
  const expressions = isPlainObject(patterns) ? names(evaluation, patterns) : [];
  const others = names(evaluation, value).filter(
    (name) =>
      !(isPlainObject(declared) && Object.hasOwn(declared, name)) &&
      !expressions.some((pattern) => evaluation.finds(pattern, name)),
  );
  return checkOthers(evaluation, given, spot, others);
}

function unevaluatedProperties(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const { value, seen } = spot;
  if (!isPlainObject(value) || seen === undefined) return true;
  const others = names(evaluation, value).filter((name) => !seen.properties.has(name));
  return checkOthers(evaluation, given, spot, others);
}

function checkOthers(evaluation: Evaluation, given: unknown, spot: Spot, others: readonly string[]): boolean {
  if (given === false && others.length > 0) return wrong(spot, `must not have the property ${shown(others[0])}`);
  return all(others, (name) => checkProperty(evaluation, given, spot, name), spot);
}

function propertyNames(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  if (!isPlainObject(spot.value)) return true;
  return all(
    names(evaluation, spot.value),
    (name) => evaluation.check(given, spot, { value: name, seen: undefined }),
    spot,
  );
}

/** `dependencies` of older drafts has lists and schemas; each of the two newer words has one of them. */
function dependentRequired(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const { value } = spot;
  if (!isPlainObject(given) || !isPlainObject(value)) return true;
  const present = names(evaluation, given).filter((name) => Object.hasOwn(value, name));
  return all(present, (name) => (Array.isArray(given[name]) ? required(evaluation, given[name], spot) : true), spot);
}

function dependentSchemas(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const { value } = spot;
  if (!isPlainObject(given) || !isPlainObject(value)) return true;
  const present = names(evaluation, given).filter((name) => Object.hasOwn(value, name) && !Array.isArray(given[name]));
  return all(present, (name) => evaluation.check(given[name], spot), spot);
}

function tuple(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const { value } = spot;
  if (!Array.isArray(given) || !Array.isArray(value)) return true;
  const indices = given.slice(0, value.length).keys();
  return all(indices, (index) => checkItem(evaluation, given[index], spot, index), spot);
}

function items(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  if (Array.isArray(given)) return tuple(evaluation, given, spot);
  const before = ownValue(spot.schema, 'prefixItems');
  return from(evaluation, given, spot, Array.isArray(before) ? before.length : 0);
}

function additionalItems(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const before = ownValue(spot.schema, 'items');
  return Array.isArray(before) ? from(evaluation, given, spot, before.length) : true;
}

function from(evaluation: Evaluation, schema: unknown, spot: Spot, first: number): boolean {
  const { value } = spot;
  if (!Array.isArray(value)) return true;
  const count = Math.max(0, value.length - first);
  evaluation.budget.spend(count);
  if (schema === false && count > 0) return wrong(spot, `must have at most ${first} items`);
  const rest = Array.from({ length: count }, (_, index) => first + index);
  return all(rest, (index) => checkItem(evaluation, schema, spot, index), spot);
}

function unevaluatedItems(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const { value, seen } = spot;
  if (!Array.isArray(value) || seen === undefined) return true;
  evaluation.budget.spend(value.length);
  const rest = [...value.keys()].filter((index) => !seen.items.has(index));
  if (given === false && rest.length > 0) return wrong(spot, `must not have the item ${rest[0] ?? 0}`);
  return all(rest, (index) => checkItem(evaluation, given, spot, index), spot);
}

function contains(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const { value, schema } = spot;
  if (!Array.isArray(value)) return true;
  let count = 0;
  for (const [index, item] of value.entries()) {
    const part = { value: item as unknown, at: below(spot.at, index), seen: undefined, findings: undefined };
    if (!evaluation.check(given, spot, part)) continue;
    count += 1;
    spot.seen?.items.add(index);
  }
  const least = ownValue(schema, 'minContains') ?? 1;
  const most = ownValue(schema, 'maxContains');
  if (typeof least === 'number' && count < least)
    return wrong(spot, `must contain at least ${least} items of a kind, and has ${count}`);
  if (typeof most === 'number' && count > most)
    return wrong(spot, `must contain at most ${most} items of a kind, and has ${count}`);
  return true;
}
