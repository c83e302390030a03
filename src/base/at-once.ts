/** True for values that can be awaited: objects with a method `then`. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/**
 * Continues with a value that may be a promise. A value that is present costs no promise, and no turn of the event loop.
 *
 * @example
 * after(models, (all) => all.length); // a number, or the promise of one
 */
export function after<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return isThenable(value) ? value.then(next) : next(value);
}

/**
 * True for a promise in the place of a value that a function must return at once. Its failure is ignored: no one waits for it, and an
 * unhandled rejection would end the process.
 */
export function isLate(value: unknown): value is PromiseLike<unknown> {
  if (!isThenable(value)) return false;
  value.then(undefined, () => undefined);
  return true;
}

/** Names what a function returned in the place of a value of another type: `a promise`, `object`. */
export function returnedType(value: unknown): string {
  return isLate(value) ? 'a promise' : typeof value;
}

/**
 * Passes something on to a listener. Calls `failed` in place of throwing what the listener throws, at once or later.
 *
 * @example
 * passTo(listener, event, () => listeners.delete(listener));
 */
export function passTo<T>(listener: (told: T) => unknown, told: T, failed: () => void): void {
  try {
    const answer = listener(told);
    if (isThenable(answer)) answer.then(undefined, failed);
  } catch {
    failed();
  }
}
