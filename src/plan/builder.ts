import { checkKinds, checkOptions, refuseUnknown, type OptionForms } from '../base/options.js';
import { isPlainObject, present, type Json, type JsonObject } from '../base/json.js';
import type { AgentSpec } from './agent-spec.js';
import type {
  AgentInput,
  ChannelInput,
  ConditionsInput,
  DeclaredConditions,
  Definition,
  InputInput,
  NodeInput,
  PlanInput,
  RouteInput,
  StateOf,
} from './builder-input.js';
import { budgetData } from './budget.js';
import { securityData } from './security.js';
import { declarationsOf } from './declarations.js';
import type { CelVar, Computed, Condition, JsonTemplate, Template, TemplateRef } from '../lang/values.js';
import { guideKey } from './guide.js';
import { boundConditions } from './made-of.js';
import { nodeFieldNames } from './fields.js';
import { probeData } from './probe.js';
import { retryOf } from './retry-input.js';
import { mentionsOf } from './glances.js';
import { ownPlan } from './own-plan.js';
import type { AgentNode, ChannelSpec, InputSpec, Plan, PlanNode, Route, RouteCase } from './plan.js';
import { splitExpressions } from '../lang/computed-text.js';
import { compileExpression, variablesOf } from '../lang/expression.js';
import { jsonOfList, jsonOfObject, jsonOfText } from '../lang/json-template.js';
import { parseTemplate } from '../lang/template.js';

const OPTIONS: OptionForms<PlanInput> = {
  name: 'text',
  description: 'text',
  inputs: 'a list',
  openInputs: 'true or false',
  closedState: 'true or false',
  channels: 'an object',
  nodes: 'a list',
  edges: 'a list of lists',
  routes: 'a list',
  entry: 'text',
  exits: 'a list of texts',
  finally: 'text',
  firstExitWins: 'true or false',
  output: 'a list of texts',
  limits: 'an object',
  budget: 'text, or a number, or an object',
  security: 'text, or an object',
  hosts: 'a list of texts',
  commands: 'a list of lists',
  sends: 'a list',
};

const ROUTE_OPTIONS: OptionForms<RouteInput<StateOf>> = {
  from: 'text',
  choose: 'text, or a function',
  map: 'an object',
  cases: 'a list',
  otherwise: 'text, or a list of texts',
  targets: 'a list of texts',
  parent: 'a list of texts',
};

/**
 * Defines a plan in code. Functions of nodes, routes, conditions and reducers are given in place; the result is the plan as frozen JSON
 * data, and the functions under the keys of {@link Definition.bindings}. Values are not checked here: see `checkPlan`. Annotate the parameters
 * of functions with what they need, or name the type of the whole state: `definePlan<State>({ ... })`.
 *
 * @throws SkeinError `SKEIN_USAGE` for options that do not exist, of the plan, of a node or of a route
 * @example
 * const { plan, bindings } = definePlan({
 *   name: 'greeting',
 *   inputs: ['who'],
 *   nodes: [
 *     { id: 'greet', output: 'text', run: ({ who }: { who: string }) => `Hello ${who}` },
 *     { id: 'translate', kind: 'agent', prompt: 'Translate into French: {{ text }}', output: 'french' },
 *   ],
 *   edges: [['greet', 'translate']],
 * });
 */
export function definePlan<S = StateOf>(input: PlanInput<S>): Definition {
  checkOptions<PlanInput>('definePlan', input, OPTIONS);
  for (const { id, writes } of input.nodes)
    checkKinds(`the node ${JSON.stringify(id)}`, { writes }, { writes: 'a list of texts' });
  const builder = new Builder(new TextReader(namesOf(input)), input.nodes);
  const { entry, exits, firstExitWins, output, limits } = input;
  const last = input.finally;
  const budget = input.budget === undefined ? undefined : budgetData(input.budget);
  const security = input.security === undefined ? undefined : securityData(input.security);
  const plan: Plan = {
    format: 1,
    name: input.name,
    ...present({ description: input.description }),
    inputs: (input.inputs ?? []).map(inputOf),
    ...present({ openInputs: input.openInputs, closedState: input.closedState }),
    channels: Object.entries(input.channels ?? {}).map(([name, channel]) => builder.channel(name, channel)),
    nodes: input.nodes.map((node) => builder.node(node as NodeInput<StateOf>)),
    edges: (input.edges ?? []).flatMap((chain) => chain.slice(1).map((to, at) => ({ from: chain[at] ?? '', to }))),
    routes: (input.routes ?? []).map((route) => builder.route(route as RouteInput<StateOf>)),
    ...present({ entry, exits, finally: last, firstExitWins, output, limits, budget, security }),
    ...declarationsOf(input),
  };
  return Object.freeze({ plan: ownPlan(plan), bindings: Object.freeze(builder.bindings) });
}

