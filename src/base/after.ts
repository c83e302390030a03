import { isThenable } from './json.js';

/**
 * Goes on with a value that may have to be awaited. What is there already costs no promise, and no turn of the event loop.
 *
 * @example
 * after(models, (all) => all.length); // a number, or the promise of one
 */
export function after<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return isThenable(value) ? value.then(next) : next(value);
}
