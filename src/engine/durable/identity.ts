import { runsFunction } from '../../plan/nodes.js';
import { canonicalJson, digestText } from '../../base/hash.js';
import type { Condition } from '../../lang/values.js';
import { toolKey } from '../../plan/agent-spec.js';
import { checkKey, codeChecks } from '../../plan/answer-check.js';
import { decidingFields } from '../../plan/fields.js';
import { sourceText } from '../../plan/made-of.js';
import { guideKey } from '../../plan/guide.js';
import type { AgentNode, Bindings, Plan, PlanNode } from '../../plan/plan.js';
import { isSupervisor, supervisorKey } from '../../plan/supervision.js';
import type { CompiledNode, CompiledPlan, CompiledRoute } from '../graph/compile.js';

/** Digests by node. All runs of a compiled plan share it. */
const known = new WeakMap<CompiledNode, string>();
const knownRoutes = new WeakMap<CompiledRoute, string>();

/**
 * Returns the digest of everything that decides what a node does (J2): for a code node its source text and its `version`; for others their
 * own data, such as prompt, tools, schema, model and settings of an agent. Excludes when it runs, how often it is tried, the use of its
 * result, its place in the file, and the plan inside it.
 */
export function definitionOf(compiled: CompiledNode): string {
  const before = known.get(compiled);
  if (before !== undefined) return before;
  const { node, body } = compiled;
  const source = sourceOf(body);
  const digest = digestText(canonicalJson([ownOf(compiled), source, node.version ?? '', ...agentSources(compiled)]));
  known.set(compiled, digest);
  return digest;
}

/** Who makes the calls of a step's function, for what a person allows: of two nodes with one id, each has its own. */
export function callerOf(compiled: CompiledNode): string {
  return `step ${compiled.id} ${definitionOf(compiled)}`;
}

/** Like {@link definitionOf}, but includes all nodes of the plan inside the node, and their functions. */
export function wholeDefinitionOf(compiled: CompiledNode): string {
  const { sub } = compiled;
  if (sub === undefined) return definitionOf(compiled);
  const { plan, bindings, prefix } = sub;
  const functions = Object.keys(bindings)
    .filter((key) => key.startsWith(prefix))
    .toSorted()
    .map((key) => [key, sourceOf(bindings[key])]);
  return digestText(canonicalJson([definitionOf(compiled), withoutPlaces(plan), functions]));
}

function withoutPlaces(plan: Plan): object {
  const nodes = plan.nodes.map(({ at: _at, ...node }) =>
    'plan' in node ? { ...node, plan: withoutPlaces(node.plan) } : node,
  );
  return { ...plan, nodes };
}

function agentSources({ tools = {}, checks = {}, guide }: CompiledNode): readonly string[] {
  return [...Object.values(tools), ...Object.values(checks), ...(guide === undefined ? [] : [guide])].map(sourceOf);
}

/** Returns the digest of what decides a chooser's answer. Two code routes of a node have the same function. */
export function routeDefinition(route: CompiledRoute, node: PlanNode): string {
  let digest = knownRoutes.get(route);
  if (digest === undefined) {
    digest = digestText(canonicalJson(['route', sourceOf(route.choose), node.version ?? '']));
    knownRoutes.set(route, digest);
  }
  return digest;
}

/** The deciding data of a node. The result of a function that may choose the next node is recorded in another form. */
function ownOf({ node, jumps }: CompiledNode): object {
  return jumps ? { ...decidingFields(node), jumps } : decidingFields(node);
}

/** Digests of source texts: one function may be the body of many nodes, and of many runs. */
const sources = new WeakMap<object, string>();

/** Digest of the source text of a function, or of a supervisor; its closure is not visible. */
function sourceOf(fn: unknown): string {
  if (typeof fn !== 'function' && !isSupervisor(fn)) return '';
  let digest = sources.get(fn);
  if (digest === undefined) {
    digest = digestText(sourceText(fn));
    sources.set(fn, digest);
  }
  return digest;
}

/** Digests of a plan's functions, by their keys in the bindings: they change with edits that the plan does not show. */
export function codeDigests(bindings: Bindings, plan: Plan): Readonly<Record<string, string>> {
  const digests: Record<string, string> = {};
  const put = (key: string): void => {
    if (Object.hasOwn(bindings, key)) digests[key] = sourceOf(bindings[key]);
  };
  const open: { readonly plan: Plan; readonly prefix: string }[] = [{ plan, prefix: '' }];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { prefix } = one;
    for (const key of codeKeys(one.plan)) put(prefix + key);
    for (const node of one.plan.nodes)
      if ('plan' in node) open.push({ plan: node.plan, prefix: `${prefix}${node.id}/` });
  }
  return digests;
}

const knownCode = new WeakMap<CompiledPlan, Readonly<Record<string, string>>>();

/** The {@link codeDigests} of a compiled plan, computed once for all its runs. */
export function codeOf(compiled: CompiledPlan): Readonly<Record<string, string>> {
  let digests = knownCode.get(compiled);
  if (digests === undefined) {
    digests = Object.freeze(codeDigests(compiled.bindings, compiled.plan));
    knownCode.set(compiled, digests);
  }
  return digests;
}

function codeKeys({ channels, nodes, routes }: Plan): string[] {
  const keys = channels.flatMap(({ name, reducer }) => (reducer === 'code' ? [`channel:${name}`] : []));
  for (const node of nodes) {
    if (runsFunction(node)) keys.push(node.id);
    if (node.kind === 'agent') keys.push(...agentKeys(node));
    if (node.when?.some(isCode) === true) keys.push(`when:${node.id}`);
    if (node.supervise?.supervisor === 'code') keys.push(supervisorKey(node.id));
    if (node.retry?.on === 'code') keys.push(`retry:${node.id}`);
    if (node.kind === 'loop' && node.until.some(isCode)) keys.push(`until:${node.id}`);
  }
  for (const route of routes) if (route.choose === 'code') keys.push(`route:${route.from}`);
  return keys;
}

function agentKeys({ id, agent, choice }: AgentNode): readonly string[] {
  const tools = (agent.functions ?? []).map(({ name }) => toolKey(id, name));
  const checks = codeChecks(agent).map((name) => checkKey(id, name));
  return [...tools, ...checks, ...(choice === 'code' ? [guideKey(id)] : [])];
}

function isCode(condition: Condition): boolean {
  return condition.op === 'code';
}
