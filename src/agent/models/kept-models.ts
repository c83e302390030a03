import type { Model } from '../model.js';

/** So many models are kept: keys and addresses may change for as long as a process lives. */
const MOST = 200;

const kept = new Map<string, Model>();

/**
 * The model with this identity, made once for all runs of the process: the objects of a provider's package are large, and they hold nothing of
 * a run. `identity` is all that a model is made from; of many, those that were not asked for longest are let go.
 *
 * @example
 * const model = keptModel(JSON.stringify([id, baseUrl, key]), () => lazyModel(id, true, load));
 */
export function keptModel(identity: string, make: () => Model): Model {
  const known = kept.get(identity);
  const model = known ?? make();
  kept.delete(identity);
  kept.set(identity, model);
  const [oldest] = kept.keys();
  if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
  return model;
}
