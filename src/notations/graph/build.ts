import { addTo } from '../../base/collections.js';
import { present } from '../../base/json.js';
import type { Problem } from '../../base/problem.js';
import { budgetData } from '../../plan/budget.js';
import { securityData } from '../../plan/security.js';
import { declarationsOf } from '../../plan/declarations.js';
import { checkPlan } from '../../plan/checks.js';
import { RUN_CHANNELS } from '../../plan/endings.js';
import { ownPlan } from '../../plan/own-plan.js';
import type { Bindings, ChannelSpec, InputSpec, Plan, PlanNode, Route } from '../../plan/plan.js';
import { writesUnknown, writtenChannels } from '../../plan/references.js';
import { checkDraft } from './check-draft.js';
import { mentionedBy } from './chosen.js';
import { computedKeys, infer, type Inference } from './infer.js';
import type { DraftNode, DraftSettings, GraphDraft } from './draft.js';
import { isNodeSpec, type BuiltNode } from './nodes/planned.js';
import { probeData } from '../../plan/probe.js';
import { retryOf } from '../../plan/retry-input.js';
import { conditionsOf, policiesOf } from './policies.js';
import { reducerName } from './reducers.js';
import { readSupervise, supervisedNode } from './supervising.js';

/** A graph's plan and all its problems. If there are errors, the plan may lack what could not be built. */
export interface BuiltGraph {
  readonly plan: Plan;
  readonly bindings: Bindings;
  readonly inference: Inference;
  readonly problems: readonly Problem[];
}

/** Builds and checks the plan of a graph. It runs nothing, and does not throw for problems. */
export function buildGraph(draft: GraphDraft): BuiltGraph {
  const bindings = Object.create(null) as Record<string, unknown>;
  const made = new Map<string, BuiltNode>();
  const { settings } = draft;
  const gates: Problem[] = [];
  const place = { around: readSupervise('the graph', settings.supervise), problems: gates };
  for (const { name, body, options, layer } of draft.nodes.values()) {
    const built = isNodeSpec(body) ? body.build(name, options.output) : functionNode(name, layer, body, options);
    made.set(name, supervisedNode(built, options.supervise, place));
  }
  const inference = infer(draft, made);
  const nodes = [...made].map(([name, built]) => nodeOf(built, draft.nodes.get(name)?.options ?? {}, bindings));
  const computed = [...computedKeys(draft, inference), ...(settings.finally === undefined ? [] : RUN_CHANNELS)];
  const { maxSteps, concurrency } = settings;
  const limits = present({ maxSteps, concurrency });
  const plan = ownPlan(
    present({
      format: 1 as const,
      name: settings.name,
      description: settings.description,
      notation: 'graph',
      ...(settings.state === undefined ? { openInputs: true } : { closedState: true }),
      inputs: inputsOf(draft, inference, nodes),
      computed: computed.length === 0 ? undefined : computed,
      channels: channelsOf(draft, bindings),
      nodes,
      edges: [...draft.edges.values(), ...inference.edges],
      routes: routesOf(draft, bindings),
      entry: draft.entry,
      exits: draft.exits.size === 0 ? undefined : [...draft.exits],
      firstExitWins: settings.firstExitWins,
      finally: settings.finally,
      output: outputOf(settings, bindings),
      limits: Object.keys(limits).length === 0 ? undefined : limits,
      budget: settings.budget === undefined ? undefined : budgetData(settings.budget),
      security: settings.security === undefined ? undefined : securityData(settings.security),
      ...declarationsOf(settings),
    }),
  );
  Object.freeze(bindings);
  const problems = [...checkDraft({ draft, inference, plan }), ...gates, ...checkPlan(plan, bindings)];
  return { plan, bindings, inference, problems: withoutEchoes(problems) };
}

function outputOf({ output }: DraftSettings, bindings: Record<string, unknown>): Plan['output'] | undefined {
  if (output === undefined) return undefined;
  if (Array.isArray(output)) return [...new Set(output as readonly string[])];
  for (const [name, schema] of Object.entries(output)) bindings[`output:${name}`] = schema;
  return Object.keys(output);
}

/** Codes of problems that only follow from another problem, by the code of that one. */
const ECHOES: Readonly<Record<string, readonly string[]>> = {
  'no-entry': ['missing-entry', 'ambiguous-start', 'unreachable-node'],
  'static-cycle': ['entry-waits'],
  'ambiguous-start': ['entry-waits'],
};

function withoutEchoes(problems: readonly Problem[]): readonly Problem[] {
  const echoes = new Set(problems.flatMap(({ code }) => ECHOES[code] ?? []));
  return problems.filter(({ code }) => !echoes.has(code));
}

function functionNode(
  id: string,
  layer: DraftNode['layer'],
  body: DraftNode['body'],
  { writes }: DraftNode['options'],
): BuiltNode {
  const gives = layer === 'node' ? { output: id } : present({ writes });
  return { node: { id, kind: 'task', ...gives }, bindings: { [id]: body } };
}

