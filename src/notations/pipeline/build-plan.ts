import { madeOnce } from '../../base/collections.js';
import {
  END,
  type ChannelSpec,
  type Edge,
  type InputSpec,
  type PassNode,
  type Plan,
  type PlanNode,
  type Route,
} from '../../plan/plan.js';
import { RUN_CHANNELS } from '../../plan/endings.js';
import type { Condition } from '../../lang/values.js';
import { visitCaps } from '../../plan/limits.js';
import { createFindings, type Findings } from '../../text/findings.js';
import { present } from '../../base/json.js';
import type { SourceScalar } from '../../text/nodes.js';
import type { ParsedYaml } from '../../text/yaml.js';
import type { CallDef } from '../step-keys.js';
import { inputSpec } from '../inputs-key.js';
import { valuesOf } from '../values-key.js';
import {
  channelsOfItem,
  conversationsIn,
  givenBy,
  itemIn,
  itemsOf,
  placeSteps,
  type Block,
  type Output,
  type Placed,
} from './blocks.js';
import { buildNode, givenChannels } from './build-nodes.js';
import type { NodeParts } from './node-base.js';
import { buildCondition } from './conditions.js';
import type { ConditionStep, PipelineDef } from './definition.js';
import { connectBlock, NOWHERE, type Flow } from './flow.js';
import { outputsBefore, type Flows, type Marks, type Names } from './order.js';
import { LAST_ID, isAtEnd, lastIn } from './last-steps.js';
import { PROMPT } from './references.js';
import { securityOf } from './supervising.js';
import { createTexts, type Texts } from './templates.js';

export interface BuildContext {
  readonly yaml: ParsedYaml;
  /** Plans of called files. A file that could not be loaded is absent, and was reported. */
  readonly calls: ReadonlyMap<CallDef, Plan>;
}

/** The prompt of a run that is given none. */
export const DEFAULT_PROMPT = 'Please proceed with the workflow step.';

/**
 * Builds the plan of a pipeline: one plan for each block, in which every step is one node with its id. All references are resolved and
 * checked, so unknown agents, steps and jump targets are found here. If there are errors among the findings, the plan must not be used.
 *
 * Problem codes: those of {@link connectBlock}, {@link createTexts} and {@link buildCondition}, `unknown-agent`, `map-result`,
 * `unknown-input`, `missing-input`.
 */
export function buildPlan(definition: PipelineDef, context: BuildContext, findings: Findings): Plan {
  const marks = noMarks();
  const plan = planOf(definition, context, { findings, marks, known: noMarks() });
  // Resolving all references shows what is read of endings and items, so such plans are built twice.
  if (marks.told.size === 0 && marks.counted.size === 0) return plan;
  return planOf(definition, context, { findings: createFindings(), marks: noMarks(), known: marks });
}

function noMarks(): Marks {
  return { told: new Set(), counted: new Set() };
}

interface Building {
  readonly findings: Findings;
  readonly marks: Marks;
  readonly known: Marks;
}

function planOf(definition: PipelineDef, context: BuildContext, building: Building): Plan {
  const { findings, marks, known: seen } = building;
  const { yaml, calls } = context;
  const top = placeSteps(definition, calls, seen);
  const known = new Map<Block, Flow>();
  const flows: Flows = (block) => madeOnce(known, block, () => connectBlock(block, findings));
  connectAll(top, flows);
  const inputs = new Map(definition.inputs.map((input) => [input.name, input]));
  const usedInputs = new Set<string>();
  const names: Names = { top, flows, agents: definition.agents, inputs, usedInputs, calls, findings, marks };
  const texts = createTexts(yaml, names, definition.context);
  const parts: Parts = {
    definition,
    counted: seen.counted,
    names,
    texts,
    yaml,
    calls,
    seen: 0,
    planOf: (block) => blockPlan(block, parts),
  };
  const plan = blockPlan(top, parts);
  const prompt = { channel: PROMPT, name: PROMPT, required: false, default: DEFAULT_PROMPT };
  const { name, description, budget, declared } = definition;
  const security = securityOf(definition.security, parts);
  const values = valuesIn(top, definition, texts);
  const own = definition.inputs.map((input) => inputSpec(input, usedInputs.has(input.name)));
  const last = lastIn(top) < 0 ? {} : { computed: RUN_CHANNELS, finally: LAST_ID };
  return present({
    ...plan,
    ...last,
    name,
    description,
    inputs: [prompt, ...own],
    values,
    budget,
    security,
    ...declared,
  });
}

