import { present, type Json } from '../base/json.js';
import type { Position } from '../base/problem.js';
import { quoteShort } from '../lang/value-text.js';
import { enumFits, INPUT_TYPES, inputValue, type InputForm } from '../plan/input-types.js';
import type { InputSpec } from '../plan/plan.js';
import { any, list, map, names, text, word } from '../text/forms.js';
import type { Findings } from '../text/findings.js';
import { checkName, NAME_FORM } from '../text/names.js';
import { describe, isNothing, toJson, type SourceEntry, type SourceNode } from '../text/nodes.js';
import { readFields, type Fields } from '../text/shape.js';

const INPUT = map(
  {
    description: text('shown when the input is missing'),
    type: word(INPUT_TYPES, 'what its value is; texts of the command line are turned into it', { default: 'text' }),
    enum: list(any('', { needed: true }), 'the values that it may have', { min: 1, blank: false }),
    default: any('the value when none is given; without it the input must be given'),
  },
  'a value that a run is started with',
  { blank: false },
);

export const INPUTS = names(INPUT, 'values that a run is started with', { pattern: NAME_FORM.pattern });

export interface InputDef extends InputForm {
  readonly name: string;
  readonly description: string | undefined;
  /** Undefined: the input is required as soon as something uses it. */
  readonly default: Json | undefined;
  readonly at: Position;
}

export const inputChannel = (name: string): string => `inputs.${name}`;

export function inputSpec(
  { name, description, type, enum: words, default: value, at }: InputDef,
  isUsed: boolean,
): InputSpec {
  const required = value === undefined && isUsed;
  return present({ channel: inputChannel(name), name, description, required, default: value, type, enum: words, at });
}

/** Reads the key `inputs`. Problem codes: `bad-input`, those of names and types. */
export function readInputs(root: Fields): readonly InputDef[] {
  return (root.entries('inputs') ?? []).map((entry) => {
    checkName(entry.key, 'input name', entry.at, root.findings);
    return readInput(entry, root.findings);
  });
}

function readInput({ key, value, at }: SourceEntry, findings: Findings): InputDef {
  const none: InputDef = { name: key, description: undefined, default: undefined, at };
  if (isNothing(value)) return none;
  if (value.kind !== 'map') {
    const hint = `write ${key}: {default: ...}`;
    findings.error('wrong-type', `input ${quoteShort(key)} must be a map, not ${describe(value)}`, value.at, hint);
    return none;
  }
  const fields = readFields(value, { name: `input ${quoteShort(key)}`, form: INPUT }, findings);
  if (fields === undefined) return none;
  const form = readForm(fields);
  return { ...none, ...form, description: fields.text('description'), default: readDefault(fields, form) };
}

/** Reads the form of the input's values. Values of an enum are texts unless the type says otherwise. */
function readForm(fields: Fields): InputForm {
  const type = fields.word('type', INPUT.keys.type);
  const node = fields.node('enum');
  if (node === undefined) return present({ type });
  if (node.kind !== 'list' || node.items.length === 0) {
    const seen = node.kind === 'list' ? 'empty' : describe(node);
    fields.error(
      'wrong-type',
      'enum',
      `enum of ${fields.name} must be a list of values, not ${seen}`,
      'write [one, two]',
    );
    return present({ type });
  }
  const values = node.items.map((item) => valueOf(item, type));
  const nothing = node.items.find(isNothing);
  if (nothing !== undefined)
    fields.findings.error('wrong-type', `enum of ${fields.name} has an entry without a value`, nothing.at);
  else if (!enumFits(type, values)) {
    const message = `enum of ${fields.name} has values that are not of its type, ${type ?? 'text'}`;
    fields.error('bad-input', 'enum', message, 'list values of the type, or change it');
    return present({ type });
  }
  return { type: type ?? 'text', enum: values };
}

/** Returns the value as text unless another type is declared. */
function valueOf(node: SourceNode, type: InputForm['type']): Json {
  return node.kind === 'scalar' && (type ?? 'text') === 'text' ? node.text : toJson(node);
}

function readDefault(fields: Fields, form: InputForm): Json | undefined {
  const node = fields.node('default');
  if (node === undefined) return undefined;
  const found = inputValue({ ...form, type: form.type ?? 'text' }, valueOf(node, form.type));
  if ('value' in found) return found.value as Json;
  fields.error('bad-input', 'default', `default of ${fields.name} ${found.why}`, found.hint ?? 'write another value');
  return undefined;
}

/** What a notation says of an input that it does not have. */
interface UnknownInput {
  readonly message: (name: string) => string;
  readonly hint: string;
}

/** Reports given inputs that a workflow does not have: most likely misspellings, refused before anything is spent. Code: `unknown-input`. */
export function checkGiven(
  given: readonly string[],
  inputs: readonly Pick<InputSpec, 'name'>[],
  { message, hint }: UnknownInput,
  findings: Findings,
): void {
  const known = inputs.map(({ name }) => name);
  for (const name of new Set(given))
    if (!known.includes(name))
      findings.error('unknown-input', message(quoteShort(name)), undefined, findings.near(name, known) ?? hint);
}

export function listedInputs(inputs: readonly Pick<InputSpec, 'name'>[]): string {
  return `inputs are: ${inputs.map(({ name }) => name).join(', ')}`;
}