function nodeOf(made: BuiltNode, options: DraftNode['options'], bindings: Record<string, unknown>): PlanNode {
  const { node } = made;
  const own = {
    ...policiesOf(options),
    ...retryOf(node.id, options.retry, bindings),
    ...(made.work === undefined
      ? probeData(node.id, options.probe, bindings)
      : probeData(made.work, options.probe, bindings, `${node.id}/`)),
  };
  const when = conditionsOf(node.id, options.when, bindings);
  for (const key of Object.keys(made.bindings ?? {})) bindings[key] = made.bindings?.[key];
  const whole = { ...node, ...own, ...(when === undefined ? {} : { when: [...(node.when ?? []), ...when] }) };
  return made.work === undefined ? whole : withWork(whole, made.work);
}

/** Moves what concerns the work of a node, and no step around it, to the node inside that does the work. */
function withWork(node: PlanNode, work: string): PlanNode {
  const { effect, version, probe, ...rest }: PlanNode & { readonly probe?: 'code' } = node;
  if (!('plan' in rest)) return node;
  const nodes = rest.plan.nodes.map((one) =>
    one.id === work ? { ...one, ...present({ effect, version, probe }) } : one,
  );
  return { ...rest, plan: { ...rest.plan, nodes } };
}

/** Returns the declared inputs, then the keys that are read and that no node writes. */
function inputsOf(draft: GraphDraft, { inputs }: Inference, nodes: readonly PlanNode[]): readonly InputSpec[] {
  const specs = new Map<string, InputSpec>();
  for (const input of draft.settings.inputs ?? []) {
    const { channel: _channel, ...spec } =
      typeof input === 'string' ? { name: input, channel: '' } : { channel: '', ...input };
    specs.set(spec.name, { required: !('default' in spec) || spec.default === undefined, ...spec, channel: spec.name });
  }
  const written = new Set(nodes.flatMap((node) => (draft.nodes.has(node.id) ? writtenChannels(node) : [])));
  const behind = [...inputs.values()].some(({ optional }) => !optional)
    ? behindUnknownWriters(draft, nodes)
    : undefined;
  for (const [name, { optional, readers }] of inputs) {
    if (specs.has(name)) continue;
    // The name of a node is an input only if that node reads itself: then it is the initial value.
    const isWritten = written.has(name) && !draft.nodes.has(name);
    if (isWritten) continue;
    const mayBeWritten = behind !== undefined && readers.every((reader) => behind.has(reader));
    specs.set(name, { name, channel: name, required: !optional && !mayBeWritten });
  }
  return [...specs.values()];
}

/** Returns the nodes that run after one that may write any key. */
function behindUnknownWriters(draft: GraphDraft, nodes: readonly PlanNode[]): ReadonlySet<string> | undefined {
  const writers = nodes.filter((node) => writesUnknown(node));
  if (writers.length === 0) return undefined;
  const next = new Map<string, string[]>();
  for (const { from, to } of draft.edges.values()) addTo(next, from, to);
  for (const node of draft.nodes.values()) {
    for (const to of node.options.goto ?? []) addTo(next, node.name, to);
    const route = draft.routes.get(node.name);
    if (route === undefined) continue;
    const targets = [...(route.targets ?? []), ...Object.values(route.map ?? {})];
    for (const to of targets.length === 0 ? draft.nodes.keys() : targets) addTo(next, node.name, to);
  }
  const reached = new Set(writers.flatMap(({ id }) => next.get(id) ?? []));
  for (const id of reached) for (const to of next.get(id) ?? []) reached.add(to);
  return reached;
}

function channelsOf(draft: GraphDraft, bindings: Record<string, unknown>): readonly ChannelSpec[] {
  const { state = {}, reducers = {}, finally: last } = draft.settings;
  const told = last === undefined ? [] : RUN_CHANNELS;
  return [...new Set([...Object.keys(state), ...Object.keys(reducers), ...told])].map((name): ChannelSpec => {
    if (state[name] !== undefined) bindings[`schema:${name}`] = state[name];
    const reducer = reducerName(reducers[name]);
    if (reducer === 'code') bindings[`channel:${name}`] = reducers[name];
    return reducer === undefined ? { name } : { name, reducer };
  });
}

function routesOf(draft: GraphDraft, bindings: Record<string, unknown>): readonly Route[] {
  const routes: Route[] = [];
  for (const route of draft.routes.values()) {
    bindings[`route:${route.from}`] = route.router;
    const mentions = mentionedBy(draft, route);
    // Targets of a map that are not text are left out; they are reported elsewhere.
    const said = Object.entries(route.map ?? {}).filter(([, target]) => typeof target === 'string');
    routes.push(
      present({
        from: route.from,
        choose: 'code' as const,
        map: route.map && Object.fromEntries(said),
        targets: route.targets && [...route.targets],
        mentions: mentions.length === 0 ? undefined : [...mentions],
      }),
    );
  }
  for (const { name, options } of draft.nodes.values()) {
    const { goto, gotoParent } = options;
    if (goto === undefined && gotoParent === undefined) continue;
    const parent = gotoParent === undefined ? {} : { parent: [...gotoParent] };
    routes.push({ from: name, choose: 'result', targets: [...(goto ?? [])], ...parent });
  }
  return routes;
}
