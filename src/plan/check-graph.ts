import { checkAgents } from './check-agents.js';
import { nameOf, type Scope } from './check-scope.js';
import { END, type Route } from './plan.js';
import { reachedFrom } from './reach.js';

/**
 * The graph: `missing-entry`, `static-cycle`, `unreachable-node` (a warning), `join-never-fills`, `ambiguous-start` (E6), `bad-route`,
 * `duplicate-route`, `undeclared-target`; of agents that choose: `check-agents.ts`.
 */
export function checkGraph(scope: Scope): void {
  const { plan, shape, findings } = scope;
  if (plan.nodes.length > 0 && shape.starts.length === 0 && plan.entry === undefined) {
    const hint = 'name the node that starts as the entry';
    findings.add('missing-entry', 'no node can start: each one waits for another, or is chosen by a route', { hint });
  }
  for (const cycle of staticCycles(scope)) {
    const path = [...cycle, cycle[0] ?? 0].map((node) => plan.nodes[node]?.id ?? '').join(' -> ');
    const hint = 'take out one of these edges, or close the cycle with a route, which can end it';
    findings.add('static-cycle', `these nodes wait for one another: ${path}`, { node: Math.min(...cycle), hint });
  }
  checkStarts(scope);
  checkReachable(scope);
  checkEnds(scope);
  checkQuorums(scope);
  checkRoutes(scope);
  checkAgents(scope);
}

/** Returns cycles of static edges, at most one through each node. Each is a real path of the plan. */
function staticCycles(scope: Scope): readonly (readonly number[])[] {
  const { shape } = scope;
  const next = new Uint32Array(shape.outEdges.length);
  const state = new Uint8Array(shape.outEdges.length);
  const reported = new Set<number>();
  const cycles: number[][] = [];
  const stack: number[] = [];
  const enter = (node: number): void => {
    state[node] = 1;
    stack.push(node);
  };
  for (let root = 0; root < shape.outEdges.length; root += 1) {
    if (state[root] === 0) enter(root);
    for (let node = stack.at(-1); node !== undefined; node = stack.at(-1)) {
      const turn = next[node] ?? 0;
      const edge = shape.edges[shape.outEdges[node]?.[turn] ?? -1];
      if (edge === undefined) {
        state[node] = 2;
        stack.pop();
        continue;
      }
      next[node] = turn + 1;
      if (edge.kind !== 'static') continue;
      if (state[edge.to] === 0) enter(edge.to);
      else if (state[edge.to] === 1 && !reported.has(edge.to) && !reported.has(node)) {
        const cycle = stack.slice(stack.lastIndexOf(edge.to));
        for (const member of cycle) reported.add(member);
        cycles.push(cycle);
      }
    }
  }
  return cycles;
}

function checkReachable(scope: Scope): void {
  const { shape, findings } = scope;
  if (shape.starts.length === 0) return;
  const reached = reachedFrom(shape, shape.starts);
  // A route without declared targets may lead anywhere.
  if (shape.openRoutes.some((node) => reached.has(node))) return;
  for (let node = 0; node < shape.outEdges.length; node += 1) {
    if (reached.has(node) || scope.plan.nodes[node]?.id === scope.plan.finally) continue;
    const options = { node, severity: 'warning', hint: 'connect it, or take it out' } as const;
    findings.add('unreachable-node', `the node ${nameOf(scope, node)} can never run: no path leads to it`, options);
  }
}

/** E6: next to a route that may choose any node, only the entry may start on its own, or the only node that can. */
function checkStarts(scope: Scope): void {
  const { plan, shape, findings } = scope;
  const entry = plan.entry ?? (shape.starts.length === 1 ? plan.nodes[shape.starts[0] ?? 0]?.id : undefined);
  for (const node of shape.starts) {
    const chooser = shape.openRoutes.find((from) => from !== node);
    if (plan.nodes[node]?.id === entry || chooser === undefined) continue;
    const after = `the route after ${nameOf(scope, chooser)}`;
    const hint = `declare the targets of ${after}, or add an edge that leads to ${nameOf(scope, node)}`;
    const message = `nothing leads to ${nameOf(scope, node)}, and ${after} may choose any node: it is unclear whether it starts on its own`;
    findings.add('ambiguous-start', message, { node, hint });
  }
}

