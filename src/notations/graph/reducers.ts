import type { ReduceInput } from '../../plan/builder-input.js';
import type { ReducerName } from '../../plan/plan.js';
import { reducerFor } from '../../plan/reducers.js';

type BuiltIn = Exclude<ReducerName, 'code'>;

/** How values written to a key are combined: a built-in reducer, by name or from {@link reducers}, or a function. */
export type ReducerInput = BuiltIn | ReduceInput;

function fold(name: BuiltIn): ReduceInput {
  const reducer = reducerFor(name);
  return (current, contribution) => reducer.read(reducer.fold(reducer.open(current), contribution));
}

/**
 * The built-in reducers, which can also be called directly: `append` collects values in a list, `extend` joins lists, `mergeDict` merges
 * objects, `add` adds numbers or texts, `last` keeps the last value.
 *
 * @example
 * graph<{ messages: string[] }>({ reducers: { messages: reducers.append } });
 */
export const reducers: Readonly<Record<BuiltIn, ReduceInput>> = Object.freeze({
  append: fold('append'),
  extend: fold('extend'),
  mergeDict: fold('mergeDict'),
  add: fold('add'),
  last: fold('last'),
});

const NAMES: ReadonlyMap<unknown, ReducerName> = new Map(
  Object.entries(reducers).flatMap(([name, reduce]): readonly [unknown, BuiltIn][] => [
    [reduce, name as BuiltIn],
    [name, name as BuiltIn],
  ]),
);

/** Returns the name of a reducer in a plan: `code` for a function of the user, undefined for anything else. */
export function reducerName(input: unknown): ReducerName | undefined {
  return NAMES.get(input) ?? (typeof input === 'function' ? 'code' : undefined);
}
