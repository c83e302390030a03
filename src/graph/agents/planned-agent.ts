import {
  PLANNED,
  plannedNode,
  type BuiltNode,
  type Planned,
  type PlannedWorkflow,
} from '../../notations/graph/nodes/planned.js';
import { present } from '../../base/json.js';
import { draw } from '../../notations/graph/inspect.js';
import { definitionError, hasErrors } from '../../base/problem.js';
import { checkPlan } from '../../plan/checks.js';
import { ownPlan } from '../../plan/own-plan.js';
import type { Definition, StateOf, TaskStep } from '../../plan/builder-input.js';
import type { Bindings, Edge, InputSpec, Plan, TaskNode } from '../../plan/plan.js';
import type { AgentLike, AgentResult, GraphEvent, GraphMetrics, GraphResult, GraphRunOptions } from '../result.js';
import { checkedTask } from '../as-agent.js';
import { runGraph, streamGraph } from '../on-demand.js';
import type { RunnableGraph } from '../running.js';

/** How a run of a Skein agent ended. `Answer` is the type of its answer. */
export interface AgentOutcome<Answer = unknown>
  extends AgentResult, Pick<GraphResult, 'runId' | 'outcome' | 'questions' | 'census' | 'spent' | 'saved' | 'labels'> {
  /** The answer as a value, such as the content of a structured output; undefined if there is none. */
  readonly value: Answer | undefined;
  /** The final state of the agent's workflow. */
  readonly state: Readonly<Record<string, unknown>>;
  readonly steps: readonly GraphEvent[];
}

/**
 * An agent that Skein runs, usable wherever an agent is accepted. It is also a workflow: with a store it is recorded and can be resumed; it
 * can be drawn; as a node it becomes part of the surrounding plan. `Answer` is the type of its answer.
 */
export interface Agent<Answer = string> extends AgentLike {
  /** The agent's checked workflow. */
  readonly plan: Plan;
  readonly bindings: Bindings;
  readonly [PLANNED]: Planned;
  /** The type of the answer; never set at run time. */
  readonly answerType?: Answer;
  /** Runs the agent with a task. Failures inside never throw: they are in the result. */
  run(task: string, options?: GraphRunOptions): Promise<AgentOutcome<Answer>>;
  /** Runs the agent with a task and yields its events. Leaving the loop cancels the run. */
  stream(task: string, options?: GraphRunOptions): AsyncGenerator<GraphEvent, AgentOutcome<Answer>>;
  /** Returns the agent's workflow as a Mermaid flowchart. */
  toMermaid(): string;
}

export function agentOf<Answer>(planned: Planned, name: string): Agent<Answer> {
  const workflow = planned.kind === 'workflow' ? planned : aloneOf(planned, name);
  return new RunningAgent(planned, checked(workflow)) as Agent<unknown> as Agent<Answer>;
}

/** An agent whose outcomes have additional fields, read from its final state. */
export interface TellingAgent<More> extends Agent {
  run(...call: Parameters<Agent['run']>): Promise<AgentOutcome<string> & More>;
}

/** Returns the same agent with additional fields in its outcomes. */
export function tellingMore<More extends object>(
  made: Agent,
  more: (state: AgentOutcome['state']) => More,
): TellingAgent<More> {
  const run = made.run.bind(made);
  return Object.assign(made, {
    run: async (...call: Parameters<Agent['run']>) => {
      const ended = await run(...call);
      return Object.assign(ended, more(ended.state));
    },
  });
}

/** Wraps a language model in a workflow with one node. */
function aloneOf(planned: Planned, name: string): PlannedWorkflow {
  const built = plannedNode(planned, { name, output: 'answer', taskParam: 'task' });
  const { plan, bindings } = chainOf({ name, inputs: [inputSpec('task', true)], nodes: [built] });
  return { kind: 'workflow', plan: { ...plan, entry: name }, bindings, taskParam: 'task', answerKey: 'answer' };
}

/** @throws SkeinError `SKEIN_DEFINITION` with all problems */
function checked(workflow: PlannedWorkflow): PlannedWorkflow {
  const plan = ownPlan(workflow.plan);
  const bindings = Object.freeze({ ...workflow.bindings });
  const problems = checkPlan(plan, bindings);
  if (hasErrors(problems)) throw definitionError(problems);
  return { ...workflow, plan, bindings };
}

class RunningAgent implements Agent<unknown>, RunnableGraph {
  readonly plan: Plan;
  readonly bindings: Bindings;
  /** The key of its answer is known. */
  readonly exits = [];
  readonly answerKey: string;
  readonly settings: RunnableGraph['settings'];
  readonly [PLANNED]: Planned;
  /** Figures of the last run. */
  metrics: GraphMetrics | null = null;

  constructor(planned: Planned, workflow: PlannedWorkflow) {
    this.plan = workflow.plan;
    this.bindings = workflow.bindings;
    this.answerKey = workflow.answerKey;
    this.settings = { invariants: [], policy: 'enforce', taskParam: workflow.taskParam };
    this[PLANNED] = planned.kind === 'workflow' ? workflow : planned;
  }

  async run(task: string, options?: GraphRunOptions): Promise<AgentOutcome> {
    return this.ended(await runGraph(this, this.inputs(task), options));
  }

  stream(task: string, options?: GraphRunOptions): AsyncGenerator<GraphEvent, AgentOutcome> {
    const ended = (result: GraphResult): AgentOutcome => this.ended(result);
    return streamGraph({ graph: () => this, inputs: () => this.inputs(task), options, ended });
  }

  toMermaid(): string {
    return draw(this.plan, 'mermaid');
  }

  private inputs(task: unknown): Readonly<Record<string, unknown>> {
    return { [this.settings.taskParam]: checkedTask(task) };
  }

  private ended(result: GraphResult): AgentOutcome {
    const { runId, outcome, answer, success, error, iterations, metrics, state } = result;
    const { questions, census, spent, saved, labels } = result;
    this.metrics = metrics;
    return {
      runId,
      outcome,
      answer,
      value: state[this.answerKey],
      success,
      error,
      state,
      get steps() {
        return result.events;
      },
      iterations,
      metrics,
      questions,
      census,
      spent,
      saved,
      ...present({ labels }),
    };
  }
}

/** Parts of a workflow whose nodes run one after another. */
interface Chain {
  readonly name: string;
  readonly inputs: readonly InputSpec[];
  readonly nodes: readonly BuiltNode[];
}

export function chainOf({ name, inputs, nodes }: Chain): Definition {
  const ids = nodes.map(({ node }) => node.id);
  const plan: Plan = {
    format: 1,
    name,
    notation: 'graph',
    inputs,
    channels: [],
    nodes: nodes.map(({ node }) => node),
    edges: ids.slice(1).map((to, at): Edge => ({ from: ids[at] ?? '', to })),
    routes: [],
  };
  return { plan, bindings: Object.assign({}, ...nodes.map(({ bindings = {} }) => bindings)) as Bindings };
}

/** Returns an input that maps to the state key of the same name. */
export function inputSpec(name: string, required = false): InputSpec {
  return { name, channel: name, required };
}

export function taskNode(
  id: string,
  run: (state: StateOf, step: TaskStep) => unknown,
  more: Partial<TaskNode> = { output: id },
): BuiltNode {
  return { node: { id, kind: 'task', ...more }, bindings: { [id]: run } };
}
