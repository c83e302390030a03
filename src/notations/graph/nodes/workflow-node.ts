import { SkeinError } from '../../../base/errors.js';
import { checkOptions } from '../../../base/options.js';
import { kindText } from '../../../lang/value-text.js';
import { definitionError, hasErrors, holdingBack, refusal, type Problem } from '../../../base/problem.js';
import { ownValue } from '../../../base/json.js';
import {
  PLAN_VALUES,
  WHOLE_STATE,
  type Bindings,
  type InputSpec,
  type Plan,
  type Require,
  type SubInputs,
} from '../../../plan/plan.js';
import { isNeeded, nodesById } from '../../../plan/nodes.js';
import { traitsOf } from '../../../plan/notations.js';
import { writesUnknown, writtenChannels } from '../../../plan/references.js';
import { exitsOf } from '../inspect.js';
import {
  innerBindings,
  isNodeSpec,
  plannedOf,
  type BuiltNode,
  type NodeSpec,
  type PlannedWorkflow,
} from './planned.js';

/** A workflow that can be a node: a graph, compiled or not, or the result of `definePlan` or of a loader of `skein/yaml`. */
export type InnerWorkflow =
  | { compile(): { readonly plan: Plan; readonly bindings: Bindings } }
  | { readonly plan: Plan | undefined; readonly bindings?: Bindings; readonly problems?: readonly Problem[] };

/** Options of a workflow used as a node. */
export interface WorkflowNodeOptions {
  /**
   * The key of the state that holds the task, and the input that gets it; in a pipeline file the input is its prompt. Default: `task`, if
   * the workflow has such an input. `null`: each input of the workflow gets the value of the same name.
   */
  readonly taskParam?: string | null;
  /** If true, the result is the whole final state of the workflow instead of its answer. */
  readonly projectState?: boolean;
  /** The key or node of the workflow that holds its answer. Default: as the workflow declares, or that of its only exit. */
  readonly answerKey?: string;
  /**
   * What the node writes to the state instead of the answer: key of the workflow -> key of the state. Reducers combine the values. If the
   * workflow extended a list that it was given, `extend` appends only the new entries.
   */
  readonly writes?: Readonly<Record<string, string>>;
  /**
   * How many of its branches must succeed, or all. A node that fails cancels no others. If fewer succeed once all have ended, the node
   * fails; otherwise the run is degraded. Default: the first failure ends the workflow.
   */
  readonly require?: Require;
}

export interface Inner extends Omit<PlannedWorkflow, 'kind' | 'answerKey'> {
  readonly answerKey: string | undefined;
}

/**
 * Uses a workflow as a node of another one. Its steps are recorded, drawn and reported like those of the outer workflow.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for what is not a workflow, has problems, or has no answer; `SKEIN_USAGE` without a name, or for options
 *   that do not exist
 * @example
 * const review = graph<{ task: string }>().node('verdict', ({ task }) => `fine: ${task}`).setEntry('verdict');
 * const flow = graph<{ task: string }>().node('review', workflowNode(review, 'review')).setEntry('review');
 * console.log((await flow.run({ task: 'looms' })).state.review); // fine: looms
 */
export function workflowNode<const Outer extends string>(
  workflow: InnerWorkflow,
  name: string,
  options: WorkflowNodeOptions & { readonly writes: Readonly<Record<string, Outer>> },
): NodeSpec<undefined, Outer>;
export function workflowNode<Result = unknown>(
  workflow: InnerWorkflow,
  name: string,
  options?: WorkflowNodeOptions,
): NodeSpec<Result>;
export function workflowNode(
  workflow: InnerWorkflow,
  name: string,
  options: WorkflowNodeOptions = {},
): NodeSpec<never> {
  // Options in its place would be ignored.
  if (typeof name !== 'string') {
    throw new SkeinError('SKEIN_USAGE', `the second argument of workflowNode is a name, not ${kindText(name)}`, {
      hint: "name it like the node, and put options behind the name: workflowNode(inner, 'review', { ... })",
    });
  }
  const by = `workflowNode('${name}')`;
  checkOptions<WorkflowNodeOptions>('workflowNode', options, {
    taskParam: 'text, or null',
    projectState: 'true or false',
    answerKey: 'text',
    writes: 'an object',
    require: 'text, or a number',
  });
  const inner = innerOf(workflow, by);
  const written = options.writes === undefined ? undefined : writtenBy(options.writes, by);
  const result = (): string => (options.projectState === true ? WHOLE_STATE : answerOf(inner, options.answerKey, by));
  const only = written === undefined ? result() : undefined;
  const given = inputsOf(inner, options.taskParam, by);
  return {
    build(node, output): BuiltNode {
      const outputs = { ...written, ...(output && written && { [output]: result() }) };
      return {
        node: {
          id: node,
          kind: 'call',
          plan: inner.plan,
          inputs: given.inputs,
          // The result of the node is an update if `writes` is set, otherwise the answer.
          ...(only === undefined
            ? { outputs, writes: Object.keys(outputs) }
            : { outputs: { [output ?? node]: only }, output: output ?? node }),
          ...(options.require === undefined ? {} : { require: options.require }),
          errorPrefix: `${by}: inner workflow failed: `,
        },
        bindings: innerBindings(node, inner.bindings),
        reads: given.reads,
        mayRead: given.mayRead,
      };
    },
  };
}

