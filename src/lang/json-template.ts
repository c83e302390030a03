import type { Json } from '../base/json.js';
import { renderAll, type Filling, type Insertions } from './template.js';
import { bareRef, withoutWording, type JsonTemplate, type Template } from './values.js';
import type { WorkMeter } from './work-meter.js';

/**
 * The value of a JSON template. Inserted values are not scanned again. Undefined for a reference without a value.
 *
 * @throws SkeinError SKEIN_TEMPLATE if a path does not resolve, or a value in a text has no JSON form
 *
 * @example
 * renderJson({ object: { issue: { channel: 'number' } } }, { read: () => 7 }); // { issue: 7 }
 */
export function renderJson(source: JsonTemplate, filling: Filling, meter?: WorkMeter): unknown {
  return renderAll(meter, (from) => valueOf(source, from), filling);
}

/** The reader of files and the form of plans limit its depth. */
function valueOf(source: JsonTemplate, from: Insertions): unknown {
  if ('value' in source) return source.value;
  if ('template' in source) return from.text(source.template);
  if ('list' in source) return source.list.map((item) => valueOf(item, from) ?? null);
  if ('channel' in source) return from.value(source);
  if ('expression' in source) return from.computed(source);
  const fields = Object.entries(source.object).map(([key, field]) => [key, valueOf(field, from)] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** A text as a JSON template: a single reference keeps the type of its value, unless it is truncated or escaped. */
export function jsonOfText(template: Template): JsonTemplate {
  if (template.every((piece) => typeof piece === 'string')) return { value: template.join('') };
  const [only, ...more] = template;
  if (typeof only !== 'object' || more.length > 0 || 'outputs' in only || 'items' in only) return { template };
  const isChanged = only.truncate !== undefined || ('escape' in only && only.escape !== undefined);
  return isChanged ? { template } : only;
}

/** A list of JSON templates; one without references is a value. */
export function jsonOfList(list: readonly JsonTemplate[]): JsonTemplate {
  return list.every(isValue) ? { value: list.map(({ value }) => value) } : { list };
}

/** An object of JSON templates; one without references is a value. */
export function jsonOfObject(entries: readonly (readonly [key: string, field: JsonTemplate])[]): JsonTemplate {
  const values = entries.flatMap(([key, field]) => (isValue(field) ? [[key, field.value] as const] : []));
  if (values.length === entries.length) return { value: Object.fromEntries(values) };
  return { object: Object.fromEntries(entries) };
}

function isValue(source: JsonTemplate): source is { readonly value: Json } {
  return 'value' in source;
}

/** Yields the texts and references in a JSON template, each as a template. */
export function* templatesIn(source: JsonTemplate): Generator<Template> {
  if ('template' in source) yield source.template;
  else if ('channel' in source || 'expression' in source) yield [source];
  else if ('list' in source) for (const item of source.list) yield* templatesIn(item);
  else if ('object' in source) for (const field of Object.values(source.object)) yield* templatesIn(field);
}

/** Returns a JSON template without the names of its references in messages, which have no effect. */
export function bareJson(source: JsonTemplate): JsonTemplate {
  if ('value' in source || 'expression' in source) return source;
  if ('template' in source) return { template: withoutWording(source.template) };
  if ('channel' in source) return bareRef(source);
  if ('list' in source) return { list: source.list.map(bareJson) };
  const fields = Object.entries(source.object).map(([key, field]) => [key, bareJson(field)]);
  return { object: Object.fromEntries(fields) as Record<string, JsonTemplate> };
}