function inputOf(input: InputInput): InputSpec {
  if (typeof input === 'string') return { name: input, channel: input, required: true };
  const { name, channel = name, required = input.default === undefined, description } = input;
  return present({ name, channel, required, description, default: input.default });
}

function namesOf<S>(input: PlanInput<S>): Set<string> {
  const names = new Set(Object.keys(input.channels ?? {}));
  for (const each of input.inputs ?? []) names.add(inputOf(each).channel);
  for (const node of input.nodes) {
    if (node.output !== undefined) names.add(node.output);
    for (const name of node.writes ?? []) names.add(name);
  }
  return names;
}

/** Moves functions out of the input into the bindings. */
class Builder {
  readonly bindings: Record<string, unknown> = Object.create(null) as Record<string, unknown>;

  constructor(
    private readonly texts: TextReader,
    private readonly nodes: readonly NodeInput<StateOf>[],
  ) {}

  channel(name: string, input: ChannelInput): ChannelSpec {
    const { reducer, schema, label } =
      typeof input === 'object' ? input : { reducer: input, schema: undefined, label: undefined };
    if (typeof reducer === 'function') this.bindings[`channel:${name}`] = reducer;
    if (schema !== undefined) this.bindings[`schema:${name}`] = schema;
    return present({ name, reducer: typeof reducer === 'function' ? 'code' : reducer, label });
  }

  node(input: NodeInput<StateOf>): PlanNode {
    refuseUnknown(`the node ${JSON.stringify(input.id)}`, input, [...nodeFieldNames(), 'run']);
    const { budget, security, retry } = input;
    return {
      ...this.body(input),
      ...retryOf(input.id, retry, this.bindings),
      ...(budget === undefined ? {} : { budget: budgetData(budget) }),
      ...(security === undefined ? {} : { security: securityData(security) }),
    };
  }

  private body(input: NodeInput<StateOf>): PlanNode {
    const when = input.when === undefined ? {} : { when: this.conditions(`when:${input.id}`, input.when) };
    if ('tool' in input) {
      const { when: _when, retry: _retry, budget: _budget, security: _security, ...rest } = input;
      return { ...rest, ...when };
    }
    if (input.kind === undefined || input.kind === 'task') {
      const { run, probe, when: _when, retry: _retry, budget: _budget, security: _security, ...rest } = input;
      this.bindings[input.id] = run;
      return { ...rest, ...probeData(input.id, probe, this.bindings), kind: 'task', ...when };
    }
    switch (input.kind) {
      case 'agent':
        return {
          ...input,
          ...this.choice(input),
          agent: this.agent(input),
          prompt: this.texts.template(input.prompt),
          ...when,
        } as PlanNode;
      case 'ask':
        return { ...input, question: this.texts.template(input.question), ...when } as PlanNode;
      case 'end':
        return {
          ...input,
          ...(input.reason === undefined ? {} : { reason: this.texts.template(input.reason) }),
          ...when,
        } as PlanNode;
      case 'set':
        return { ...input, values: this.texts.values(input.values), ...when } as PlanNode;
      case 'wait':
      case 'pass':
        return { ...input, ...when } as PlanNode;
      case 'loop': {
        const until = this.conditions(`until:${input.id}`, input.until, subPlanTexts(input.plan));
        return { ...input, plan: this.subPlan(input.id, input.plan), until, ...when } as PlanNode;
      }
      case 'call':
      case 'map':
        return { ...input, plan: this.subPlan(input.id, input.plan), ...when } as PlanNode;
    }
  }

  route(input: RouteInput<StateOf>): Route {
    checkOptions<RouteInput<StateOf>>(`the route after ${JSON.stringify(input.from)}`, input, ROUTE_OPTIONS);
    const { choose } = input;
    if (typeof choose === 'function') this.bindings[`route:${input.from}`] = choose;
    const isOpen = input.targets === undefined && input.map === undefined && input.cases === undefined;
    const mentions = isOpen ? this.mentionsOf(input) : [];
    const cases = input.cases?.map(({ when, to }): RouteCase => ({ when: this.declared(when), to: listOf(to) }));
    return present({
      from: input.from,
      choose: typeof choose === 'function' ? ('code' as const) : choose,
      map: input.map,
      cases,
      otherwise: input.otherwise === undefined ? undefined : listOf(input.otherwise),
      targets: input.targets,
      parent: input.parent,
      mentions: mentions.length === 0 ? undefined : mentions,
    });
  }

  private mentionsOf({ from, choose }: RouteInput<StateOf>): readonly string[] {
    const own = choose === 'result' ? this.nodes.find((node) => node.id === from) : undefined;
    const chooser = own !== undefined && 'run' in own ? own.run : choose;
    const ids = this.nodes.map((node) => node.id);
    return typeof chooser === 'function' ? mentionsOf(chooser, ids) : [];
  }

