import { jsonOfList, jsonOfObject, jsonOfText } from '../lang/json-template.js';
import type { JsonTemplate, Template } from '../lang/values.js';
import type { SourceNode, SourceScalar } from '../text/nodes.js';

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
