import { isPlainObject, recordText } from '../base/json.js';

/** The JSON object in what a model says: from the first `{` to the last `}`. Undefined when there is none. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from < 0 || to < from) return undefined;
  try {
    const value = JSON.parse(text.slice(from, to + 1)) as unknown;
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A value as a text; what is missing is empty. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return (typeof value === 'string' ? value : recordText(value)).trim();
}

/** A value as a list of texts without empty ones: nothing that a model says is lost because it is not in a list, or not a text. */
export function asTexts(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map(asText).filter((text) => text !== '');
}