  private agent(input: AgentInput<StateOf>): AgentSpec {
    const { instructions = [], ...rest } = input.agent ?? {};
    return { name: input.id, models: [], ...rest, instructions: this.texts.template(instructions) };
  }

  private choice({ id, choice }: AgentInput<StateOf>): Pick<AgentNode, 'choice'> {
    if (typeof choice !== 'function') return present({ choice });
    this.bindings[guideKey(id)] = choice;
    return { choice: 'code' };
  }

  private declared(input: DeclaredConditions): readonly Condition[] {
    return [input].flat().map((one) => (typeof one === 'string' ? this.texts.expression(one) : one));
  }

  private conditions(key: string, input: ConditionsInput<StateOf>, texts = this.texts): readonly Condition[] {
    const read = [input].flat().map((one) => (typeof one === 'string' ? texts.expression(one) : one));
    return boundConditions(read, key, this.bindings);
  }

  private subPlan(id: string, input: Definition | Plan): Plan {
    if (!isDefinition(input)) return input;
    for (const [key, value] of Object.entries(input.bindings)) this.bindings[`${id}/${key}`] = value;
    return input.plan;
  }
}

function isDefinition(input: Definition | Plan): input is Definition {
  return 'plan' in input && isPlainObject(input.plan);
}

/** Expressions about the state of a round refer to channels of the sub-plan. */
function subPlanTexts(input: Definition | Plan): TextReader {
  const plan = isDefinition(input) ? input.plan : input;
  const names = new Set([...plan.inputs.map((each) => each.channel), ...plan.channels.map((channel) => channel.name)]);
  for (const node of plan.nodes) for (const name of [node.output ?? [], node.writes ?? []].flat()) names.add(name);
  return new TextReader(names);
}

function listOf(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Parses texts and expressions of a plan defined in code, where the names between braces are channels. */
export class TextReader {
  constructor(private readonly channels: ReadonlySet<string>) {}

  /** Parses `{{ a.b.c }}` as the channel of that name, or as a path behind the longest channel name that it starts with. */
  template(input: string | Template): Template {
    if (typeof input !== 'string') return input;
    return splitExpressions(input).flatMap((part): Template => {
      if (typeof part !== 'string') return [this.computed(part.expression ?? '')];
      return parseTemplate(part).map((piece) => (typeof piece === 'string' ? piece : this.reference(piece.expression)));
    });
  }

  /** Parses values whose texts are templates. */
  values(values: JsonObject): Readonly<Record<string, JsonTemplate>> {
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, this.json(value)] as const));
  }

  private json(value: Json): JsonTemplate {
    if (typeof value === 'string') return jsonOfText(this.template(value));
    if (Array.isArray(value)) return jsonOfList(value.map((item: Json) => this.json(item)));
    if (typeof value !== 'object' || value === null) return { value };
    return jsonOfObject(Object.entries(value).map(([key, field]) => [key, this.json(field)] as const));
  }

  /** Parses an expression whose variables are the channels that it names. */
  private computed(source: string): Computed {
    if (this.channels.size > 0) return { expression: source, vars: this.varsOf(source) };
    const names = variablesOf(source);
    return { expression: source, vars: Object.fromEntries(names.map((name) => [name, { channel: name }] as const)) };
  }

  /** Parses a condition whose variables are the channels that it names. */
  expression(source: string): Condition {
    return { op: 'cel', expression: source, vars: this.varsOf(source) };
  }

  private varsOf(source: string): Readonly<Record<string, CelVar>> {
    const tops = new Set(
      [...this.channels].map((name) => name.split('.')[0] ?? name).filter((name) => IDENTIFIER.test(name)),
    );
    const { expression } = compileExpression(source, [...tops]);
    const used = new Set(expression?.reads.map((path) => path[0]) ?? tops);
    const vars: [string, CelVar][] = [];
    for (const top of tops) if (used.has(top)) vars.push([top, this.variable(top)]);
    return Object.fromEntries(vars);
  }

  private reference(expression: string): TemplateRef {
    if (this.channels.has(expression)) return { channel: expression };
    const parts = expression.split('.');
    for (let length = parts.length - 1; length > 0; length -= 1) {
      const channel = parts.slice(0, length).join('.');
      if (this.channels.has(channel)) return { channel, path: parts.slice(length) };
    }
    const [channel = expression, ...path] = parts;
    return path.length === 0 ? { channel } : { channel, path };
  }

  /** Returns the channel `a`, or an object of the channels `a.b`, `a.c`. */
  private variable(name: string): CelVar {
    if (this.channels.has(name)) return { channel: name };
    const fields = new Map<string, CelVar>();
    for (const channel of this.channels) {
      if (!channel.startsWith(`${name}.`)) continue;
      const next = channel.slice(name.length + 1).split('.')[0] ?? '';
      if (!fields.has(next)) fields.set(next, this.variable(`${name}.${next}`));
    }
    return { fields: Object.fromEntries(fields) };
  }
}
