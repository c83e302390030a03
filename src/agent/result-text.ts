import { SkeinError, toErrorData } from '../base/errors.js';
import { MAX_DEPTH, classText, isPlainObject, notJson } from '../base/json.js';

/**
 * Returns the result of a function as a model reads it: text as it is, anything else as JSON, with what `toJSON` of a value gives; nothing is
 * an empty text. Of a `Map`, an error or a response JSON would leave `{}` without a word, so these are refused.
 *
 * A model can't repair such a result, so `warn` gets the mistake, too. The model learns that the call was made: else it might make it again.
 *
 * @throws SkeinError `SKEIN_NOT_JSON`
 */
export function resultText(result: unknown, tool: string, warn: (message: string) => void): string {
  if (typeof result === 'string') return result;
  try {
    if (typeof result === 'function' || typeof result === 'symbol') throw notJson([], `a ${typeof result}`);
    checkKept(result, []);
    return JSON.stringify(result) ?? '';
  } catch (error) {
    const { message: why } = toErrorData(error);
    warn(`the model does not get the result of "${tool}": ${why}; return text, or plain JSON data`);
    throw new SkeinError('SKEIN_NOT_JSON', `the call was made, but its result can't be shown: ${why}`);
  }
}

/** `place`: the keys that lead to the value. Functions inside of objects are left out, as JSON does. */
function checkKept(value: unknown, place: (string | number)[]): void {
  if (typeof value === 'bigint') throw notJson(place, 'a bigint');
  if (typeof value !== 'object' || value === null) return;
  if (typeof Reflect.get(value, 'toJSON') === 'function') return;
  if (place.length > MAX_DEPTH) throw new TypeError(`it is nested deeper than ${MAX_DEPTH} levels, or contains itself`);
  if (Array.isArray(value)) {
    value.forEach((item, at) => checkAt(item, at, place));
    return;
  }
  const keys = Object.keys(value);
  const isEmpty = keys.length === 0 || value instanceof Error;
  if (isEmpty && !isPlainObject(value)) throw notJson(place, classText(value));
  for (const key of keys) checkAt(Reflect.get(value, key), key, place);
}

function checkAt(inner: unknown, key: string | number, place: (string | number)[]): void {
  place.push(key);
  checkKept(inner, place);
  place.pop();
}
