import { isPlainObject } from '../base/json.js';
import { hasErrors, type Problem } from '../base/problem.js';
import { checkBindings } from './check-bindings.js';
import { checkBudgets, checkEffects, checkRequired, checkSupervision } from './check-policies.js';
import { checkConditions } from './check-conditions.js';
import { checkForm, type FoundForm } from './check-form.js';
import { checkGraph } from './check-graph.js';
import { checkLimits } from './check-limits.js';
import { checkNames } from './check-names.js';
import { checkLoopEnds, checkReferences, writersOf, type Writers } from './check-references.js';
import { checkJsonSchemas, checkSchemas } from './check-schemas.js';
import { checkDeclarations, checkEndorsement, checkSecurity } from './check-safety.js';
import { raised, type Security } from './security.js';
import { Findings, type Scope } from './check-scope.js';
import { checkOutput, checkSubPlans } from './check-subplans.js';
import { checkTools, unknownTools } from './check-tools.js';
import { checkWriters } from './check-writers.js';
import { analyzeShape } from './graph-shape.js';
import { DEEPEST_PLAN } from './own-plan.js';
import type { Bindings, ChannelSpec, Plan } from './plan.js';

/**
 * Checks a plan and all its sub-plans and returns every problem: first those of a plan as a whole, then those of its nodes in plan order,
 * then those of its sub-plans; last, if there are no errors, tools that do not exist. The order and the codes are stable. With `bindings`, missing functions are reported too. It runs nothing and
 * never throws. A frozen plan, as {@link definePlan} and files produce, is checked once per process for the same
 * bindings.
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

/** Results for frozen plans, with the bindings of the last check. */
const checked = new WeakMap<Plan, { readonly bindings: Bindings | undefined; readonly problems: readonly Problem[] }>();

function problemsOf(plan: Plan, bindings: Bindings | undefined): Problem[] {
  const problems: Problem[] = [];
  const open: Task[] = [taskOf({ plan, place: '', address: '', depth: 1, around: new Set(), security: undefined })];
  for (let task = open.pop(); task !== undefined; task = open.pop()) {
    const { found, below } = checkOne(task, bindings);
    // One by one: a call accepts a limited number of arguments.
    for (const problem of found) problems.push(problem);
    for (const inner of below.toReversed()) open.push(inner);
  }
  // A plan that can't be read, or that contains itself, can't be walked.
  return hasErrors(problems) ? problems : [...problems, ...unknownTools(plan)];
}

interface Standing {
  readonly plan: Plan;
  readonly place: string;
  readonly address: string;
  readonly depth: number;
  readonly security: Security | undefined;
  /** The plans that contain this one. */
  readonly around: ReadonlySet<Plan>;
}

/** A plan to check. Problems that the surrounding plan also needs are found before the plan's own turn. */
interface Task extends Standing {
  readonly form: FoundForm;
  /** Absent if the form is too broken for the plan to be read. */
  readonly writers: Writers | undefined;
}

function taskOf(standing: Standing): Task {
  const form = checkForm(standing.plan, standing.place.slice(0, -1));
  return { ...standing, form, writers: form.problems.length === 0 ? writersOf(standing.plan) : undefined };
}

function checkOne(task: Task, bindings: Bindings | undefined): { found: readonly Problem[]; below: readonly Task[] } {
  const { plan, place, address, security, writers } = task;
  const { problems, hasWrongNumbers } = task.form;
  if (writers === undefined) return { found: problems, below: [] };
  const findings = new Findings(plan, place);
  const channels = new Map<string, ChannelSpec>();
  for (const channel of plan.channels) channels.set(channel.name, channel);
  const shape = analyzeShape(plan);
  const scope: Scope = { plan, place, address, security, bindings, findings, hasWrongNumbers, shape, channels };
  const below = subPlans(task, scope);
  checkNames(scope, writers);
  checkLimits(scope);
  checkRequired(scope);
  checkGraph(scope);
  checkSupervision(scope);
  checkBudgets(scope);
  checkEffects(scope);
  checkSecurity(scope);
  checkEndorsement(scope);
  checkDeclarations(scope);
  checkBindings(scope);
  checkTools(scope);
  checkConditions(scope);
  checkSchemas(scope);
  checkJsonSchemas(scope);
  const inner = (node: number): Writers | undefined => below.get(node)?.writers;
  checkSubPlans(scope, writers, inner);
  checkOutput(scope, writers);
  checkLoopEnds(scope, inner);
  checkReferences(scope, writers);
  // Order is undefined while the static edges form a cycle.
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
    const [place, address] = [`${task.place}nodes[${at}].plan.`, `${task.address}${node.id}/`];
    const security = raised(raised(task.security, task.plan.security), node.security);
    below.set(at, taskOf({ plan: node.plan, place, address, depth: task.depth + 1, around, security }));
  });
  return below;
}
