import { nameOf } from './check-scope.js';
import type { Scope } from './check-scope.js';
import { instructionOf } from './nodes.js';

/** Supervision: `bad-supervision` for a node that gives nothing to judge, or that says nowhere what it promises. */
export function checkSupervision(scope: Scope): void {
  const { plan, findings } = scope;
  plan.nodes.forEach((node, at) => {
    if (node.supervise === undefined) return;
    if (node.kind === 'ask' || node.kind === 'wait' || node.kind === 'pass') {
      const what = `${nameOf(scope, at)} can't be supervised: a node of kind "${node.kind}" does no work`;
      const hint = 'supervise the node that works with what it gives';
      findings.add('bad-supervision', what, { node: at, path: 'supervise', hint });
    } else if ((instructionOf(node) ?? []).every((piece) => typeof piece === 'string' && piece.trim() === '')) {
      const what = `${nameOf(scope, at)} is supervised, and nothing says what it promises`;
      const hint = 'add an instruction to its supervision: what is to be done';
      findings.add('bad-supervision', what, { node: at, path: 'supervise.instruction', hint });
    }
  });
}
