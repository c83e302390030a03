import type { StateOf, TaskStep } from '../../../plan/builder-input.js';
import type { BuiltNode } from '../../../notations/graph/node-spec.js';
import type { Bindings, Edge, InputSpec, Plan, TaskNode } from '../../../plan/plan.js';

/** A workflow in parts: its nodes run one after the other. */
interface Chain {
  readonly name: string;
  readonly inputs: readonly InputSpec[];
  readonly nodes: readonly BuiltNode[];
}

/** A chain of nodes as a plan with its functions. */
export function chainOf({ name, inputs, nodes }: Chain): { readonly plan: Plan; readonly bindings: Bindings } {
  const ids = nodes.map(({ node }) => node.id);
  const plan: Plan = {
    format: 1,
    name,
    notation: 'graph',
    inputs,
    channels: [],
    nodes: nodes.map(({ node }) => node),
    edges: ids.slice(1).map((to, at): Edge => ({ from: ids[at] ?? '', to })),
    routes: [],
  };
  return { plan, bindings: Object.assign({}, ...nodes.map(({ bindings = {} }) => bindings)) as Bindings };
}

/** A function as a node. */
export function taskNode(
  id: string,
  run: (state: StateOf, step: TaskStep) => unknown,
  more: Partial<TaskNode> = { output: id },
): BuiltNode {
  return { node: { id, kind: 'task', ...more }, bindings: { [id]: run } };
}
