import { SkeinError } from '../../base/errors.js';
import { isPlainObject, jsonIn, ownValue, present, type Json, type JsonObject } from '../../base/json.js';
import { didYouMean } from '../../base/suggest.js';
import { coerceInput } from '../../lang/coerce.js';
import { readPath } from '../../lang/json-path.js';
import { schemaFindings } from '../../lang/schema-check.js';
import { namesOf, reachablePrompts, speakingPrompts, variableKey, type Beginning } from './pack-names.js';
import { textsOf, type Pack, type Variable } from './pack.js';
import { placeholdersOf, type Placeholder } from './placeholders.js';

const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'object', 'array']);

/** Returns the JSON Schema of a variable's value. An unknown type adds no constraint. */
export function variableSchema({ type, validation = {} }: Variable): JsonObject {
  const { pattern, min_length, max_length, minimum, maximum, enum: allowed } = validation;
  const bounds = { pattern, minLength: min_length, maxLength: max_length, minimum, maximum, enum: allowed };
  return present({ type: TYPES.has(type) ? type : undefined, ...bounds });
}

/**
 * Builds the channel `variables` for the prompts reachable from where a conversation stands: the given values, defaults for the others, and
 * the empty text for optional ones.
 *
 * @throws SkeinError `SKEIN_INPUT` that names every value that is missing, unknown, of the wrong type or refused by its rules, and every
 * placeholder without a value
 */
export function completeVariables(pack: Pack, from: Beginning, given: Readonly<Record<string, unknown>>): JsonObject {
  const problems = new Set<string>();
  const prompts = reachablePrompts(pack, from);
  const speaking = speakingPrompts(pack, from);
  const isFromStep = (prompt: string, name: string): boolean =>
    !speaking.has(prompt) && namesOf(pack).fromSteps.get(prompt)?.has(name) === true;
  const values = new Map<string, Json>();
  const used = new Map<string, string>();
  const { fragments } = namesOf(pack);
  for (const name of prompts) {
    const prompt = ownPrompt(pack, name);
    const declared = new Map((prompt.variables ?? []).map((variable) => [variable.name, variable]));
    // The machine supplies its context, even if a prompt declares the name.
    declared.delete('workflow_context');
    for (const variable of declared.values())
      putVariable(isFromStep(name, variable.name) ? { ...variable, required: false } : variable, {
        key: variableKey(pack, name, variable.name),
        given,
        values,
        problems,
      });
    for (const reference of placeholdersOf(textsOf(prompt), fragments, new Set(declared.keys()))) {
      if (reference.kind !== 'variable') continue;
      used.set(reference.name, name);
      const value = Object.hasOwn(given, reference.name) ? given[reference.name] : undefined;
      if (value !== undefined && !declared.has(reference.name)) values.set(reference.name, value as Json);
    }
  }
  const complete = Object.fromEntries(values);
  for (const name of prompts) {
    for (const { name: variable, written } of unfilled(pack, name, complete))
      if (!isFromStep(name, variable)) problems.add(`prompts["${name}"]: {{${written}}} has no value`);
  }
  const known = [...namesOf(pack).variables.keys(), ...used.keys()];
  for (const name of Object.keys(given).filter((one) => !known.includes(one))) {
    const hint = didYouMean(name, known);
    problems.add(`no prompt has the variable "${name}"${hint === undefined ? '' : `; ${hint}`}`);
  }
  if (problems.size === 0) return complete;
  const hint = 'give values as variables: { NAME: VALUE }, or --input NAME=VALUE';
  throw new SkeinError('SKEIN_INPUT', [...problems].join('\n'), { hint });
}

function ownPrompt({ prompts }: Pack, name: string): Pack['prompts'][string] {
  const prompt = Object.hasOwn(prompts, name) ? prompts[name] : undefined;
  if (prompt !== undefined) return prompt;
  const hint = didYouMean(name, Object.keys(prompts)) ?? `the prompts are: ${Object.keys(prompts).join(', ')}`;
  throw new SkeinError('SKEIN_USAGE', `the pack has no prompt "${name}"`, { hint });
}

interface Putting {
  readonly key: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly values: Map<string, Json>;
  readonly problems: Set<string>;
}

function putVariable(variable: Variable, { key, given, values, problems }: Putting): void {
  const { name, required, default: usual, description } = variable;
  const value = Object.hasOwn(given, name) ? given[name] : undefined;
  if (value === undefined) {
    const about = description === undefined ? '' : ` (${description})`;
    const missing = `the variable "${name}" is missing`;
    if (required && usual === undefined) {
      // Several prompts may need the same variable.
      if (![...problems].some((problem) => problem.startsWith(missing))) problems.add(`${missing}${about}`);
    }
    // A variable required elsewhere may already have a value.
    else if (usual !== undefined || !values.has(key)) values.set(key, usual ?? '');
    return;
  }
  const findings = schemaFindings(variableSchema(variable), value);
  for (const finding of findings) problems.add(`the variable "${name}" ${finding.replace(/^\/: /, '')}`);
  values.set(key, value as Json);
}

/** Returns the placeholders of a prompt to which the variables give no value. Missing variables are reported by themselves. */
function unfilled(
  pack: Pack,
  prompt: string,
  values: JsonObject,
): readonly Extract<Placeholder, { readonly kind: 'variable' }>[] {
  const own = ownPrompt(pack, prompt);
  const declared = new Set((own.variables ?? []).map(({ name }) => name));
  return placeholdersOf(textsOf(own), namesOf(pack).fragments, declared).flatMap((reference) => {
    if (reference.kind !== 'variable') return [];
    const { name, path } = reference;
    if (declared.has(name) && path.length === 0) return [];
    return readPath(values, [variableKey(pack, prompt, name), ...path]) === undefined ? [reference] : [];
  });
}

/** Converts texts to the types that the pack declares. A text that does not parse stays a text, which the check then reports. */
export function variablesFromTexts(pack: Pack, texts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, value]) => {
      const [declared] = namesOf(pack).variables.get(name)?.values() ?? [];
      return [name, typeof value === 'string' && declared !== undefined ? fromText(declared, value) : value];
    }),
  );
}

function fromText({ name, type }: Variable, text: string): unknown {
  if (type === 'number' || type === 'boolean')
    return ownValue(coerceInput(name, { properties: { value: { type } } }, { value: text }), 'value');
  if (type !== 'object' && type !== 'array') return text;
  const read = jsonIn(text);
  return isPlainObject(read) || Array.isArray(read) ? read : text;
}
