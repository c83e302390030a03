import { checkKinds, checkOptions } from '../../../base/options.js';
import { SkeinError } from '../../../base/errors.js';
import { kindText } from '../../../lang/value-text.js';
import { withCorrection } from '../../../lang/xml-block.js';
import type { StateOf, TaskStep } from '../../../plan/builder-input.js';
import { madeOf, partsOf } from '../../../plan/made-of.js';
import { guideKey, type GuideOf } from '../../../plan/guide.js';
import { END, type Choice, type Conversation } from '../../../plan/plan.js';
import { plannedNode, plannedOf, type BuiltNode, type NodeSpec } from './planned.js';
import { refusal } from '../../../base/problem.js';
import { callAgent, type AnyAgent } from './call-agent.js';

/** Options of an agent used as a node. */
export interface AgentNodeOptions {
  /** The agent's name in messages. Default: the name of the node. */
  readonly name?: string;
  /** The key of the state that holds the task. Default `task`. `null`: the agent answers the last message of the conversation. */
  readonly taskParam?: string | null;
  /**
   * The key of the state that holds a conversation, with the reducer `extend`. Its messages are sent, and new messages are added to it. For
   * agents of {@link agent}.
   */
  readonly conversation?: string | Conversation;
  /** Whether the graph also emits the agent's progress events. Default true. If false, only the `run` of your own agent is called. */
  readonly forwardEvents?: boolean;
  /**
   * Lets the agent choose the next node by a tool call. Alternatively, a function creates the guide of each step, and the node's option
   * `goto` declares its targets. For agents of {@link agent}.
   */
  readonly choice?: ChoiceInput | GuideOf;
}

/** How an agent chooses: for each answer the name of a node, or the name and a description for the model. */
export interface ChoiceInput extends Omit<Choice, 'answers'> {
  readonly answers: Readonly<Record<string, string | Choice['answers'][string]>>;
}

/**
 * Uses an agent as a node. Its task is a text of the state; its answer is the result of the node. An agent of {@link agent}, a team, a loop
 * or a graph becomes part of the plan: a recorded run continues inside it, at the first model call that is not recorded. Any other agent is
 * one step. An agent that fails fails the node, and no agent is called twice because its stream broke.
 *
 * @example
 * const flow = graph<{ task: string }>()
 *   .node('researcher', agentNode(agent({ name: 'researcher', instructions: 'You look things up.' })))
 *   .node('headline', ({ researcher }) => researcher.split('\n')[0] ?? '')
 *   .setEntry('researcher');
 */
export function agentNode<Output = string>(
  agent: AnyAgent & { readonly answerType?: Output },
  options: AgentNodeOptions = {},
): NodeSpec<Output> {
  checkOptions<AgentNodeOptions>('agentNode', options, {
    name: 'text',
    taskParam: 'text, or null',
    conversation: 'text, or an object',
    forwardEvents: 'true or false',
    choice: 'an object, or a function',
  });
  const { taskParam = 'task', forwardEvents = true } = options;
  const planned = plannedOf(agent);
  if (planned === undefined) checkAgent(agent);
  if (planned?.kind !== 'agent') checkForeign(options);
  const { guide, choice } = choosing(options.choice);
  const talk = typeof options.conversation === 'string' ? { channel: options.conversation } : options.conversation;
  return {
    ...(choice === undefined ? {} : { targets: targetsOf(choice) }),
    build(name, output = name): BuiltNode {
      const reads = taskParam === null ? [] : [taskParam];
      if (planned === undefined)
        return { ...ownNode(agent, { ...options, name: options.name ?? name }, name, output), reads };
      const built = plannedNode(planned, { name, output, taskParam });
      const more = {
        ...(forwardEvents ? {} : { quiet: true as const }),
        ...(choice === undefined ? {} : { choice }),
        ...(guide === undefined ? {} : { choice: 'code' as const }),
        ...(talk === undefined ? {} : { conversation: talk }),
      };
      return {
        node: { ...built.node, ...more },
        bindings: { ...built.bindings, ...(guide === undefined ? {} : { [guideKey(name)]: guide }) },
        reads,
        mayRead: talk === undefined ? [] : [talk.channel],
      };
    },
  };
}

function choosing(input: AgentNodeOptions['choice']): { readonly guide?: GuideOf; readonly choice?: Choice } {
  if (input === undefined) return {};
  return typeof input === 'function' ? { guide: input } : { choice: choiceOf(input) };
}

function choiceOf({ answers, ...texts }: ChoiceInput): Choice {
  checkKinds('a choice', { answers: answers ?? null }, { answers: 'an object' });
  const full = Object.entries(answers).map(([answer, to]) => [answer, typeof to === 'string' ? { to } : to] as const);
  return { ...texts, answers: Object.fromEntries(full) };
}

function targetsOf({ answers }: Choice): readonly string[] {
  return [...new Set(Object.values(answers).map(({ to }) => to))].filter((to) => to !== END);
}

/** Refuses options that only work for agents whose calls Skein makes. */
function checkForeign({ choice, conversation, taskParam }: AgentNodeOptions): void {
  const hint = 'use an agent of agent({ ... })';
  if (choice !== undefined) throw refusal('bad-choice', "this agent can't choose by the call of a tool", hint);
  if (conversation !== undefined || taskParam === null)
    throw refusal('bad-conversation', 'this agent has no conversation with others', hint);
}

/** @throws SkeinError `SKEIN_DEFINITION` for what has no method `run` */
export function checkAgent(agent: unknown, by = 'agentNode'): void {
  if (typeof agent === 'object' && agent !== null && 'asAgent' in agent)
    throw refusal(
      'not-an-agent',
      `${by} needs an agent, not a graph`,
      'flow.asAgent(), or as a node workflowNode(flow, name)',
    );
  if (typeof agent === 'object' && agent !== null && 'run' in agent && typeof agent.run === 'function') return;
  throw refusal('not-an-agent', `${by} needs an agent: something with run(task)`, 'agent({ ... }), or flow.asAgent()');
}

function ownNode(agent: AnyAgent, options: AgentNodeOptions, node: string, output: string): BuiltNode {
  const { name = node, forwardEvents = true } = options;
  const taskParam = options.taskParam ?? 'task';
  const by = `agentNode('${name}')`;
  const body = (state: StateOf, step: TaskStep): Promise<string> => {
    const emit = forwardEvents ? step.emit.bind(step) : undefined;
    const task = withCorrection(taskIn(state, taskParam, by), step.correction);
    return callAgent(agent, task, { by, signal: step.signal, emit, options: step.runOptions });
  };
  return {
    node: { id: node, kind: 'task', output, asked: [{ channel: taskParam }] },
    // Changes to the agent's functions are detected from their source.
    bindings: { [node]: madeOf(body, partsOf(agent, ['run', 'stream'])) },
  };
}

function taskIn(state: StateOf, taskParam: string, by: string): string {
  const task = state[taskParam];
  if (typeof task === 'string') return task;
  if (task === undefined) throw new SkeinError('SKEIN_INPUT', `${by}: missing required key "${taskParam}"`);
  throw new SkeinError('SKEIN_INPUT', `${by}: "${taskParam}" must be text, and is ${kindText(task)}`);
}
