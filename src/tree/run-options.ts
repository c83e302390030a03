import type { TreeWorkflow } from '../notations/tree/definition.js';
import type { RunOptions } from '../runtime/options.js';
import { objectProviders } from './model-objects.js';
import type { TreeRunOptions } from './result.js';
import type { Runtime } from './runtime.js';

/** The options of a run of a tree: its own, and what the runtime says of runs. */
export function runOptionsOf(tree: TreeWorkflow, runtime: Runtime, options: TreeRunOptions): RunOptions {
  const providers = objectProviders(tree, runtime);
  const { human, supervisor } = runtime;
  return {
    ...options,
    ...(providers === undefined
      ? {}
      : { models: { ...options.models, providers: { ...providers, ...options.models?.providers } } }),
    ...(supervisor === undefined || options.supervisor !== undefined ? {} : { supervisor }),
    ...(human === undefined || options.answer !== undefined ? {} : { answer: human }),
  };
}
