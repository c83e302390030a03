import { didYouMean } from '../../base/suggest.js';
import { quoteShort } from '../../lang/value-text.js';
import type { PlacedPack, Prompt } from './pack.js';

/** What a placeholder names. */
type Reference =
  | { readonly kind: 'fragment' | 'artifact' | 'variable'; readonly name: string; readonly written: string }
  | { readonly kind: 'context' };

/** Placeholders of prompts and of the fragments in them: each must name something. */
export function checkTemplates(placed: PlacedPack): void {
  const { pack, findings, at } = placed;
  const fragments = new Map(Object.entries(pack.fragments ?? {}));
  const inLoop = checkFragmentLoops(fragments, placed);
  for (const [name, prompt] of Object.entries(pack.prompts)) {
    const variables = new Set((prompt.variables ?? []).map((variable) => variable.name));
    const known = [...variables, ...fragments.keys(), 'workflow_context'];
    const artifacts = new Set<string>();
    for (const reference of referencesOf(prompt, fragments, variables, inLoop)) {
      if (reference.kind === 'artifact') artifacts.add(reference.name);
      if (reference.kind === 'context' || reference.kind === 'artifact') continue;
      const isKnown = reference.kind === 'fragment' ? fragments.has(reference.name) : variables.has(reference.name);
      if (isKnown) continue;
      const message = `prompts[${JSON.stringify(name)}]: {{${reference.written}}} is neither a variable nor a fragment`;
      const hint = didYouMean(reference.name, known) ?? 'declare it in variables';
      findings.warning('unknown-placeholder', message, at('prompts', name, 'system_template'), hint);
    }
    checkArtifacts(name, artifacts, placed);
  }
}

/** All that the template of a prompt refers to, also by fragments, and the templates for single models. */
function referencesOf(
  prompt: Prompt,
  fragments: ReadonlyMap<string, string>,
  variables: ReadonlySet<string>,
  inLoop: ReadonlySet<string>,
): readonly Reference[] {
  const overrides = Object.values(prompt.model_overrides ?? {}).flatMap((one) =>
    Object.values(one).filter((value) => typeof value === 'string'),
  );
  const found: Reference[] = [];
  const opened = new Set<string>();
  const texts = [prompt.system_template, ...overrides];
  for (const text of texts) {
    for (const reference of placeholders(text, fragments, variables)) {
      found.push(reference);
      if (reference.kind !== 'fragment' || opened.has(reference.name) || inLoop.has(reference.name)) continue;
      opened.add(reference.name);
      // The list grows while it is gone through.
      texts.push(fragments.get(reference.name) ?? '');
    }
  }
  return found;
}

function placeholders(
  text: string,
  fragments: ReadonlyMap<string, string>,
  variables: ReadonlySet<string>,
): Reference[] {
  return [...text.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, inside = '']): Reference => {
    const written = inside.trim();
    const [, kind, rest = ''] = /^(fragments|fragment|artifacts)[.:](.+)$/s.exec(written) ?? [];
    if (kind === 'artifacts') return { kind: 'artifact', name: rest, written };
    if (kind !== undefined) return { kind: 'fragment', name: rest, written };
    if (written === 'workflow_context') return { kind: 'context' };
    const name = written.split(/[.[]/, 1)[0] ?? '';
    const isFragment = !variables.has(name) && fragments.has(written);
    return isFragment ? { kind: 'fragment', name: written, written } : { kind: 'variable', name, written };
  });
}

/** Fragments that contain themselves, each loop once. */
function checkFragmentLoops(fragments: ReadonlyMap<string, string>, { findings, at }: PlacedPack): ReadonlySet<string> {
  const inLoop = new Set<string>();
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) {
      const loop = path.slice(path.indexOf(name));
      const message = `fragments[${JSON.stringify(name)}] contains itself: ${[...loop, name].map((one) => quoteShort(one)).join(' -> ')}`;
      findings.error('fragment-loop', message, at('fragments', name), 'take one of the references out');
      for (const one of loop) inLoop.add(one);
      return;
    }
    if (done.has(name)) return;
    done.add(name);
    for (const reference of placeholders(fragments.get(name) ?? '', fragments, new Set())) {
      if (reference.kind === 'fragment' && fragments.has(reference.name)) visit(reference.name, [...path, name]);
    }
  };
  for (const name of fragments.keys()) visit(name, []);
  return inLoop;
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
