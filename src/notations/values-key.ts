import type { Json } from '../base/json.js';
import type { JsonTemplate, Template } from '../lang/values.js';
import { any, names } from '../text/forms.js';
import { checkName, NAME_FORM } from '../text/names.js';
import type { SourceEntry, SourceNode, SourceScalar } from '../text/nodes.js';
import type { Fields } from '../text/shape.js';
import { jsonOfList, jsonOfObject, jsonOfText } from '../lang/json-template.js';

/** The key `values`: JSON values by name. Their texts are templates. */
export const VALUES = names(
  any('a value; a text that is one reference keeps the type of what it refers to'),
  'values by name',
  {
    pattern: NAME_FORM.pattern,
    min: 1,
  },
);

export type ValuesDef = readonly SourceEntry[];

export const SET_KEYS = { values: { ...VALUES, needed: true } } as const;

/** Reads the keys of a step that sets values. Problem codes: those of {@link readValues}. */
export function readSet(fields: Fields): ValuesDef {
  fields.needs('values', 'missing-values', `${fields.name} sets no values`, 'write values: { NAME: VALUE }');
  return readValues(fields) ?? [];
}

/** Returns the JSON Schema of the output of a step that sets values: its names, each with any value. */
export function schemaOfValues(values: ValuesDef): Json {
  return schemaOfNames(values.map(({ key }) => key));
}

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

/** Converts values to JSON templates. `template` parses their texts and reports mistakes in their references. */
export function valuesOf(
  values: ValuesDef,
  template: (scalar: SourceScalar) => Template,
): Readonly<Record<string, JsonTemplate>> {
  return Object.fromEntries(values.map(({ key, value }) => [key, jsonTemplate(value, template)] as const));
}

/** Converts a value of a file to a JSON template. `template` parses its texts. Keys, numbers, booleans and null are kept. */
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