/** Returns the mapping from keys of the state to keys of the workflow. */
function writtenBy(writes: unknown, by: string): Readonly<Record<string, string>> {
  const hint = 'name a key of the state for each key of the workflow: writes: { summary: "report" }';
  const pairs: readonly (readonly [string, unknown])[] = isObject(writes) ? Object.entries(writes) : [];
  if (pairs.length === 0) throw refusal('bad-writes', `${by}: writes names no keys`, hint);
  const outer = new Map<string, string>();
  for (const [inner, to] of pairs) {
    if (typeof to !== 'string' || to === '')
      throw refusal('bad-writes', `${by}: writes gives ${quoted(inner)} no key`, hint);
    const other = outer.get(to);
    if (other !== undefined) {
      const both = `${quoted(other)} and ${quoted(inner)}`;
      throw refusal('bad-writes', `${by}: ${both} are both written to ${quoted(to)}`, 'give each a key of its own');
    }
    outer.set(to, inner);
  }
  return Object.fromEntries(outer);
}

/** Returns the parts of a workflow needed to make it part of another. */
export function innerOf(workflow: unknown, by: string): Inner {
  const planned = plannedOf(workflow);
  if (planned?.kind === 'workflow') return planned;
  const made =
    isObject(workflow) && typeof workflow['compile'] === 'function'
      ? (workflow as { compile(): unknown }).compile()
      : workflow;
  if (!isLoose(made)) {
    const hint = isNodeSpec(workflow)
      ? 'put the node into a graph of its own: graph().node(name, ...)'
      : 'give a graph, what definePlan gives, or what a loader of skein/yaml gives (await it)';
    throw refusal('not-a-workflow', `${by} needs a workflow`, hint);
  }
  const { plan, bindings = {}, problems = [], answerKey, settings } = made;
  if (plan === undefined || hasErrors(problems)) throw definitionError(told(problems, by));
  const held = holdingBack(problems);
  if (held.length > 0) throw definitionError(told(held, by));
  checkInvariants(settings, by);
  const output = ownValue(ownValue(settings, 'output'), 'nodes');
  const only = Array.isArray(output) && output.length === 1 ? String(output[0]) : undefined;
  const taskParam = ownValue(settings, 'taskParam');
  return {
    plan,
    bindings,
    answerKey: answerKey ?? channelOf(plan, only),
    taskParam: typeof taskParam === 'string' ? taskParam : (traitsOf(plan.notation).taskInput ?? 'task'),
  };
}

/** Fields that any form of a workflow may have. */
interface Loose {
  readonly plan: Plan | undefined;
  readonly bindings?: Bindings;
  readonly problems?: readonly Problem[];
  readonly answerKey?: string;
  readonly settings?: unknown;
}

