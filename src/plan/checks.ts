import { isPlainObject } from '../base/json.js';
import type { Problem } from '../base/problem.js';
import { checkBindings } from './check-bindings.js';
import { checkConditions } from './check-conditions.js';
import { checkForm } from './check-form.js';
import type { FoundForm } from './check-form.js';
import { checkGraph } from './check-graph.js';
import { checkLimits } from './check-limits.js';
import { checkNames } from './check-names.js';
import { checkLoopEnds, checkReferences, writersOf } from './check-references.js';
import type { Writers } from './check-references.js';
import { checkSchemas } from './check-schemas.js';
import { Findings } from './check-scope.js';
import type { Scope } from './check-scope.js';
import { checkOutput, checkSubPlans } from './check-subplans.js';
import { checkSupervision } from './check-supervision.js';
import { checkWriters } from './check-writers.js';
import { analyzeShape } from './graph-shape.js';
import { DEEPEST_PLAN } from './own-plan.js';
import type { Bindings, Plan } from './plan.js';

/**
 * Checks a plan and all its sub-plans, and collects everything that is wrong: first what concerns a plan as a whole, then its nodes in
 * plan order, then its sub-plans. The order and the codes are stable. With `bindings`, functions that are needed and absent are reported too.
 * Nothing runs, and nothing is thrown, whatever the data. A plan that is frozen, as those of {@link definePlan} and of files are, is checked once
 * in a process for the same bindings.
 *
 * @example
 * import { checkPlan, definePlan, formatProblem } from 'skein';
 *
 * const { plan, bindings } = definePlan({ name: 'p', nodes: [{ id: 'a', run: () => 1 }], edges: [['a', 'b']] });
 * for (const problem of checkPlan(plan, bindings)) console.log(formatProblem(problem)); // ... there is no node "b"
 */
export function checkPlan(plan: Plan, bindings?: Bindings): readonly Problem[] {
  const known = checked.get(plan);
  if (known !== undefined && known.bindings === bindings) return known.problems;
  const problems = Object.freeze(problemsOf(plan, bindings));
  const isFixed = isPlainObject(plan) && Object.isFrozen(plan) && (bindings === undefined || Object.isFrozen(bindings));
  if (isFixed) checked.set(plan, { bindings, problems });
  return problems;
}

/** Of plans that nobody can change any more, for the bindings that they were last checked with. */
const checked = new WeakMap<Plan, { readonly bindings: Bindings | undefined; readonly problems: readonly Problem[] }>();

function problemsOf(plan: Plan, bindings: Bindings | undefined): Problem[] {
  const problems: Problem[] = [];
  const open: Task[] = [{ plan, place: '', address: '', depth: 1, around: new Set(), form: checkForm(plan, '') }];
  for (let task = open.pop(); task !== undefined; task = open.pop()) {
    const { found, below } = checkOne(task, bindings);
    problems.push(...found);
    open.push(...below.toReversed());
  }
  return problems;
}

interface Task {
  readonly plan: Plan;
  readonly place: string;
  readonly address: string;
  readonly depth: number;
  /** The plans that this one stands in. */
  readonly around: ReadonlySet<Plan>;
  /** The plan around asks for it too, so it is found before the plan's own turn. */
  readonly form: FoundForm;
}

function checkOne(task: Task, bindings: Bindings | undefined): { found: readonly Problem[]; below: readonly Task[] } {
  const { plan, place, address } = task;
  const { problems, hasWrongNumbers } = task.form;
  if (problems.length > 0) return { found: problems, below: [] };
  const findings = new Findings(plan, place);
  const scope: Scope = { plan, place, address, bindings, findings, hasWrongNumbers, shape: analyzeShape(plan) };
  const below = subPlans(task, scope);
  checkNames(scope);
  checkLimits(scope);
  checkGraph(scope);
  checkSupervision(scope);
  checkBindings(scope);
  checkConditions(scope);
  checkSchemas(scope);
  const writers = writersOf(scope);
  const inner = readableWriters(below);
  checkSubPlans(scope, writers, inner);
  checkOutput(scope, writers);
  checkLoopEnds(scope, inner);
  checkReferences(scope, writers);
  // Order means nothing while the static edges go in circles.
  if (!findings.inPlanOrder().some((problem) => problem.code === 'static-cycle')) checkWriters(scope, writers);
  return { found: findings.inPlanOrder(), below: [...below.values()] };
}

function subPlans(task: Task, scope: Scope): ReadonlyMap<number, Task> {
  const below = new Map<number, Task>();
  const around = new Set([...task.around, task.plan]);
  task.plan.nodes.forEach((node, at) => {
    if (!('plan' in node)) return;
    if (around.has(node.plan) || task.depth >= DEEPEST_PLAN) {
      const message = around.has(node.plan)
        ? 'a workflow contains itself'
        : `workflows are nested deeper than ${DEEPEST_PLAN} levels`;
      const hint = 'use a loop, or start another run';
      scope.findings.add('nested-too-deep', message, { node: at, path: 'plan', hint });
      return;
    }
    const place = `${task.place}nodes[${at}].plan`;
    below.set(at, {
      plan: node.plan,
      place: `${place}.`,
      address: `${task.address}${node.id}/`,
      depth: task.depth + 1,
      around,
      form: checkForm(node.plan, place),
    });
  });
  return below;
}

/** Who writes what in a sub-plan; undefined where its form is so wrong that it can't be read. */
function readableWriters(below: ReadonlyMap<number, Task>): (node: number) => Writers | undefined {
  const known = new Map<number, Writers | undefined>();
  return (node) => {
    const task = below.get(node);
    if (task === undefined) return undefined;
    if (!known.has(node)) {
      const isReadable = task.form.problems.length === 0;
      known.set(node, isReadable ? writersOf({ plan: task.plan }) : undefined);
    }
    return known.get(node);
  };
}
