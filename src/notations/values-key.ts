import type { Json } from '../base/json.js';
import type { JsonTemplate, Template } from '../lang/values.js';
import { any, names } from '../text/forms.js';
import { checkName, NAME_FORM } from '../text/names.js';
import type { SourceEntry, SourceNode, SourceScalar } from '../text/nodes.js';
import type { Fields } from '../text/shape.js';
import { jsonOfList, jsonOfObject, jsonOfText } from '../lang/json-template.js';

/** The key `values`: JSON values by name, whose texts are templates. */
export const VALUES = names(
  any('a value; a text that is one reference keeps the type of what it refers to'),
  'values by name',
  {
    pattern: NAME_FORM.pattern,
    min: 1,
    blank: false,
  },
);

/** Values as they were written, by name. */
export type ValuesDef = readonly SourceEntry[];

/** The keys of a step that makes values, in YAML. */
export const SET_KEYS = { values: { ...VALUES, needed: true } } as const;

/** Reads the keys of a step that makes values. Problem codes: those of {@link readValues}. */
export function readSet(fields: Fields): ValuesDef {
  if (fields.lacks('values')) {
    const hint = 'write values: { NAME: VALUE }';
    fields.error('missing-values', 'values', `${fields.name} sets no values`, hint);
  }
  return readValues(fields) ?? [];
}

/** What a step that makes values gives, as a JSON Schema: these names, each with any value. */
export function schemaOfValues(values: ValuesDef): Json {
  return schemaOfNames(values.map(({ key }) => key));
}

/** The JSON Schema of an object with these names, each with any value. */
export function schemaOfNames(given: readonly string[]): Json {
  return { type: 'object', properties: Object.fromEntries(given.map((name) => [name, {}] as const)) };
}

/** Reads the key `values`. Problem codes: `missing-values`, `wrong-type`, and those of names. */
export function readValues(fields: Fields): ValuesDef | undefined {
  const node = fields.node('values');
  if (node === undefined) return undefined;
  const { findings, name } = fields;
  if (node.kind === 'map' && node.entries.length > 0)
    return node.entries.filter(({ key, at }) => checkName(key, 'name of a value', at, findings));
  if (node.kind === 'map')
    fields.error('missing-values', 'values', `values of ${name} is empty`, 'write values: { NAME: VALUE }');
  else fields.entries('values');
  return undefined;
}

/** The values as JSON templates; `template` reads their texts, and reports what is wrong with their references. */
export function valuesOf(
  values: ValuesDef,
  template: (scalar: SourceScalar) => Template,
): Readonly<Record<string, JsonTemplate>> {
  return Object.fromEntries(values.map(({ key, value }) => [key, jsonTemplate(value, template)] as const));
}

/**
 * A value of a file as a JSON template: its texts are read by `template`, which reports what is wrong with their references; names of keys, numbers, truth
 * values and null are what they are. Its depth is bounded by the parser.
 *
 * @example
 * jsonTemplate(node, (scalar) => texts.template(scalar, reader));
 */
export function jsonTemplate(node: SourceNode, template: (scalar: SourceScalar) => Template): JsonTemplate {
  switch (node.kind) {
    case 'scalar':
      return typeof node.value === 'string' ? jsonOfText(template(node)) : { value: node.value };
    case 'list':
      return jsonOfList(node.items.map((item) => jsonTemplate(item, template)));
    case 'map':
      return jsonOfObject(node.entries.map(({ key, value }) => [key, jsonTemplate(value, template)] as const));
  }
}
