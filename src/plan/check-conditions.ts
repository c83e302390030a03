import { didYouMean } from '../base/suggest.js';
import { unknownMember } from '../lang/expression-shape.js';
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
    const { problems, expression } = compileExpression(condition.expression, Object.keys(condition.vars));
    const owner = node === undefined ? 'a case of a route' : `the condition of ${nameOf(scope, node)}`;
    const found = unknownMember(expression?.reads ?? [], condition.vars);
    if (found !== undefined) {
      const hint = didYouMean(found.name, found.known) ?? `known are: ${found.known.join(', ') || 'none'}`;
      const options = { path: `${path}[${at}].expression`, hint, node };
      scope.findings.add('bad-expression', `${owner} reads ${found.read}, which can't be there`, options);
    }
    for (const problem of problems) {
      const place =
        problem.at === undefined ? '' : ` (line ${problem.at.line}, column ${problem.at.column} of the expression)`;
      const options = {
        path: `${path}[${at}].expression`,
        hint: problem.hint,
        node,
      };
      scope.findings.add('bad-expression', `${owner} is not a valid expression: ${problem.message}${place}`, options);
    }
  });
}
