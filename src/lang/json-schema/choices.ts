import { ownValue } from '../../base/json.js';
import { all, wrong, type Evaluation, type Findings, type Keyword, type Seen, type Spot } from './context.js';

/** Keywords that apply further schemas to the same value. */
export const CHOICE_KEYWORDS: readonly (readonly [string, Keyword])[] = [
  ['$ref', (evaluation, _, spot) => evaluation.check(evaluation.target('$ref', spot), spot)],
  ['$dynamicRef', (evaluation, _, spot) => evaluation.check(evaluation.target('$dynamicRef', spot), spot)],
  ['$recursiveRef', (evaluation, _, spot) => evaluation.check(evaluation.target('$recursiveRef', spot), spot)],
  ['allOf', allOf],
  ['anyOf', anyOf],
  ['oneOf', oneOf],
  ['not', not],
  ['if', conditional],
];

function allOf(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  return !Array.isArray(given) || all(given, (schema) => evaluation.check(schema, spot), spot);
}

function anyOf(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  if (!Array.isArray(given)) return true;
  const aside: Findings = { lines: new Set() };
  let ok = false;
  for (const schema of given) {
    if (!attempt(evaluation, schema, spot, spot.findings === undefined ? undefined : aside)) continue;
    ok = true;
    // The others count only for what they evaluated.
    if (spot.seen === undefined) return true;
  }
  return ok || noneFits(spot, aside, 'fits none of the schemas that it may fit');
}

function oneOf(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  if (!Array.isArray(given)) return true;
  const aside: Findings = { lines: new Set() };
  let count = 0;
  for (const schema of given) {
    if (attempt(evaluation, schema, spot, spot.findings === undefined ? undefined : aside)) count += 1;
  }
  if (count === 1) return true;
  if (count > 1) return wrong(spot, `fits ${count} schemas, and must fit exactly one`);
  return noneFits(spot, aside, 'fits none of the schemas of which it must fit one');
}

/** Counts what a schema evaluated only if the value fits. */
function attempt(evaluation: Evaluation, schema: unknown, spot: Spot, findings: Findings | undefined): boolean {
  const seen: Seen | undefined = spot.seen === undefined ? undefined : { properties: new Set(), items: new Set() };
  const ok = evaluation.check(schema, spot, { seen, findings });
  if (ok && seen !== undefined) takeOver(evaluation, spot, seen);
  return ok;
}

/** Also counts here what was evaluated elsewhere. */
export function takeOver({ budget }: Evaluation, { seen }: Spot, from: Seen): void {
  budget.spend(from.properties.size + from.items.size);
  for (const name of from.properties) seen?.properties.add(name);
  for (const index of from.items) seen?.items.add(index);
}

function noneFits(spot: Spot, aside: Findings, message: string): false {
  wrong(spot, message);
  for (const line of aside.lines) spot.findings?.lines.add(line);
  return false;
}

function not(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const fits = evaluation.check(given, spot, { seen: undefined, findings: undefined });
  return !fits || wrong(spot, 'fits a schema that it must not fit');
}

function conditional(evaluation: Evaluation, given: unknown, spot: Spot): boolean {
  const branch = attempt(evaluation, given, spot, undefined) ? 'then' : 'else';
  return !Object.hasOwn(spot.schema, branch) || evaluation.check(ownValue(spot.schema, branch), spot);
}
