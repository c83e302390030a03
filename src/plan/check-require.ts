import { nameOf } from './check-scope.js';
import type { Scope } from './check-scope.js';
import type { CallNode, MapNode } from './plan.js';

/** How much of a group must succeed: `bad-require` for more parts than there can be, and beside what says that a failed part ends the group. */
export function checkRequired(scope: Scope): void {
  scope.plan.nodes.forEach((node, at) => {
    if ((node.kind !== 'call' && node.kind !== 'map') || node.require === undefined) return;
    if (node.kind === 'map' && node.onItemError === 'fail') {
      const message = `${nameOf(scope, at)} says with onItemError that a failed item fails it, and with require how many may fail`;
      scope.findings.add('bad-require', message, { node: at, path: 'onItemError', hint: 'leave one of them out' });
    }
    const most = node.kind === 'map' ? node.maxItems : branchesOf(node);
    const { require } = node;
    if (require === 'all' || require <= most) return;
    const parts = node.kind === 'map' ? 'items' : 'branches';
    const message = `${nameOf(scope, at)} requires ${require} ${parts}, and has ${most} at most`;
    scope.findings.add('bad-require', message, { node: at, path: 'require', hint: `give 1 to ${most}, or 'all'` });
  });
}

/** Nodes at which a branch may end: none that an edge leads on from. */
function branchesOf({ plan }: CallNode | MapNode): number {
  const leading = new Set(plan.edges.map(({ from }) => from));
  return plan.nodes.filter(({ id }) => !leading.has(id)).length;
}