/** Nothing may follow a node that ends the plan, unless that node may be skipped: `unreachable-node`, here an error. */
function checkEnds(scope: Scope): void {
  const { plan, shape, findings } = scope;
  plan.nodes.forEach((node, at) => {
    if (node.kind !== 'end' || node.when !== undefined || (shape.outEdges[at] ?? []).length === 0) return;
    const message = `nothing can run after ${nameOf(scope, at)}: it ends the workflow`;
    findings.add('unreachable-node', message, {
      node: at,
      hint: 'take out what leads on from it, or give it a condition',
    });
  });
}

function checkQuorums(scope: Scope): void {
  const { plan, shape, findings } = scope;
  plan.nodes.forEach((node, at) => {
    if (typeof node.join !== 'object') return;
    const tokens = (shape.inEdges[at] ?? []).filter((edge) => {
      const { closesCycle = true, kind } = shape.edges[edge] ?? {};
      return !closesCycle && kind !== 'handler';
    }).length;
    const { quorum } = node.join;
    if (quorum <= tokens || tokens === 0) return;
    const message = `the node ${nameOf(scope, at)} waits for ${quorum} branches, and only ${tokens} lead to it`;
    findings.add('join-never-fills', message, { node: at, path: 'join.quorum', hint: `ask for ${tokens} at most` });
  });
}

function checkRoutes(scope: Scope): void {
  const { plan, findings } = scope;
  const chosen = new Set<string>();
  plan.routes.forEach((route, at) => {
    const add = (code: string, message: string, path: string, hint: string): void =>
      findings.add(code, message, { path: `routes[${at}]${path}`, hint });
    const name = `the route after ${nameOf(scope, route.from)}`;
    checkChoice(route, name, add);
    checkResult(scope, route, add);
    if (route.choose !== undefined) {
      const what = route.choose === 'code' ? 'with functions' : 'that its result decides';
      if (chosen.has(`${route.choose} ${route.from}`))
        add('duplicate-route', `${nameOf(scope, route.from)} has two routes ${what}`, '.choose', 'make one of them');
      chosen.add(`${route.choose} ${route.from}`);
    }
    checkDeclared(route, name, add);
  });
}

type Add = (code: string, message: string, path: string, hint: string) => void;

function checkChoice(route: Route, name: string, add: Add): void {
  if ((route.choose === undefined) === (route.cases === undefined)) {
    const what = route.choose === undefined ? 'neither a function nor cases' : 'both a function and cases';
    add('bad-route', `${name} has ${what}`, '', 'give either choose or cases');
  }
  if (route.map !== undefined && route.choose === undefined) {
    add('bad-route', `${name} has a map, but no function that answers with its keys`, '.map', 'give choose');
  }
  route.cases?.forEach((branch, at) => {
    if (branch.when.some((condition) => condition.op === 'code')) {
      add(
        'bad-route',
        `a case of ${name} has a function`,
        `.cases[${at}].when`,
        'use choose: it may call any function',
      );
    }
    if (branch.to.length === 0) {
      add('bad-route', `a case of ${name} leads nowhere`, `.cases[${at}].to`, `name a node, or ${END}`);
    }
  });
}

/** The output of a model or a tool must not decide on its own where a run continues. */
function checkResult(scope: Scope, route: Route, add: Add): void {
  const from = scope.shape.index.get(route.from);
  const node = from === undefined ? undefined : scope.plan.nodes[from];
  if (route.choose !== 'result' || node === undefined || node.kind === 'task') return;
  // An agent chooses by calling a tool made for the choice.
  if (node.kind === 'agent' && node.choice !== undefined) return;
  // A workflow as a node decides with its own functions where the surrounding plan continues.
  if (node.kind === 'call' && node.plan.routes.some(({ parent = [] }) => parent.length > 0)) return;
  const { kind } = node;
  const message = `${nameOf(scope, route.from)} is of kind '${kind}': only the result of a function can choose the next node`;
  add('bad-route', message, '.choose', 'give a function, or cases');
}

function checkDeclared(route: Route, name: string, add: Add): void {
  if (route.targets === undefined) return;
  const declared = new Set(route.targets);
  const check = (id: string, path: string): void => {
    if (id === END || declared.has(id)) return;
    const message = `${name} may choose ${JSON.stringify(id)}, which is not among its targets`;
    add('undeclared-target', message, path, 'add it to targets');
  };
  for (const [answer, id] of Object.entries(route.map ?? {})) check(id, `.map.${answer}`);
  route.cases?.forEach((branch, at) => branch.to.forEach((id) => check(id, `.cases[${at}].to`)));
  route.otherwise?.forEach((id) => check(id, '.otherwise'));
}
