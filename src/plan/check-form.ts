import { present, type Json } from '../base/json.js';
import type { Problem } from '../base/problem.js';
import { BUDGET } from './budget.js';
import { DECLARATIONS } from './declarations.js';
import { NODE } from './fields.js';
import { INPUT_TYPES } from './input-types.js';
import { SECURITY } from './security.js';
import { any, flag, integer, list, names, object, TEXT, word, type Misfit } from './form.js';
import type { ChannelSpec, Edge, InputSpec, Limits, Plan, Route, RouteCase } from './plan.js';
import { CONDITIONS, JSON_TEMPLATE, POSITION } from './value-forms.js';

export const LIMITS = object<Limits>({ 'maxSteps?': integer(1), 'concurrency?': integer(1) });

const INPUT = object<InputSpec>({
  channel: TEXT,
  name: TEXT,
  'description?': TEXT,
  required: flag(),
  'default?': any(),
  'type?': word(...INPUT_TYPES),
  'enum?': list(any<Json>()),
  'at?': POSITION,
});

const CHANNEL = object<ChannelSpec>({
  name: TEXT,
  'reducer?': word('append', 'extend', 'mergeDict', 'add', 'last', 'code'),
  'label?': TEXT,
});

const ROUTE = object<Route>({
  from: TEXT,
  'choose?': word('code', 'result'),
  'map?': names(TEXT),
  'cases?': list(object<RouteCase>({ when: CONDITIONS, to: list(TEXT) })),
  'otherwise?': list(TEXT),
  'targets?': list(TEXT),
  'parent?': list(TEXT),
  'mentions?': list(TEXT),
});

const PLAN = object<Plan>({
  format: word(1),
  name: TEXT,
  'description?': TEXT,
  'notation?': TEXT,
  inputs: list(INPUT),
  'openInputs?': flag(),
  'closedState?': flag(),
  'computed?': list(TEXT),
  channels: list(CHANNEL),
  nodes: list(NODE),
  edges: list(object<Edge>({ from: TEXT, to: TEXT })),
  routes: list(ROUTE),
  'entry?': TEXT,
  'exits?': list(TEXT),
  'finally?': TEXT,
  'firstExitWins?': flag(),
  'output?': list(TEXT),
  'values?': names(JSON_TEMPLATE),
  'limits?': LIMITS,
  'budget?': BUDGET,
  'security?': SECURITY,
  ...DECLARATIONS,
});

export interface FoundForm {
  readonly problems: readonly Problem[];
  /** Whether some number is out of bounds: only then does `check-limits.ts` have work. */
  readonly hasWrongNumbers: boolean;
}

/**
 * Checks that a value has the form of a plan, so that later code finds the types it expects. `place` is its place in the data, empty for
 * the whole. Sub-plans are not entered, and sizes of numbers are left to `check-limits.ts`. Never throws.
 */
export function checkForm(plan: unknown, place: string): FoundForm {
  const misfits = PLAN(plan) ?? [];
  const wrong = misfits.filter(({ bound }) => bound === undefined);
  return { problems: wrong.map((one) => badPlan(one, place)), hasWrongNumbers: wrong.length < misfits.length };
}

function badPlan({ path, message, hint }: Misfit, place: string): Problem {
  const at = place === '' ? path.slice(1) : place + path;
  const where = at === '' ? 'the plan' : at;
  return { code: 'bad-plan', severity: 'error', message: `${where} ${message}`, path: where, ...present({ hint }) };
}
