import { didYouMean } from '../../base/suggest.js';
import { quoteShort } from '../../lang/value-text.js';
import { namesOf } from './pack-names.js';
import { textsOf, type PlacedPack, type Variable } from './pack.js';
import { parsePlaceholders, placeholdersOf } from './placeholders.js';
import { schemaFindings } from '../../lang/schema-check.js';
import { variableSchema } from './variables.js';

/** Checks that the placeholders of prompts, and of fragments inside them, name something. */
export function checkTemplates(placed: PlacedPack): void {
  const { pack, findings, at } = placed;
  const fragments = new Map(Object.entries(pack.fragments ?? {}));
  checkFragments(fragments, placed);
  checkOpen(placed);
  const speaking = new Set(Object.values(pack.workflow?.states ?? {}).map(({ prompt_task }) => prompt_task));
  for (const [name, prompt] of Object.entries(pack.prompts)) {
    const variables = new Set((prompt.variables ?? []).map((variable) => variable.name));
    const known = [...variables, ...fragments.keys(), 'workflow_context'];
    const artifacts = new Set<string>();
    for (const reference of placeholdersOf(textsOf(prompt), fragments, variables)) {
      if (reference.kind === 'artifact') artifacts.add(reference.name);
      if (reference.kind === 'context' || reference.kind === 'artifact') continue;
      // A step gives its prompt an input, a state does not.
      const isFromStep = !speaking.has(name) && namesOf(pack).fromSteps.get(name)?.has(reference.name) === true;
      const isVariable = variables.has(reference.name) || isFromStep;
      const isKnown = reference.kind === 'fragment' ? fragments.has(reference.name) : isVariable;
      if (isKnown) continue;
      const message = `prompts[${JSON.stringify(name)}]: {{${reference.written}}} is neither a variable nor a fragment`;
      const hint = didYouMean(reference.name, known) ?? 'declare it in variables';
      findings.warning('unknown-placeholder', message, at('prompts', name, 'system_template'), hint);
    }
    checkArtifacts(name, artifacts, placed);
  }
}

/** A placeholder without its end, such as `{{name}`: it is sent to the model as it is. */
const OPEN = /\{\{\s*[A-Za-z_][\w.:-]*(?![^{}]*\}\})/g;

/** Warns about placeholders of prompts and fragments that are not closed. */
function checkOpen({ pack, findings, at }: PlacedPack): void {
  const check = (owner: string, text: string, place: readonly string[]): void => {
    for (const [written] of text.matchAll(OPEN)) {
      const message = `${owner}: ${quoteShort(written)} is not closed, so it is not a placeholder`;
      findings.warning('open-placeholder', message, at(...place), 'end it with }} behind the name');
    }
  };
  for (const [name, text] of Object.entries(pack.fragments ?? {}))
    check(`fragments[${JSON.stringify(name)}]`, text, ['fragments', name]);
  for (const [name, prompt] of Object.entries(pack.prompts))
    for (const text of textsOf(prompt))
      check(`prompts[${JSON.stringify(name)}]`, text, ['prompts', name, 'system_template']);
}

/** The maximum length of a prompt with its fragments inserted. A few fragments that each contain the next one twice grow exponentially. */
const LONGEST = 1_000_000;

/** Reports fragments that contain themselves, each loop once, and prompts that become too long through fragments. */
function checkFragments(fragments: ReadonlyMap<string, string>, placed: PlacedPack): void {
  const { pack, findings, at } = placed;
  const checked = new Set<string>();
  for (const [prompt, { variables = [], ...rest }] of Object.entries(pack.prompts)) {
    const hiding = new Set(variables.map(({ name }) => name).filter((name) => fragments.has(name)));
    const lengthOf = measure(fragments, hiding, placed);
    const key = JSON.stringify([...hiding]);
    if (!checked.has(key)) for (const name of fragments.keys()) lengthOf(`{{fragments.${name}}}`);
    checked.add(key);
    if (textsOf(rest).every((text) => lengthOf(text) <= LONGEST)) continue;
    const message = `prompts[${JSON.stringify(prompt)}] has more than ${LONGEST} characters with its fragments`;
    findings.error('large-prompt', message, at('prompts', prompt, 'system_template'), 'use shorter fragments');
  }
}