interface Parts extends NodeParts {
  /** The number of outer outputs passed to blocks so far. */
  seen: number;
}

/** Builds the values of the file, read at the point after all its steps. */
function valuesIn(top: Block, { values }: PipelineDef, texts: Texts): Plan['values'] {
  const [first] = top.steps;
  if (values === undefined || first === undefined) return undefined;
  const step = { ...first.step, id: '', label: 'output' };
  const end: Placed = {
    step,
    block: top,
    at: top.steps.length,
    chain: 0,
    inner: undefined,
    outputs: [],
    ending: undefined,
  };
  return valuesOf(values, (scalar) => texts.template(scalar, end));
}

function connectAll(block: Block, flows: Flows): void {
  flows(block);
  for (const { inner } of block.steps) if (inner !== undefined) connectAll(inner, flows);
}

/** The maximum number of outer outputs passed to all blocks. It bounds the plan, which grows with the square of the blocks. */
const MOST_SEEN = 200_000;

function seenBy(block: Block, parts: Parts): readonly Output[] {
  const before = outputsBefore(block, parts.names.flows);
  parts.seen += before.length;
  if (parts.seen <= MOST_SEEN) return before;
  const message = 'too many blocks see too many outputs: the plan would get too large';
  const hint = 'call a file of its own for a part of the workflow';
  parts.names.findings.error('too-many-references', message, parts.definition.at, hint);
  return [];
}

function blockPlan(block: Block, parts: Parts): Plan {
  const flow = parts.names.flows(block);
  const before = seenBy(block, parts);
  const nodes: PlanNode[] = block.steps.map((placed) => buildNode(placed, flow, parts));
  const edges: Edge[] = [];
  const routes: Route[] = [];
  const idOf = (at: number): string => block.steps[at]?.step.id ?? END;
  for (const placed of block.steps) {
    const { step, at } = placed;
    const [next = NOWHERE] = flow.ways[at] ?? [];
    if (step.type === 'agent' && step.choose.length > 0) {
      routes.push(routeOf(step.id, (flow.ways[at] ?? []).map(idOf)));
      continue;
    }
    if (step.type === 'goto' && flow.ways[at]?.length === 2) {
      // The jump may not happen, so its target does not wait for it.
      routes.push({ from: step.id, cases: [], otherwise: [idOf(next)] });
      continue;
    }
    if (step.type !== 'condition') {
      if (next !== NOWHERE) edges.push({ from: step.id, to: idOf(next) });
      continue;
    }
    routes.push(casesOf(step, flow.ways[at] ?? [], (condition) => buildCondition(condition, placed, parts), idOf));
  }
  const starts = block.kind === 'parallel' ? startsOf(block, flow) : [];
  const first = starts.map(({ node, leadsTo }) => ({ from: node.id, to: leadsTo }));
  const jumps = [...visitCaps(nodes).values()].reduce((sum, runs) => sum + runs, 0);
  return {
    format: 1,
    name: block.holder?.step.id ?? '',
    notation: 'pipeline',
    inputs: inputsOf(block, before, parts),
    channels: channelsOf(block, before, parts),
    nodes: [...starts.map(({ node }) => node), ...meeting(nodes, flow, first)],
    edges: [...first, ...edges],
    routes,
    ...(block.kind === 'parallel' ? {} : { entry: idOf(flow.starts[0] ?? NOWHERE) }),
    limits: { maxSteps: Math.min((nodes.length + starts.length) * (1 + jumps), Number.MAX_SAFE_INTEGER) },
  };
}