function isLoose(value: unknown): value is Loose {
  return isObject(value) && 'plan' in value && (value['plan'] === undefined || isObject(value['plan']));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function told(problems: readonly Problem[], by: string): readonly Problem[] {
  if (problems.length > 0) return problems.map((problem) => ({ ...problem, message: `${by}: ${problem.message}` }));
  return [{ code: 'not-a-workflow', severity: 'error', message: `${by}: the workflow has no plan` }];
}

/** Refuses invariants. They are checked for a whole run, and an inner workflow has no run of its own. */
function checkInvariants(settings: unknown, by: string): void {
  const invariants = ownValue(settings, 'invariants');
  if (!Array.isArray(invariants) || invariants.length === 0) return;
  const hint = 'give the invariants to the graph around it, or use agentNode(inner.asAgent())';
  throw refusal('inner-invariants', `${by}: invariants of a graph are not checked inside of another graph`, hint);
}

export function answerOf({ plan, answerKey }: Inner, asked: string | undefined, by: string): string {
  // A file that declares values returns them.
  if (asked === undefined && plan.values !== undefined) return PLAN_VALUES;
  const exits = exitsOf(plan);
  const answer =
    (asked === undefined ? answerKey : (channelOf(plan, asked) ?? unknownKey(plan, asked))) ??
    (exits.length === 1 ? channelOf(plan, exits[0]) : undefined);
  if (answer !== undefined) return answer;
  const what =
    asked === undefined ? 'the inner workflow has no answer key' : `nothing is called ${JSON.stringify(asked)}`;
  const keys = plan.nodes.flatMap(writtenChannels).slice(0, 8).map(quoted);
  const which = keys.length === 0 ? 'the key of its state' : keys.join(' or ');
  const hint = `say which it is: answerKey: ${which}; or take all: projectState: true`;
  throw refusal('no-answer', `${by}: ${what}`, hint);
}

/** Returns the channel with a name, or the one that a node with the name writes. */
function channelOf(plan: Plan, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const written = new Set([
    ...plan.inputs.map((input) => input.channel),
    ...plan.channels.map((channel) => channel.name),
    ...plan.nodes.flatMap(writtenChannels),
  ]);
  if (written.has(name)) return name;
  const node = nodesById(plan).get(name);
  if (node === undefined) return undefined;
  const [only, ...more] = writtenChannels(node);
  return node.output ?? (more.length === 0 ? only : undefined);
}

/** Returns a key that some node may write, because the content of updates is unknown. */
function unknownKey(plan: Plan, name: string): string | undefined {
  return plan.closedState !== true && plan.nodes.some(writesUnknown) ? name : undefined;
}

/** The sources of a workflow's inputs, and the keys that it requires or may read. */
interface Given {
  readonly inputs: SubInputs;
  readonly reads: readonly string[];
  readonly mayRead: readonly string[];
}

/** Returns the sources of a workflow's inputs in the surrounding state. */
export function inputsOf(
  { plan, taskParam: own }: Pick<Inner, 'plan' | 'taskParam'>,
  asked: string | null | undefined,
  by: string,
): Given {
  // The reads of a function of the whole state are unknown.
  if (plan.inputs.length === 0 && plan.nodes.some((node) => node.kind === 'task' && node.output === undefined))
    return unknownInputsOf({ plan, taskParam: own }, asked, by);
  const named = (name: string): InputSpec | undefined => plan.inputs.find((input) => input.name === name);
  const byName = asked === null || (asked === undefined && named(own) === undefined);
  const task = byName ? undefined : taskInput(plan, named(asked ?? own) ?? named(own), asked ?? own, by);
  // With a task, other inputs are passed only if they are required.
  const others = plan.inputs.filter((input) => input !== task?.input && (byName || isNeeded(input)));
  const inputs: Record<string, SubInputs[string]> = {};
  for (const input of others) inputs[input.channel] = { channel: input.name };
  if (task !== undefined) inputs[task.channel] = { channel: asked ?? 'task' };
  return {
    inputs,
    reads: [...(task === undefined ? [] : [asked ?? 'task']), ...others.filter(isNeeded).map((input) => input.name)],
    mayRead: others.filter((input) => !isNeeded(input)).map((input) => input.name),
  };
}

/** Returns the inputs of a workflow that declares none and may still read some: the task, or the declared keys of its state. */
function unknownInputsOf(
  { plan, taskParam: own }: Pick<Inner, 'plan' | 'taskParam'>,
  asked: string | null | undefined,
  by: string,
): Given {
  const keys = plan.channels.map((channel) => channel.name);
  const takes = (name: string): boolean => plan.openInputs === true || keys.includes(name);
  if (asked === null) {
    const hint = "name them: graph({ inputs: ['query'] })";
    if (keys.length === 0) throw refusal('no-task-input', `${by}: the inner workflow does not say what it reads`, hint);
    return { inputs: Object.fromEntries(keys.map((key) => [key, { channel: key }])), reads: [], mayRead: keys };
  }
  const task = asked ?? 'task';
  const taking = [...new Set([own, asked ?? own])].filter(takes);
  const inputs = Object.fromEntries(taking.map((name) => [name, { channel: task }]));
  if (asked === undefined) return { inputs, reads: [], mayRead: taking.length === 0 ? [] : [task] };
  if (taking.length > 0) return { inputs, reads: [task], mayRead: [] };
  const hint = `its keys are: ${keys.join(', ')}`;
  throw refusal('no-task-input', `${by}: the inner workflow has no key ${quoted(asked)} for the task`, hint);
}

function quoted(name: string): string {
  return JSON.stringify(name);
}

/** Returns the input for the task: the one with its name, or the only required one. */
function taskInput(
  plan: Plan,
  input: InputSpec | undefined,
  name: string,
  by: string,
): { readonly input?: InputSpec; readonly channel: string } {
  if (input !== undefined) return { input, channel: input.channel };
  const [only, ...more] = plan.inputs.filter(isNeeded);
  if (only !== undefined && more.length === 0) return { input: only, channel: only.channel };
  if (plan.openInputs === true && only === undefined) return { channel: name };
  const known = plan.inputs.map((each) => each.name);
  const hint =
    known.length === 0 ? 'it has no inputs' : `its inputs are: ${known.join(', ')}; taskParam: null gives it those`;
  throw refusal('no-task-input', `${by}: the inner workflow has no input ${JSON.stringify(name)} for the task`, hint);
}
