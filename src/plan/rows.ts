import { lazily } from '../base/collections.js';
import { keyName, object, type Form, type KeyOf, type Keys } from './form.js';

/**
 * The effect of a change of a step: `result`: its recorded result is no longer valid; `course`: it influences whether, after what and with
 * what the step runs, or where its result goes; `judgement`: its work stays, but is judged again; `policy`: none of these, only how often
 * it is tried and the like.
 */
export type ChangeEffect = 'result' | 'course' | 'judgement' | 'policy';

/** The meaning of a field: its name, and the effect of a change. */
export interface Meaning {
  /** Word and effect of a change; undefined for a field that is only displayed. */
  readonly change?: readonly [word: string, effect: ChangeEffect];
  /** The problem code if the field is missing, because the step could run without end. */
  readonly unbounded?: 'unbounded-loop' | 'unbounded-map';
}

export interface Row<T> extends Meaning {
  readonly form: Form<T>;
}

/** A row for each field of a type. A missing field does not compile. */
export type Rows<T> = { readonly [K in keyof T & string as KeyOf<T, K>]-?: Row<Exclude<T[K], undefined>> };

/** A field that influences the result. */
export function result<T>(word: string, form: Form<T>): Row<T> {
  return { form, change: [word, 'result'] };
}

/** A field that influences the course. */
export function course<T>(word: string, form: Form<T>): Row<T> {
  return { form, change: [word, 'course'] };
}

/** A field that influences who judges the result. */
export function judgement<T>(word: string, form: Form<T>): Row<T> {
  return { form, change: [word, 'judgement'] };
}

/** A field that influences none of these. */
export function policy<T>(word: string, form: Form<T>): Row<T> {
  return { form, change: [word, 'policy'] };
}

/** A field that is only displayed, or that is compared by its content. */
export function shown<T>(form: Form<T>): Row<T> {
  return { form };
}

/** A field whose absence is a problem with its own code. */
export function bounding<T>(unbounded: NonNullable<Meaning['unbounded']>, row: Row<T>): Row<T> {
  return { ...row, unbounded };
}

/** Returns the form of the objects of a table. A field whose absence is a separate problem is optional here. */
export function formOf<T extends object>(rows: Rows<T>): Form<T> {
  const form = lazily(() => {
    const forms = Object.entries(rows as object).map(([key, { form: part, unbounded }]: [string, Row<unknown>]) => [
      unbounded === undefined ? key : `${key}?`,
      part,
    ]);
    return object(Object.fromEntries(forms) as Keys<T>);
  });
  return (value) => form()(value);
}

export function byName<T>(rows: Rows<T>): ReadonlyMap<string, Meaning> {
  return new Map(Object.entries<Meaning>(rows).map(([key, row]) => [keyName(key).name, row]));
}
