import type { TreeNode } from './definition.js';

/** What stands directly in a node, in declared order. Agents have nothing in them. */
export function childrenOf(node: TreeNode): readonly TreeNode[] {
  switch (node.kind) {
    case 'workflow':
      return node.sequences;
    case 'sequence':
      return node.steps;
    case 'goal':
    case 'convergence':
      return node.using;
    case 'agent':
      return [];
  }
}

const PARTS = { workflow: 'sequences', sequence: 'steps', goal: 'using', convergence: 'using', agent: '' } as const;

/** Where a child stands, `using[2]`. */
export function partOf({ kind }: TreeNode, at: number): string {
  return `${PARTS[kind]}[${at}]`;
}

/** A node and all nodes below it, in declared order, each before what stands in it. */
export function* walkTree(node: TreeNode): Generator<TreeNode> {
  yield node;
  for (const child of childrenOf(node)) yield* walkTree(child);
}
