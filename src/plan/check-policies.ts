import { meantOrKnown } from '../base/suggest.js';
import type { Budget } from './budget.js';
import { nameOf, type Scope } from './check-scope.js';
import { instructionOf } from './nodes.js';
import type { CallNode, MapNode, NodeKind } from './plan.js';

const LIMITS = ['usd', 'tokens', 'calls', 'toolCalls'] as const;
const LIMITING: readonly string[] = [...LIMITS, 'time'] as const;
const OF_NODES = [...LIMITING, 'onLimit', 'unpriced', 'strict'];
const OF_PLANS: readonly string[] = ['day', 'thread'];

/** Kinds of nodes that do no work: they spend nothing and have no result to judge. */
const IDLE: ReadonlySet<NodeKind> = new Set(['ask', 'wait', 'pass', 'end', 'set']);

/** Kinds of nodes whose work is that of the nodes inside them. */
const AROUND: ReadonlySet<NodeKind> = new Set(['call', 'map', 'loop']);

/**
 * Reports `bad-effect` for a node around others: `effect: 'once'` would promise what only the node that does the work can keep; `bad-probe`
 * for a node about which nobody is asked.
 */
export function checkEffects(scope: Scope): void {
  const add = (code: string, at: number, path: string, message: string, hint: string): void =>
    scope.findings.add(code, `${nameOf(scope, at)} ${message}`, { node: at, path, hint });
  scope.plan.nodes.forEach((node, at) => {
    const { kind, effect } = node;
    if ('probe' in node && kind !== 'task')
      add(
        'bad-probe',
        at,
        'probe',
        `can't have a probe: a node of kind "${kind}" is never asked about`,
        'give it to the tool or the function that does the work',
      );
    else if ('probe' in node && effect !== 'once')
      add(
        'bad-probe',
        at,
        'probe',
        'has a probe, but may be repeated after a crash',
        "add effect: 'once', or remove the probe",
      );
    if (effect !== undefined && AROUND.has(kind))
      add(
        'bad-effect',
        at,
        'effect',
        `can't have an effect: a node of kind "${kind}" leaves its work to the nodes inside it`,
        'give it to the node inside that does the work',
      );
  });
}

/** Checks budgets: `bad-budget` for unknown or misplaced keys, for a budget without a limit, and for a node that spends nothing. */
export function checkBudgets(scope: Scope): void {
  const { plan } = scope;
  if (plan.budget !== undefined) checkBudget(scope, plan.budget, undefined);
  plan.nodes.forEach((node, at) => {
    if (node.budget === undefined) return;
    checkBudget(scope, node.budget, at);
    if (!IDLE.has(node.kind)) return;
    const message = `${nameOf(scope, at)} can't have a budget: a node of kind "${node.kind}" spends nothing`;
    badBudget(scope, at, '', message, 'give it to the node that works, or to the workflow');
  });
}

function checkBudget(scope: Scope, budget: Budget, node: number | undefined): void {
  const known = node === undefined ? [...OF_NODES, ...OF_PLANS] : OF_NODES;
  checkKeys(scope, budget, known, node, '');
  const { day, thread } = budget;
  const runs =
    node === undefined
      ? ([
          ['day', day],
          ['thread', thread],
        ] as const)
      : [];
  for (const [name, limits] of runs) if (limits !== undefined) checkKeys(scope, limits, LIMITS, node, name);
  for (const [name, limits] of [['', budget] as const, ...runs]) {
    const limiting = name === '' ? [...LIMITING, ...OF_PLANS] : LIMITING;
    if (limits === undefined || Object.keys(limits).some((key) => limiting.includes(key))) continue;
    badBudget(scope, node, name, 'the budget limits nothing', `give ${(name === '' ? LIMITING : LIMITS).join(', ')}`);
  }
}

const KEYS = 'keys of a budget';

function checkKeys(
  scope: Scope,
  value: object,
  known: readonly string[],
  node: number | undefined,
  path: string,
): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const at = path === '' ? key : `${path}.${key}`;
    if (OF_PLANS.includes(key)) {
      badBudget(
        scope,
        node,
        at,
        `"${key}" limits all runs of a workflow, not a step`,
        'move it to the budget of the workflow',
      );
    } else {
      badBudget(scope, node, at, `a budget has no ${JSON.stringify(key)}`, meantOrKnown(key, known, KEYS));
    }
  }
}

/** The first unknown key in the budget of a whole run, and a hint. A misspelled limit would be no limit. */
export function unknownBudgetKey(budget: Budget): { readonly key: string; readonly hint: string } | undefined {
  const parts = [
    [budget, [...OF_NODES, ...OF_PLANS]],
    [budget.day ?? {}, LIMITS],
    [budget.thread ?? {}, LIMITS],
  ] as const;
  for (const [part, known] of parts) {
    const key = Object.keys(part).find((one) => !known.some((name) => name === one));
    if (key !== undefined) return { key, hint: meantOrKnown(key, known, KEYS) };
  }
  return undefined;
}

function badBudget({ findings }: Scope, node: number | undefined, path: string, message: string, hint: string): void {
  findings.add('bad-budget', message, { node, path: path === '' ? 'budget' : `budget.${path}`, hint });
}

/** Checks supervision: `bad-supervision` for a node without a result to judge or without a promise. */
export function checkSupervision(scope: Scope): void {
  const { plan, findings } = scope;
  plan.nodes.forEach((node, at) => {
    if (node.supervise === undefined) return;
    if (IDLE.has(node.kind)) {
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

/** Checks `require`: `bad-require` for more parts than possible, and next to a setting that ends the group at a failed part. */
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

/** Counts the nodes at which a branch may end, which have no outgoing edge. */
function branchesOf({ plan }: CallNode | MapNode): number {
  const leading = new Set(plan.edges.map(({ from }) => from));
  return plan.nodes.filter(({ id }) => !leading.has(id)).length;
}
