import type { SourceScalar } from '../../text/nodes.js';
import { quoteShort } from '../../lang/value-text.js';
import type { Template } from '../../lang/values.js';
import {
  END,
  type AgentNode,
  type AskNode,
  type CallNode,
  type EndNode,
  type LoopNode,
  type MapNode,
  type PassNode,
  type Plan,
  type PlanNode,
  type TaskNode,
} from '../../plan/plan.js';
import { RUN_CHANNELS } from '../../plan/endings.js';
import { present } from '../../base/json.js';
import { callInputs, NO_PLAN } from '../call-inputs.js';
import { toolNode } from '../tool-steps.js';
import { inputChannel } from '../inputs-key.js';
import { valuesOf } from '../values-key.js';
import type {
  AgentStep,
  AskStep,
  CallStep,
  EndStep,
  GotoStep,
  LoopStep,
  MapStep,
  PipelineDef,
  ToolStep,
} from './definition.js';
import { listed, NOWHERE, type Flow } from './flow.js';
import {
  around,
  channelsOfItem,
  conversationsIn,
  itemIn,
  itemsOf,
  lastOf,
  resultOf,
  type Block,
  type Placed,
} from './blocks.js';
import { buildCondition } from './conditions.js';
import { isAtEnd } from './last-steps.js';
import { outputsBefore, type Names } from './order.js';
import { PROMPT } from './references.js';
import type { Findings } from '../../text/findings.js';
import { policies, writing, type NodeParts } from './node-base.js';
import { supervisedCall } from './supervising.js';

/** Builds the node of a step, which has the step's id. Conditions and jumps are empty nodes; their outgoing edges do the rest. */
export function buildNode(placed: Placed, flow: Flow, parts: NodeParts): PlanNode {
  const { step } = placed;
  switch (step.type) {
    case 'agent':
      return agentNode(placed, step, flow, parts);
    case 'condition':
      return { kind: 'pass', id: step.id, at: step.at };
    case 'goto':
      return gotoNode(placed, step, flow, parts);
    case 'parallel':
    case 'sequence':
      // Channels have the same names inside and outside.
      return {
        kind: 'call',
        ...policies(placed, parts),
        writes: [...placed.outputs.map((output) => output.channel), ...talksOf(placed)],
        plan: innerPlan(placed, parts),
        ...(step.type === 'parallel' ? present({ require: step.require }) : {}),
      };
    case 'loop':
      return loopNode(placed, step, parts);
    case 'map':
      return mapNode(placed, step, parts);
    case 'run':
    case 'tool':
      return stepNode(placed, step, parts);
    case 'ask':
      return askNode(placed, step, parts);
    case 'wait':
      return { kind: 'wait', ...policies(placed, parts), ...writing(placed), ...step.wait };
    case 'call':
      return callNode(placed, step, parts);
    case 'end':
      return endNode(placed, step, parts);
    case 'set': {
      const values = valuesOf(step.values, (scalar) => parts.texts.template(scalar, placed));
      return { kind: 'set', ...policies(placed, parts), ...writing(placed), values };
    }
  }
}

/** Builds a jump. Jumps back are counted; at the limit the workflow fails, or continues after the jump. */
function gotoNode(placed: Placed, { limits }: GotoStep, flow: Flow, parts: NodeParts): PassNode {
  const { step, block } = placed;
  const base = { kind: 'pass' as const, id: step.id, at: step.at };
  const idOf = (at = NOWHERE): string | undefined => block.steps[at]?.step.id;
  const [target = NOWHERE, behind] = flow.ways[placed.at] ?? [];
  if (!flow.back.has(placed.at)) return base;
  const limit = limits.max ?? loopLimit(block, parts.definition);
  const id = idOf(target) ?? '';
  const fail = `workflow: max loop iterations exceeded (step: ${id}, limit: ${limit})`;
  const hint = `raise ${limits.max === undefined ? 'max_loop_iterations' : 'max of the jump'}, or look at what the condition reads`;
  // Each jump restarts loops inside this one, so their jumps are counted anew for each entry.
  const holdsLoop = [...flow.back].some((at) => at >= target && at < placed.at);
  const anew = holdsLoop ? { countsAnewFrom: id } : {};
  const onMaxVisits = limits.onLimit === 'fail' ? { fail, hint } : { to: idOf(behind) ?? END, degraded: true as const };
  return { ...base, maxVisits: limit, ...anew, onMaxVisits };
}

/** Returns the limit of a block's jumps back: that of the innermost sequence around it that sets one, or that of the file. */
export function loopLimit(block: Block, definition: PipelineDef): number {
  for (let here = block.holder; here !== undefined; here = here.block.holder) {
    if (here.step.type === 'sequence' && here.step.maxLoopIterations !== undefined) return here.step.maxLoopIterations;
  }
  return definition.maxLoopIterations;
}

