import type { Pack } from './pack.js';

/** Parts of a pack, and of its prompts, that say nothing about what runs. */
const KEPT = ['metadata', 'compilation', 'template_engine', 'evals'] as const;
const KEPT_OF_PROMPTS = ['evals', 'pipeline', 'tested_models', 'media'] as const;

/**
 * What is kept of a pack and has no effect, a line for each part.
 *
 * @example
 * keptParts(pack); // ['metadata', 'evals', 'prompts["chat"].media']
 */
export function keptParts(pack: Pack): readonly string[] {
  const own = KEPT.filter((key) => Object.hasOwn(pack, key));
  const ofPrompts = Object.entries(pack.prompts).flatMap(([name, prompt]) => [
    ...KEPT_OF_PROMPTS.filter((key) => Object.hasOwn(prompt, key)).map(
      (key) => `prompts[${JSON.stringify(name)}].${key}`,
    ),
    ...(prompt.variables ?? [])
      .filter((variable) => Object.hasOwn(variable, 'binding'))
      .map((variable) => `prompts[${JSON.stringify(name)}]: binding of the variable "${variable.name}"`),
  ]);
  return [...own, ...ofPrompts];
}
