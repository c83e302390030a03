import type { ModelFactory } from '../agent/models/registry-options.js';
import { SkeinError } from '../base/errors.js';
import type { Problem } from '../base/problem.js';
import { walkTree, type TreeOverride, type TreeWorkflow } from '../notations/tree/definition.js';
import { modelOf, type NamedModel } from './override.js';
import type { RunOptions } from '../runtime/options.js';
import type { TreeRunOptions } from './state.js';
import type { Runtime } from './runtime.js';

export function modelObjects(tree: TreeWorkflow, defaults: TreeOverride): readonly NamedModel[] {
  const found = [modelOf(defaults)];
  for (const node of walkTree(tree)) if (node.kind !== 'workflow') found.push(modelOf(node.override));
  return found.filter((each) => each !== undefined);
}

/** Reports different objects with the same name: they would be one model in the plan. */
export function modelProblems(objects: readonly NamedModel[]): readonly Problem[] {
  const byName = new Map<string, unknown>();
  const problems: Problem[] = [];
  for (const { name, object } of objects) {
    const known = byName.get(name);
    if (known !== undefined && known !== object) {
      const message = `two different model objects are named ${name}`;
      problems.push({ code: 'duplicate-model', severity: 'error', message, hint: 'use one object for both' });
    }
    byName.set(name, object);
  }
  return problems;
}

/** Returns the model objects as providers, by the first part of their names. Undefined if there are none. */
export function objectProviders(objects: readonly NamedModel[]): Readonly<Record<string, ModelFactory>> | undefined {
  if (objects.length === 0) return undefined;
  const providers: Record<string, ModelFactory> = {};
  for (const { name } of objects) {
    const provider = name.slice(0, name.indexOf('/'));
    providers[provider] = (model) => {
      const wanted = objects.find((each) => each.name === `${provider}/${model}`);
      if (wanted !== undefined) return wanted.object;
      throw new SkeinError('SKEIN_MODEL_UNKNOWN', `no model object is named ${provider}/${model}`);
    };
  }
  return providers;
}

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
