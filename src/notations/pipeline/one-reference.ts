import type { Json } from '../../base/json.js';
import type { TemplateRef, ValueRef } from '../../lang/values.js';
import type { SourceScalar } from '../../text/nodes.js';
import { locate } from '../../text/places.js';
import type { ParsedYaml } from '../../text/yaml.js';
import { COUNT_SCHEMAS, inputSchema, orNoItems, reportNoList, reportNoValue, type NamingKey } from '../named-values.js';
import { ENDING_SCHEMA, endingInText, RUN_SCHEMA } from '../step-ending.js';
import type { Placed } from './blocks.js';
import { readDotted, splitBraces, type Dotted } from './expressions.js';
import type { Names } from './order.js';
import { schemaOf } from './output-paths.js';
import { noteUse, reportFault, resolve, type Target } from './references.js';

/** A text that may be exactly one reference. With a trailing `?`, the value may be missing. */
export interface Optionally {
  /** Undefined if the text is something else. */
  readonly dotted: Dotted | undefined;
  readonly optional: boolean;
}

/** Parses a text that is exactly one reference, with an optional trailing `?`. */
export function optionally(text: string): Optionally {
  const optional = text.endsWith('?');
  return { dotted: wholly(optional ? text.slice(0, -1).trimEnd() : text), optional };
}

function wholly(text: string): Dotted | undefined {
  const dotted = text.startsWith('$') ? readDotted(text, 0) : undefined;
  return dotted?.end === text.length ? dotted : undefined;
}

/** Returns the value a reference refers to. Undefined if it refers to a constant text. */
export function refOf(
  found: Target,
  { dotted, optional, text }: { readonly dotted: Dotted; readonly optional: boolean; readonly text: string },
): TemplateRef | undefined {
  const { ref } = found;
  if (ref === undefined) return undefined;
  if (found.ending === true) {
    const more = dotted.segments.slice(found.used).map((segment) => segment.text);
    return { ...endingInText(ref, more), written: [...found.names, ...more].join('.') };
  }
  if (optional || found.mayBeEmpty === true) return ref.path === undefined ? ref : { ...ref, optional: true };
  return found.canBeMissing === true ? { ...ref, written: text, expected: true } : ref;
}

interface Naming {
  readonly key: NamingKey['key'];
  readonly reader: Placed;
  readonly yaml: ParsedYaml;
  readonly names: Names;
}

const FORM = { mark: '$', forms: '{{ $steps.ID.output }} or {{ $inputs.NAME }}, followed by .PATH for JSON' } as const;

/** Resolves the reference under a key of a step, in braces or not. Problem codes: `bad-reference`, `not-a-list`, those of references. */
export function namedValue(scalar: SourceScalar, { key, reader, yaml, names }: Naming): ValueRef | undefined {
  const { findings } = names;
  const text = scalar.text.trim();
  const [only, ...more] = splitBraces(text);
  const inside = typeof only === 'object' && more.length === 0 ? only.inside : text;
  const { at } = locate(yaml, scalar, inside, 0);
  const naming = { key, label: reader.step.label, at };
  const { dotted, optional } = optionally(inside);
  const found = dotted && resolve(dotted, reader, names);
  if (dotted === undefined || found === undefined) {
    reportNoValue(text, naming, FORM, findings);
    return undefined;
  }
  if (!reportFault(found, at, findings)) return undefined;
  noteUse(found, names, optional);
  const ref = refOf(found, { dotted, optional, text: inside });
  if (ref === undefined) reportNoValue(text, naming, FORM, findings);
  else if (key !== 'rounds')
    reportNoList(text, naming, { schema: schemaBehind(found, names), path: ref.path }, findings);
  return ref && orNoItems(ref, naming, optional);
}

/** Returns the schema of the value a reference refers to, before its path. */
function schemaBehind({ input, ending, leaf, names: [root = ''] }: Target, names: Names): Json | undefined {
  if (input !== undefined) return inputSchema(names.inputs.get(input)?.type);
  if (ending === true) return ENDING_SCHEMA;
  if (root === 'run') return RUN_SCHEMA;
  return leaf === undefined ? COUNT_SCHEMAS[root] : schemaOf(leaf, names);
}
