import { didYouMean } from '../../base/suggest.js';
import { quoteShort } from '../../lang/value-text.js';
import { namesOf } from './pack-names.js';
import type { PlacedPack } from './pack.js';
import { textsOf } from './pack.js';
import { parsePlaceholders, placeholdersOf } from './placeholders.js';

/** Placeholders of prompts and of the fragments in them: each must name something. */
export function checkTemplates(placed: PlacedPack): void {
  const { pack, findings, at } = placed;
  const fragments = new Map(Object.entries(pack.fragments ?? {}));
  checkFragments(fragments, placed);
  for (const [name, prompt] of Object.entries(pack.prompts)) {
    const variables = new Set((prompt.variables ?? []).map((variable) => variable.name));
    const known = [...variables, ...fragments.keys(), 'workflow_context'];
    const artifacts = new Set<string>();
    for (const reference of placeholdersOf(textsOf(prompt), fragments, variables)) {
      if (reference.kind === 'artifact') artifacts.add(reference.name);
      if (reference.kind === 'context' || reference.kind === 'artifact') continue;
      const isVariable =
        variables.has(reference.name) || namesOf(pack).fromSteps.get(name)?.has(reference.name) === true;
      const isKnown = reference.kind === 'fragment' ? fragments.has(reference.name) : isVariable;
      if (isKnown) continue;
      const message = `prompts[${JSON.stringify(name)}]: {{${reference.written}}} is neither a variable nor a fragment`;
      const hint = didYouMean(reference.name, known) ?? 'declare it in variables';
      findings.warning('unknown-placeholder', message, at('prompts', name, 'system_template'), hint);
    }
    checkArtifacts(name, artifacts, placed);
  }
}

/** More characters than this a prompt may not have when its fragments are put in: each of a few may contain the next one twice. */
const LONGEST = 1_000_000;

/** Fragments that contain themselves, each loop once; and prompts that grow too long by them. */
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

/** The length of texts with their fragments. Loops are reported on the way. */
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

/** A state should declare the artifacts that its prompt shows. */
function checkArtifacts(prompt: string, used: ReadonlySet<string>, { pack, findings, at }: PlacedPack): void {
  for (const [state, { prompt_task, artifacts = {} }] of Object.entries(pack.workflow?.states ?? {})) {
    if (prompt_task !== prompt) continue;
    for (const name of used) {
      if (Object.hasOwn(artifacts, name)) continue;
      const message = `workflow.states[${JSON.stringify(state)}]: its prompt shows {{artifacts.${name}}}, which the state does not declare`;
      const hint = didYouMean(name, Object.keys(artifacts));
      findings.warning('undeclared-artifact', message, at('workflow', 'states', state), hint);
    }
  }
}
