import { LOWERED_HINT } from '../../plan/check-security.js';
import { lacksScope, lowers, raised, securityText } from '../../plan/security.js';
import type { Security } from '../../plan/security.js';
import { childrenOf, partOf } from './definition.js';
import type { TreeNode, TreeWorkflow } from './definition.js';
import { within } from './findings.js';
import type { TreeFindings, TreePlace } from './findings.js';

/** Security: `no-scope` for `research` that does not say into what, `lowered-security` for what is less careful than what it stands in. */
export function checkTreeSecurity(tree: TreeWorkflow, findings: TreeFindings): void {
  const look = (node: TreeNode, around: Security | undefined, place: TreePlace): void => {
    const { security: own } = node;
    if (own !== undefined && lacksScope(own)) {
      const message = `${whoIs(node)}: security.Research requires a non-empty scope (set via .Scope)`;
      findings.error('no-scope', message, place, "security('research').scope('auth-token-handling')");
    }
    if (own !== undefined && around !== undefined && lowers(own, around)) {
      const message = `${whoIs(node)}: it has the security ${securityText(own)} where ${securityText(around)} holds`;
      findings.error('lowered-security', message, place, LOWERED_HINT);
    }
    const held = raised(around, own);
    for (const [at, child] of childrenOf(node).entries())
      look(child, held, { at: child.at, path: within(place.path, partOf(node, at)) });
  };
  look(tree, undefined, { at: tree.at, path: '' });
}

function whoIs(node: TreeNode): string {
  return node.kind === 'workflow' ? 'workflow' : `${node.kind} ${node.name}`;
}
