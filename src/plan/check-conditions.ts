import { didYouMean } from '../base/suggest.js';
import { unknownMember } from '../lang/expression-shape.js';
import { compileExpression } from '../lang/expression.js';
import { templatesIn } from '../lang/json-template.js';
import type { Computed, Condition, Template } from '../lang/values.js';
import { nameOf, type Scope } from './check-scope.js';
import { textsOf } from './references.js';

/**
 * Checks expressions in conditions and texts: `bad-expression`, whose message has the position in the expression, and `unknown-member` for
 * members that can't exist.
 */
export function checkConditions(scope: Scope): void {
  const { plan } = scope;
  plan.nodes.forEach((node, at) => {
    const owner = `the condition of ${nameOf(scope, at)}`;
    checkList(scope, node.when ?? [], { owner, path: 'when', node: at });
    if (node.kind === 'loop') checkList(scope, node.until, { owner, path: 'until', node: at });
    for (const text of textsOf(node))
      checkText(scope, text, { owner: `an expression of ${nameOf(scope, at)}`, path: 'texts', node: at });
  });
  plan.routes.forEach((route, at) => {
    route.cases?.forEach((branch, index) =>
      checkList(scope, branch.when, { owner: 'a case of a route', path: `routes[${at}].cases[${index}].when` }),
    );
  });
  for (const source of Object.values(plan.values ?? {}))
    for (const text of templatesIn(source))
      checkText(scope, text, { owner: 'an expression of the output', path: 'values' });
}

interface Place {
  readonly owner: string;
  readonly path: string;
  readonly node?: number;
}

function checkList(scope: Scope, conditions: readonly Condition[], place: Place): void {
  conditions.forEach((condition, at) => {
    if (condition.op === 'cel')
      checkExpression(scope, condition, { ...place, path: `${place.path}[${at}].expression` });
  });
}

function checkText(scope: Scope, text: Template, place: Place): void {
  for (const piece of text)
    if (typeof piece !== 'string' && 'expression' in piece) checkExpression(scope, piece, place);
}

function checkExpression(scope: Scope, { expression: source, vars }: Computed, { owner, path, node }: Place): void {
  const { problems, expression } = compileExpression(source, Object.keys(vars));
  const found = unknownMember(expression?.reads ?? [], vars);
  if (found !== undefined) {
    const hint = didYouMean(found.name, found.known) ?? `known are: ${found.known.join(', ') || 'none'}`;
    scope.findings.add('unknown-member', `${owner} reads ${found.read}, which can't be there`, { path, hint, node });
  }
  for (const { at, hint, message } of problems) {
    const where = at === undefined ? '' : ` (line ${at.line}, column ${at.column} of the expression)`;
    scope.findings.add('bad-expression', `${owner} is not a valid expression: ${message}${where}`, {
      path,
      hint,
      node,
    });
  }
}
