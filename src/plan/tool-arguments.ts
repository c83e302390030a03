import { isPlainObject, type Json, type JsonObject } from '../base/json.js';
import { suggest } from '../base/suggest.js';
import { schemaFindings } from '../lang/schema-check.js';
import type { JsonTemplate } from '../lang/values.js';
import { BUILT_IN, inputSchemaOf, type ToolArgument, type ToolInput } from './built-in-tools.js';
import { builtInOf } from './tool-names.js';
import type { ToolUse } from './tool-use.js';

export interface ArgumentFault {
  readonly code: 'unknown-argument' | 'missing-argument' | 'bad-argument';
  /** Place in the input: names, and indexes of lists. A missing argument has no place of its own. */
  readonly path: readonly (string | number)[];
  /** The problem, as it follows the step's name in a message. */
  readonly what: string;
  readonly hint: string;
}

/** Returns the problems of a built-in tool's arguments that are known before the call. Names from other systems are accepted. */
export function argumentFaults({ name, input }: Pick<ToolUse, 'name' | 'input'>): readonly ArgumentFault[] {
  const tool = builtInOf(name);
  return tool === undefined ? [] : faultsIn(input, BUILT_IN[tool], { tool: name, path: [] });
}

interface Place {
  readonly tool: string;
  readonly path: readonly (string | number)[];
}

function faultsIn(input: JsonTemplate, wanted: ToolInput, place: Place): readonly ArgumentFault[] {
  const given = fieldsOf(input);
  if (given === undefined) return [];
  const { tool } = place;
  const names = Object.keys(wanted.arguments);
  const owners = new Map<string, string>();
  const meant = new Set<string>();
  const faults: ArgumentFault[] = [];
  for (const [name, value] of given) {
    const path = [...place.path, name];
    const own = ownName(name, wanted);
    if (own === undefined || owners.has(own)) {
      const twice = own === undefined ? 'does not have' : `has as ${JSON.stringify(owners.get(own))} already`;
      const near = own === undefined ? suggest(name, names) : undefined;
      if (near !== undefined) meant.add(near);
      const hint =
        near === undefined ? `its arguments are: ${names.join(', ')}` : `did you mean ${JSON.stringify(near)}?`;
      const what = `gives ${tool} the argument ${JSON.stringify(name)}, which it ${twice}`;
      faults.push({ code: 'unknown-argument', path, what, hint });
      continue;
    }
    owners.set(own, name);
    const argument = wanted.arguments[own];
    if (argument !== undefined) faults.push(...valueFaults(value, argument, { tool, path }));
  }
  for (const name of wanted.required) {
    if (owners.has(name) || meant.has(name)) continue;
    const what = `does not give ${tool} the argument ${JSON.stringify(name)}, which it needs`;
    faults.push({ code: 'missing-argument', path: place.path, what, hint: `add ${name} to its input` });
  }
  return faults;
}

function ownName(name: string, { arguments: all }: ToolInput): string | undefined {
  if (Object.hasOwn(all, name)) return name;
  return Object.entries(all).find(([, { also = [] }]) => also.includes(name))?.[0];
}

function valueFaults(value: JsonTemplate, { schema, each }: ToolArgument, place: Place): readonly ArgumentFault[] {
  const items = each === undefined ? [] : (itemsOf(value) ?? []);
  const inside = items.flatMap((item, at) =>
    each === undefined ? [] : faultsIn(item, each, { ...place, path: [...place.path, at] }),
  );
  if (inside.length > 0) return inside;
  const whole = each === undefined ? schema : { ...schema, items: inputSchemaOf(each) };
  const [finding] = findingsOf(value, whole);
  if (finding === undefined) return [];
  const what = `gives ${place.tool} a wrong ${JSON.stringify(place.path.at(-1))}: ${finding}`;
  return [{ code: 'bad-argument', path: place.path, what, hint: 'write another value' }];
}

/** Returns a schema's findings on a value, as far as it is literal. A text with references counts as text. */
function findingsOf(value: JsonTemplate, schema: JsonObject): readonly string[] {
  // Most values are texts or booleans, for which a full evaluation would dominate the cost.
  if ('value' in value && typeof value.value === schema['type'] && schema['enum'] === undefined) return [];
  if ('value' in value) return schemaFindings(schema, value.value);
  return 'template' in value ? schemaFindings({ type: schema['type'] }, '') : [];
}

function fieldsOf(input: JsonTemplate): readonly (readonly [string, JsonTemplate])[] | undefined {
  if ('object' in input) return Object.entries(input.object);
  if (!('value' in input) || !isPlainObject(input.value)) return undefined;
  return Object.entries(input.value).map(([name, value]) => [name, { value }] as const);
}

function itemsOf(input: JsonTemplate): readonly JsonTemplate[] | undefined {
  if ('list' in input) return input.list;
  if (!('value' in input) || !Array.isArray(input.value)) return undefined;
  return input.value.map((value: Json) => ({ value }));
}
