import { templatesIn } from '../lang/json-template.js';
import type { CelVar, Condition, JsonTemplate, Template, ValueRef } from '../lang/values.js';
import type { AgentNode, Plan, PlanNode, Route, SubInputs } from './plan.js';
import type { ToolUse } from './tool-use.js';

export interface Reference {
  readonly channel: string;
  /** Its place in the node or route: `prompt[1]`, `when[0].value`. */
  readonly path: string;
}

/** Returns what a node reads before it runs. Inputs of a sub-plan from same-named channels are left out: they may be absent. */
export function referencesOf(node: PlanNode): readonly Reference[] {
  const found: Reference[] = [];
  addConditions(found, node.when ?? [], 'when');
  addTemplate(found, node.supervise?.instruction ?? [], 'supervise.instruction');
  switch (node.kind) {
    case 'task':
      if (node.tool !== undefined) addTool(found, node.tool);
      break;
    case 'wait':
    case 'pass':
      break;
    case 'agent':
      addAgent(found, node);
      break;
    case 'ask':
      addTemplate(found, node.question, 'question');
      addRef(found, node.choicesFrom, 'choicesFrom');
      break;
    case 'set':
      for (const [name, source] of Object.entries(node.values)) addJson(found, source, `values.${name}`);
      break;
    case 'end':
      addTemplate(found, node.reason ?? [], 'reason');
      break;
    case 'map':
      found.push({ channel: node.over.channel, path: 'over' });
      addInputs(found, node.inputs);
      break;
    case 'loop':
      addRef(found, node.rounds, 'rounds');
      addInputs(found, node.inputs);
      break;
    case 'call':
      addInputs(found, node.inputs);
      break;
  }
  return found;
}

function addRef(found: Reference[], ref: ValueRef | undefined, path: string): void {
  if (ref !== undefined) found.push({ channel: ref.channel, path });
}

function addAgent(found: Reference[], { agent, prompt, conversation, fieldsUnless }: AgentNode): void {
  addTemplate(found, agent.instructions, 'agent.instructions');
  for (const { instructions = [] } of Object.values(agent.forModels ?? {}))
    addTemplate(found, instructions, 'agent.forModels');
  addTemplate(found, prompt, 'prompt');
  if (conversation !== undefined) found.push({ channel: conversation.channel, path: 'conversation.channel' });
  if (fieldsUnless !== undefined) found.push({ channel: fieldsUnless.after.channel, path: 'fieldsUnless.after' });
}

/** Returns whether a node reads all labelled channels: one of its texts has a block of outputs. */
export function readsOutputs(node: PlanNode): boolean {
  return textsOf(node).some((text) => text.some((piece) => typeof piece !== 'string' && 'outputs' in piece));
}

export function textsOf(node: PlanNode): readonly Template[] {
  const texts = (node.when ?? []).flatMap((condition) =>
    condition.op === 'contains' || condition.op === 'not_contains' || condition.op === 'equals'
      ? [condition.operand]
      : [],
  );
  if (node.supervise?.instruction !== undefined) texts.push(node.supervise.instruction);
  if (node.kind === 'agent') texts.push(node.agent.instructions, node.prompt);
  else if (node.kind === 'task') texts.push(...textsOfTool(node.tool));
  else if (node.kind === 'ask') texts.push(node.question);
  else if (node.kind === 'end') texts.push(node.reason ?? []);
  else if (node.kind === 'set') for (const source of Object.values(node.values)) texts.push(...templatesIn(source));
  else if ('plan' in node) {
    for (const source of Object.values(node.inputs ?? {})) texts.push(...templatesIn(source));
  }
  return texts;
}

function textsOfTool(tool: ToolUse | undefined): readonly Template[] {
  if (tool === undefined) return [];
  return [...templatesIn(tool.input), tool.stdin ?? [], ...Object.values(tool.env ?? {})];
}

/** Returns what the cases of a route read after its node has run. */
export function routeReferences(route: Route): readonly Reference[] {
  const found: Reference[] = [];
  route.cases?.forEach((branch, at) => addConditions(found, branch.when, `cases[${at}].when`));
  return found;
}

/** Returns what a plan's result reads from its final state. */
export function valueReferences({ values }: Plan): readonly Reference[] {
  const found: Reference[] = [];
  for (const [name, source] of Object.entries(values ?? {})) addJson(found, source, `values.${name}`);
  return found;
}

/** Returns what conditions read. */
export function conditionReferences(conditions: readonly Condition[], path: string): readonly Reference[] {
  const found: Reference[] = [];
  addConditions(found, conditions, path);
  return found;
}