function agentNode(placed: Placed, step: AgentStep, flow: Flow, parts: NodeParts): AgentNode {
  const { texts, definition, names } = parts;
  const name = step.agent?.text ?? '';
  const agent = definition.agents.get(name);
  if (agent === undefined && step.agent !== undefined) {
    const known =
      definition.agents.size === 0
        ? `the file has no agents: add ${quoteShort(name)} under agents`
        : `agents are: ${listed(definition.agents.keys())}`;
    const hint = names.findings.near(name, definition.agents.keys()) ?? known;
    const message = `${step.label} uses the agent ${quoteShort(name)}, which does not exist`;
    names.findings.error('unknown-agent', message, step.agent.at, hint);
  }
  const instructions: Template = agent?.instruction === undefined ? [] : texts.instructions(agent.instruction, placed);
  return {
    kind: 'agent',
    ...policies(placed, parts),
    ...writing(placed),
    agent: { ...(agent?.spec ?? { name, models: [] }), ...outputOf(step), instructions },
    prompt: texts.message(step.prompt, placed),
    ...choosing(placed, step, flow),
    ...present({ conversation: step.conversation }),
  };
}

/** Returns the output schema. The step's schema takes precedence over the agent's. */
function outputOf({ schema }: AgentStep): Pick<AgentNode['agent'], 'output'> {
  return schema === undefined ? {} : { output: { schema } };
}

function choosing({ at, block }: Placed, { choose }: AgentStep, { ways }: Flow): Pick<AgentNode, 'choice'> {
  if (choose.length === 0) return {};
  // The first target is for no answer.
  const [, ...targets] = (ways[at] ?? []).map((to) => block.steps[to]?.step.id ?? END);
  const answers = choose.map(
    ({ answer, about }, index) => [answer, present({ to: targets[index] ?? END, about })] as const,
  );
  return { choice: { answers: Object.fromEntries(answers) } };
}

function stepNode(placed: Placed, step: ToolStep, parts: NodeParts): TaskNode {
  const { texts, definition, names } = parts;
  const { servers, permissions } = definition;
  return {
    ...policies(placed, parts),
    ...writing(placed),
    ...toolNode(step.tool, step.timeoutMs, {
      template: (text) => texts.template(text, placed),
      servers,
      permissions,
      findings: names.findings,
    }),
  };
}

/** Returns the conversations of the steps inside a step. */
function talksOf({ inner }: Placed): readonly string[] {
  return inner === undefined ? [] : conversationsIn(inner);
}

function askNode(placed: Placed, step: AskStep, parts: NodeParts): AskNode {
  const { question, choices, choicesFrom, schema, expiresMs, expireAnswer } = step.ask;
  return present({
    kind: 'ask' as const,
    ...policies(placed, parts),
    ...writing(placed),
    question: question === undefined ? [] : parts.texts.template(question, placed),
    choices,
    choicesFrom: choicesFrom && parts.texts.value(choicesFrom, placed, 'choices'),
    schema,
    expiresMs,
    onExpire: expireAnswer === undefined ? undefined : { answer: expireAnswer },
  });
}

/** Builds the end of the file. The blocks around it are parts of the same file. */
function endNode(placed: Placed, { end }: EndStep, parts: NodeParts): EndNode {
  const out = [...around(placed)].length - 1;
  const reason = end.reason && parts.texts.template(end.reason, placed);
  const status = end.status === 'failed' ? end.status : undefined;
  return present({
    kind: 'end' as const,
    ...policies(placed, parts),
    status,
    reason,
    out: out === 0 ? undefined : out,
  });
}

function innerPlan(placed: Placed, parts: NodeParts): Plan {
  if (placed.inner === undefined) throw new TypeError(`${placed.step.label} has no block`);
  return parts.planOf(placed.inner);
}

/** Builds a loop. Channels have the same names inside and outside; from the second round, steps see the previous round's outputs. */
function loopNode(placed: Placed, step: LoopStep, parts: NodeParts): LoopNode {
  const { keep, onMaxRounds, maxRounds, rounds } = step.loop;
  const names = [...placed.outputs.map((output) => output.channel), ...talksOf(placed)];
  return present({
    kind: 'loop' as const,
    ...policies(placed, parts),
    writes: names,
    output: resultOf(placed)?.channel,
    plan: innerPlan(placed, parts),
    outputs: Object.fromEntries(names.map((name) => [name, name])),
    until: endOf(placed, step, parts),
    carry: names,
    maxRounds,
    rounds: rounds && parts.texts.value(rounds, placed, 'rounds'),
    onMaxRounds,
    keep,
  });
}

