import { keyName } from './form.js';
import type { Form, KeyOf, Keys } from './form.js';

/**
 * How far a change of a step goes: `result`: what was recorded of it does not count any more; `course`: it decides whether, after
 * what and with what the step runs, or where its result goes; `judgement`: what it did stays, and is judged again before it counts; `policy`: none of
 * these, only how often it is tried and the like.
 */
export type ChangeEffect = 'result' | 'course' | 'judgement' | 'policy';

/** What is known of a field in addition to its form: what it is called, and how far a change of it goes. */
export interface Meaning {
  /** Word and effect of a change; undefined: people see it, nothing depends on it. */
  readonly change?: readonly [word: string, effect: ChangeEffect];
  /** Without it a step could run without end: the code of that problem. */
  readonly unbounded?: 'unbounded-loop' | 'unbounded-map';
}

/** All that is known of a field. */
export interface Row<T> extends Meaning {
  readonly form: Form<T>;
}

/** A row for each field of a type. A field that is missing here does not compile. */
export type Rows<T> = { readonly [K in keyof T & string as KeyOf<T, K>]-?: Row<Exclude<T[K], undefined>> };

/** A field that decides about the result. */
export function result<T>(word: string, form: Form<T>): Row<T> {
  return { form, change: [word, 'result'] };
}

/** A field that decides about the course. */
export function course<T>(word: string, form: Form<T>): Row<T> {
  return { form, change: [word, 'course'] };
}

/** A field that decides who judges the result. */
export function judgement<T>(word: string, form: Form<T>): Row<T> {
  return { form, change: [word, 'judgement'] };
}

/** A field that decides about none of these. */
export function policy<T>(word: string, form: Form<T>): Row<T> {
  return { form, change: [word, 'policy'] };
}

/** A field that people see, or one that is compared by what is in it. */
export function shown<T>(form: Form<T>): Row<T> {
  return { form };
}

/** A field whose absence is a problem with a code of its own. */
export function bounding<T>(unbounded: NonNullable<Meaning['unbounded']>, row: Row<T>): Row<T> {
  return { ...row, unbounded };
}

/** The forms of a table. A field whose absence is a problem of its own may be absent here. */
export function formsOf<T>(rows: Rows<T>): Keys<T> {
  const forms = Object.entries(rows as Readonly<Record<string, Row<T>>>).map(([key, { form, unbounded }]) => [
    unbounded === undefined ? key : `${key}?`,
    form,
  ]);
  return Object.fromEntries(forms) as Keys<T>;
}

/** The fields of a table by name. */
export function byName<T>(rows: Rows<T>): ReadonlyMap<string, Meaning> {
  return new Map(Object.entries<Meaning>(rows).map(([key, row]) => [keyName(key).name, row]));
}