function addConditions(found: Reference[], conditions: readonly Condition[], path: string): void {
  conditions.forEach((condition, at) => {
    const here = `${path}[${at}]`;
    if (condition.op === 'code') return;
    if (condition.op === 'cel') {
      return addVariables(found, condition.vars, `${here}.vars`);
    }
    found.push({ channel: condition.value.channel, path: `${here}.value` });
    if ('operand' in condition && condition.op !== 'matches_json')
      addTemplate(found, condition.operand, `${here}.operand`);
  });
}

export function fieldChannels(node: PlanNode): readonly string[] {
  return node.kind === 'agent' && node.fields !== undefined ? Object.keys(node.fields) : [];
}

/** Returns the channels that receive the node's result or its parts, its ending and its conversation: a channel for each. */
export function ownChannels(node: PlanNode): string[] {
  if (node.kind === 'pass' || node.kind === 'end') return [];
  const outputs = (node.kind === 'call' || node.kind === 'loop') && node.outputs !== undefined ? node.outputs : {};
  const own = [...fieldChannels(node), ...Object.keys(outputs)];
  // The output may be one of the parts.
  if (node.output !== undefined && !own.includes(node.output)) own.push(node.output);
  if (node.ending !== undefined) own.push(node.ending);
  if (node.kind === 'agent' && node.conversation !== undefined) own.push(node.conversation.channel);
  return own;
}

export function writtenChannels(node: PlanNode): readonly string[] {
  const written = ownChannels(node);
  if (node.kind !== 'pass' && node.kind !== 'end') for (const name of node.writes ?? []) written.push(name);
  return written.length < 2 ? written : [...new Set(written)];
}

/** True for a node that may write any channel: its writes are unknown before it runs. */
export function writesUnknown(node: PlanNode): boolean {
  const isOpen = node.kind === 'task' || node.kind === 'agent' || node.kind === 'ask';
  const isGuided = node.kind === 'agent' && node.choice === 'code';
  return isOpen && node.writes === undefined && (node.output === undefined || isGuided);
}

/** Whether the final state of a plan may have a key. Of nodes whose writes are unknown, it may be any. */
export function mayHaveKey({ inputs, channels, nodes, closedState = false }: Plan, key: string): boolean {
  return (
    inputs.some(({ channel }) => channel === key) ||
    channels.some(({ name }) => name === key) ||
    nodes.some((node) => (!closedState && writesUnknown(node)) || writtenChannels(node).includes(key))
  );
}

function addTemplate(found: Reference[], template: Template, path: string): void {
  template.forEach((piece, at) => {
    if (typeof piece === 'string' || 'outputs' in piece) return;
    if ('expression' in piece) return addVariables(found, piece.vars, `${path}[${at}].vars`);
    const { channel } = 'items' in piece ? piece.items : piece;
    found.push({ channel, path: `${path}[${at}]` });
  });
}

function addInputs(found: Reference[], inputs: SubInputs | undefined): void {
  for (const [name, source] of Object.entries(inputs ?? {})) addJson(found, source, `inputs.${name}`);
}

function addTool(found: Reference[], { input, stdin = [], env = {} }: ToolUse): void {
  addJson(found, input, 'tool.input');
  addTemplate(found, stdin, 'tool.stdin');
  for (const [name, text] of Object.entries(env)) addTemplate(found, text, `tool.env.${name}`);
}

function addJson(found: Reference[], source: JsonTemplate, path: string): void {
  if ('channel' in source) found.push({ channel: source.channel, path });
  else if ('template' in source) addTemplate(found, source.template, `${path}.template`);
  else if ('expression' in source) addVariables(found, source.vars, `${path}.vars`);
  else if ('list' in source) source.list.forEach((item, at) => addJson(found, item, `${path}.list[${at}]`));
  else if ('object' in source)
    for (const [key, field] of Object.entries(source.object)) addJson(found, field, `${path}.object.${key}`);
}

function addVariables(found: Reference[], vars: Readonly<Record<string, CelVar>>, path: string): void {
  for (const [name, variable] of Object.entries(vars))
    for (const { channel } of variableRefs(variable)) found.push({ channel, path: `${path}.${name}` });
}

function variableRefs(variable: CelVar): ValueRef[] {
  const found: ValueRef[] = [];
  const open: CelVar[] = [variable];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if ('fields' in next) for (const field of Object.values(next.fields).toReversed()) open.push(field);
    else found.push(next);
  }
  return found;
}