/** Returns a function that measures texts with their fragments inserted. It reports loops as it finds them. */
function measure(
  fragments: ReadonlyMap<string, string>,
  variables: ReadonlySet<string>,
  { findings, at }: PlacedPack,
): (text: string) => number {
  const lengths = new Map<string, number>();
  const lengthOf = (text: string, path: readonly string[]): number => {
    let length = 0;
    for (const piece of parsePlaceholders(text, fragments, variables)) {
      if (typeof piece === 'string') length += piece.length;
      else if (piece.kind === 'fragment') length += visit(piece.name, path);
    }
    return length;
  };
  const visit = (name: string, path: readonly string[]): number => {
    if (path.includes(name)) {
      const loop = path.slice(path.indexOf(name));
      const message = `fragments[${JSON.stringify(name)}] contains itself: ${[...loop, name].map((one) => quoteShort(one)).join(' -> ')}`;
      findings.error('fragment-loop', message, at('fragments', name), 'take one of the references out');
      return 0;
    }
    const length = lengths.get(name) ?? lengthOf(fragments.get(name) ?? '', [...path, name]);
    lengths.set(name, length);
    return length;
  };
  return (text) => lengthOf(text, []);
}

/** Warns about artifacts that a prompt shows and its state does not declare. */
function checkArtifacts(prompt: string, used: ReadonlySet<string>, { pack, findings, at }: PlacedPack): void {
  for (const [state, { prompt_task, artifacts = {} }] of Object.entries(pack.workflow?.states ?? {})) {
    if (prompt_task !== prompt) continue;
    for (const name of used) {
      if (Object.hasOwn(artifacts, name)) continue;
      const message = `workflow.states[${JSON.stringify(state)}]: its prompt shows {{artifacts.${name}}}, which the state does not declare`;
      const hint = didYouMean(name, Object.keys(artifacts)) ?? `add ${name} to the artifacts of the state`;
      findings.warning('undeclared-artifact', message, at('workflow', 'states', state), hint);
    }
  }
}

/** Checks variables: each is declared once in a prompt, and its default satisfies its own rules. */
export function checkVariables({ pack, findings, at }: PlacedPack): void {
  for (const [prompt, { variables = [] }] of Object.entries(pack.prompts)) {
    const seen = new Set<string>();
    for (const [index, variable] of variables.entries()) {
      const place = (key: string): ReturnType<typeof at> => at('prompts', prompt, 'variables', String(index), key);
      const name = `prompts[${JSON.stringify(prompt)}]: variable "${variable.name}"`;
      if (seen.has(variable.name))
        findings.error('duplicate-variable', `${name} is defined twice`, place('name'), 'take one of them out');
      seen.add(variable.name);
      const wrong = problemOf(variable);
      if (wrong !== undefined)
        findings.error('bad-variable', `${name}: ${wrong}`, place('validation'), 'write it as in JSON Schema');
      else if (variable.default !== undefined) {
        const [finding] = schemaFindings(variableSchema(variable), variable.default);
        if (finding === undefined) continue;
        const message = `${name}: its default ${finding.replace(/^\/: /, '')}`;
        findings.error('bad-variable', message, place('default'), 'correct the default, or what the variable may be');
      }
    }
  }
}

/** Reports a rule that can't be applied: an invalid pattern. */
function problemOf({ validation = {} }: Variable): string | undefined {
  const { pattern } = validation;
  if (pattern === undefined) return undefined;
  return schemaFindings({ pattern }, '').find((finding) => finding.includes("can't be used"));
}