/** Builds the route of a condition. The last target is for when no case holds. */
function casesOf(
  step: ConditionStep,
  ways: readonly number[],
  build: (when: SourceScalar) => Condition | undefined,
  idOf: (at: number) => string,
): Route {
  const cases = step.cases.flatMap(({ when }, index) => {
    const condition = when && build(when);
    // A missing condition was reported.
    return condition === undefined ? [] : [{ when: [condition], to: [idOf(ways[index] ?? NOWHERE)] }];
  });
  return { from: step.id, cases, otherwise: [idOf(ways.at(-1) ?? NOWHERE)] };
}

/** Builds the route of an agent's choice. The first target is for no answer. */
function routeOf(from: string, [otherwise = END, ...answers]: readonly string[]): Route {
  const targets = [...new Set([otherwise, ...answers])].filter((id) => id !== END);
  return { from, choose: 'result', targets, otherwise: [otherwise] };
}

/** Returns extra start nodes. A plan starts at nodes without in-edges, so steps of a parallel block that are jump targets need one. */
function startsOf(block: Block, flow: Flow): readonly { readonly node: PassNode; readonly leadsTo: string }[] {
  const reached = new Set(flow.ways.flat());
  return flow.starts.flatMap((at) => {
    const step = block.steps[at]?.step;
    if (step === undefined || !reached.has(at)) return [];
    // Ids of steps have no dots.
    return [{ node: { kind: 'pass', id: `${step.id}.start`, at: step.at }, leadsTo: step.id }];
  });
}

/**
 * Sets the join of nodes where paths meet. Only one path was taken, so such a node runs whenever it is reached. So do the nodes of a loop,
 * because a round that bypasses them sends no tokens.
 */
function meeting(nodes: readonly PlanNode[], flow: Flow, starts: readonly Edge[]): readonly PlanNode[] {
  const ways = new Map<number, number>();
  for (const targets of flow.ways) for (const to of new Set(targets)) ways.set(to, (ways.get(to) ?? 0) + 1);
  const started = new Set(starts.map((edge) => edge.to));
  return nodes.map((node, at) => {
    const count = (ways.get(at) ?? 0) + (started.has(node.id) ? 1 : 0);
    return count > 1 || flow.looped.has(at) ? { ...node, join: 'each' } : node;
  });
}

function inputsOf(
  block: Block,
  before: readonly Output[],
  { definition, counted }: Pick<Parts, 'definition' | 'counted'>,
): readonly InputSpec[] {
  if (block.holder === undefined) return [];
  const items = [
    ...(block.kind === 'map' ? channelsOfItem(itemIn(block.holder), counted) : []),
    ...itemsOf(block.holder).flatMap((item) => channelsOfItem(item, counted)),
  ];
  const channels = [
    ...givenChannels(definition),
    ...(isAtEnd(block.holder) ? RUN_CHANNELS : []),
    ...items,
    ...before.map((output) => output.channel),
    ...conversationsIn(block),
  ];
  return channels.map((channel) => ({ channel, name: channel, required: false }));
}

/** Returns the channels of a block in declared order, which is the order of the block of outputs. */
function channelsOf(block: Block, before: readonly Output[], parts: Parts): readonly ChannelSpec[] {
  const outputs = new Set([...before, ...block.steps.flatMap(givenBy)]);
  const sorted = [...outputs].toSorted((a, b) => a.order - b.order);
  const plain =
    block.holder === undefined
      ? [...givenChannels(parts.definition), ...(lastIn(block) < 0 ? [] : RUN_CHANNELS)]
      : inputsOf(block, [], parts).map((input) => input.channel);
  const talks = conversationsIn(block).map((name) => ({ name, reducer: 'extend' as const }));
  return [
    ...plain.filter((name) => !talks.some((talk) => talk.name === name)).map((name) => ({ name })),
    ...sorted.map(({ channel, label }) => ({ name: channel, ...(label === undefined ? {} : { label }) })),
    ...talks,
  ];
}
