import type { RunOptions } from '../runtime/options.js';
import { objectProviders } from './model-objects.js';
import type { NamedModel } from './override.js';
import type { TreeRunOptions } from './result.js';
import type { Runtime } from './runtime.js';

/** The options of a run of a tree: its own, and what the runtime says of runs. */
export function runOptionsOf(
  objects: readonly NamedModel[],
  { human, supervisor }: Runtime,
  options: TreeRunOptions,
): RunOptions {
  const providers = objectProviders(objects);
  return {
    ...options,
    ...(providers === undefined
      ? {}
      : { models: { ...options.models, providers: { ...providers, ...options.models?.providers } } }),
    ...(supervisor === undefined || options.supervisor !== undefined ? {} : { supervisor }),
    ...(human === undefined || options.answer !== undefined ? {} : { answer: human }),
  };
}
