import { compileExpression } from '../lang/expression.js';
import type { Condition } from '../lang/values.js';
import { nameOf } from './check-scope.js';
import type { Scope } from './check-scope.js';

/** Expressions in conditions: `bad-expression`, with the position in the expression in the message. */
export function checkConditions(scope: Scope): void {
  const { plan } = scope;
  plan.nodes.forEach((node, at) => {
    checkList(scope, node.when ?? [], 'when', at);
    if (node.kind === 'loop') checkList(scope, node.until, 'until', at);
  });
  plan.routes.forEach((route, at) => {
    route.cases?.forEach((branch, index) => checkList(scope, branch.when, `routes[${at}].cases[${index}].when`));
  });
}

function checkList(scope: Scope, conditions: readonly Condition[], path: string, node?: number): void {
  conditions.forEach((condition, at) => {
    if (condition.op !== 'cel') return;
    for (const problem of compileExpression(condition.expression, Object.keys(condition.vars)).problems) {
      const place =
        problem.at === undefined ? '' : ` (line ${problem.at.line}, column ${problem.at.column} of the expression)`;
      const owner = node === undefined ? 'a case of a route' : `the condition of ${nameOf(scope, node)}`;
      const options = {
        path: `${path}[${at}].expression`,
        hint: problem.hint,
        ...(node === undefined ? {} : { node }),
      };
      scope.findings.add('bad-expression', `${owner} is no valid expression: ${problem.message}${place}`, options);
    }
  });
}