function endOf(placed: Placed, { loop, at }: LoopStep, parts: NodeParts): LoopNode['until'] {
  const { inner } = placed;
  if (inner === undefined) return [];
  if (loop.line !== undefined) {
    const result = resultOf(placed);
    if (result !== undefined) return [{ op: 'line', value: { channel: result.channel }, line: loop.line }];
    const what = lastOf(placed)?.step.label ?? 'nothing';
    const hint = 'end its steps with an agent, or write until as an expression';
    const message = `until of ${placed.step.label} looks for a line, and ${what} does not have exactly one output`;
    parts.names.findings.error('loop-result', message, at, hint);
  }
  // The condition is read at the end of a round.
  const end: Placed = { ...placed, block: inner, at: inner.steps.length, chain: 0, inner: undefined };
  const condition = loop.until && buildCondition(loop.until, end, parts);
  return condition === undefined ? [] : [condition];
}

/** Returns the channels of a run's inputs, which every block sees. */
export function givenChannels({ inputs }: PipelineDef): readonly string[] {
  return [PROMPT, ...inputs.map(({ name }) => inputChannel(name))];
}

function mapNode(placed: Placed, step: MapStep, parts: NodeParts): MapNode {
  const { names, texts } = parts;
  const plan = innerPlan(placed, parts);
  const item = itemIn(placed);
  const isCounted = parts.counted.has(step);
  const channels = [
    ...givenChannels(parts.definition),
    ...(isAtEnd(placed) ? RUN_CHANNELS : []),
    ...itemsOf(placed).flatMap((each) => channelsOfItem(each, parts.counted)),
    ...(placed.inner === undefined ? [] : outputsBefore(placed.inner, names.flows)).map((output) => output.channel),
    ...talksOf(placed),
  ];
  const { over, as: _as, ...bounds } = step.map;
  return present({
    kind: 'map' as const,
    ...policies(placed, parts),
    ...writing(placed),
    plan,
    over: (over === undefined ? undefined : texts.value(over, placed, 'over')) ?? { channel: PROMPT },
    item: item.channel,
    index: isCounted ? item.index : undefined,
    itemKey: isCounted ? item.key : undefined,
    inputs: Object.fromEntries(channels.map((channel) => [channel, { channel }])),
    result: mapResult(placed, names),
    ...bounds,
  });
}

/** Returns the channel of a map's result for an item: the output of its last step. */
function mapResult(placed: Placed, names: Names): string {
  const last = lastOf(placed);
  if (last === undefined) return '';
  const output = resultOf(placed);
  if (output !== undefined) return output.channel;
  const hint = 'end the steps of the map with an agent that brings together what came before';
  const message = `${placed.step.label} ends with ${last.step.label}, which does not have exactly one output`;
  names.findings.error('map-result', message, last.step.at, hint);
  return '';
}

/** Builds the node of a called file. If its input `prompt` is not given, it gets the user message an agent would get. */
function callNode(placed: Placed, step: CallStep, parts: NodeParts): CallNode {
  const plan = parts.calls.get(step.call);
  const base = policies(placed, parts);
  // The unloadable file was reported before.
  if (plan === undefined) return { kind: 'call', ...base, plan: NO_PLAN };
  const { findings } = parts.names;
  const { texts } = parts;
  const prompt = promptInput(step, plan, findings);
  const given = {
    label: step.label,
    at: step.at,
    call: step.call,
    template: (text: SourceScalar) => texts.template(text, placed),
    ...(prompt === undefined ? {} : { also: { [prompt]: { template: texts.message(step.prompt, placed) } } }),
  };
  const inputs = callInputs(given, plan, findings);
  const outputs = Object.fromEntries(placed.outputs.map(({ channel, inner = channel }) => [channel, inner]));
  const inner = supervisedCall(plan, placed, parts);
  const [only] = plan.values === undefined ? [] : placed.outputs;
  const writes = Object.keys(outputs);
  return present({ kind: 'call' as const, ...base, writes, output: only?.channel, plan: inner, inputs, outputs });
}

/** Returns the channel of the input `prompt`, unless `inputs` of the step sets it. Problem code: `unknown-input`. */
function promptInput(step: CallStep, plan: Plan, findings: Findings): string | undefined {
  const prompt = plan.inputs.find(({ name }) => name === PROMPT);
  const isGiven = step.call.inputs.some(({ name }) => name === PROMPT);
  if (prompt !== undefined && !isGiven) return prompt.channel;
  if (step.prompt !== undefined) {
    const why = prompt === undefined ? 'its file has no input with this name' : 'also gives the input "prompt"';
    const hint = 'give the inputs of the file under inputs';
    findings.error('unknown-input', `${step.label} has a prompt, and ${why}`, step.prompt.at, hint);
  }
  return undefined;
}
