import type { DraftNode, GraphDraft } from './draft.js';
import type { Inference } from './infer.js';

/**
 * The keys that a node gives and that nobody can read before it has run: a value for one from outside would be lost. A node that may end
 * without a value leaves the one that was given, and what takes the whole state may read anything.
 */
export function computedKeys(draft: GraphDraft, { reads, routeReads, dataOnly }: Inference): readonly string[] {
  const nodes = [...draft.nodes.values()];
  if (nodes.some(takesAll) || [...draft.routes.values()].some(({ named, inputs }) => !named && inputs === undefined))
    return [];
  const early = new Set(dataOnly.map(({ from }) => from));
  for (const [from, { names }] of routeReads) for (const { name } of names) if (name !== from) early.add(name);
  return nodes.flatMap(({ name, options }) => {
    const key = options.output ?? name;
    const readsItself = reads.get(name)?.names.some((read) => read.name === key) === true;
    const keeps = options.onError !== undefined || draft.settings.reducers?.[key] !== undefined;
    return key !== name || keeps || readsItself || early.has(name) ? [] : [key];
  });
}

/** Functions that get the whole state: those of `addNode`, and conditions. */
function takesAll({ layer, options }: DraftNode): boolean {
  return layer === 'update' || options.when !== undefined;
}
