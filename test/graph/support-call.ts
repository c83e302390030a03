import type { Bindings, Plan } from '../../src/plan/plan.js';
import type { NodeSpec } from 'skein/graph';

/** Something with a plan: a graph, or what `definePlan` gives. */
type Inner =
  | { readonly plan: Plan; readonly bindings: Bindings }
  | { compile(): { readonly plan: Plan; readonly bindings: Bindings } };

/** A workflow as a node of a graph; its result is what `key` of the workflow holds at its end. */
export function callOf<R>(inner: Inner, key: string): NodeSpec<R> {
  const { plan, bindings } = 'compile' in inner ? inner.compile() : inner;
  return {
    build: (name, output = name) => ({
      node: { id: name, kind: 'call', plan, output, outputs: { [output]: key } },
      bindings: Object.fromEntries(Object.entries(bindings).map(([id, body]) => [`${name}/${id}`, body])),
      reads: plan.inputs.map((input) => input.channel),
    }),
  };
}
