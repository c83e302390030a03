import { checkOptions } from '../../base/options.js';
import { SkeinError } from '../../base/errors.js';
import { ownValue } from '../../base/json.js';
import { parseJsonText } from '../../lang/json-path.js';
import { valueText } from '../../lang/value-text.js';
import { agentNode } from '../../notations/graph/nodes/agent-node.js';
import type { AnyAgent } from '../../notations/graph/nodes/call-agent.js';
import { innerBindings } from '../../notations/graph/nodes/planned.js';
import type { StateOf } from '../../plan/builder-input.js';
import { madeOf } from '../../plan/made-of.js';
import type { MapNode } from '../../plan/plan.js';
import { agentOf, chainOf, inputSpec, taskNode, tellingMore, type Agent, type AgentOutcome } from './planned-agent.js';

/** Options of {@link planAndExecute}. */
export interface PlanAndExecuteOptions {
  /** Returns the steps: a JSON list, an object with `steps`, `plan` or `tasks`, or one step per line. */
  readonly planner: AnyAgent;
  /** Receives one step at a time. */
  readonly executor: AnyAgent;
  /** Whether a failed step ends the run. Default true. Otherwise the step's result is null, and the run is degraded. */
  readonly stopOnError?: boolean;
  /** Maximum number of steps; more fail the run. Default 50. */
  readonly maxSteps?: number;
  /** Number of steps that run at once. Default 1: one after another. */
  readonly concurrency?: number;
  readonly name?: string;
}

/** How a planned run ended. */
export interface PlanOutcome extends AgentOutcome<string> {
  /** The planner's steps. */
  readonly tasks: readonly string[];
  /** The answers in the order of the steps; null for a failed step. */
  readonly results: readonly unknown[];
}

/** A planner and an executor as one agent. */
export interface PlanAndExecute extends Agent {
  run(...call: Parameters<Agent['run']>): Promise<PlanOutcome>;
}

/**
 * Lets a planner list the steps and an executor carry them out one by one. The answer joins the results of the steps with empty lines.
 *
 * @throws SkeinError `SKEIN_DEFINITION` for an agent that can't be a node, `SKEIN_USAGE` for options that do not exist
 * @example
 * const worker = planAndExecute({ planner, executor, stopOnError: false });
 * const { tasks, results } = await worker.run('Describe looms and mills.');
 */
export function planAndExecute(options: PlanAndExecuteOptions): PlanAndExecute {
  checkOptions<PlanAndExecuteOptions>('planAndExecute', options, {
    planner: 'an object',
    executor: 'an object',
    stopOnError: 'true or false',
    maxSteps: 'a number',
    concurrency: 'a number',
    name: 'text',
  });
  const { planner, executor, stopOnError = true, maxSteps = 50, concurrency = 1, name = 'plan-and-execute' } = options;
  const doing = chainOf({
    name: 'step',
    inputs: [inputSpec('step', true)],
    nodes: [agentNode(executor, { name: 'executor', taskParam: 'step' }).build('executor', 'result')],
  });
  const execute: MapNode = {
    id: 'execute',
    kind: 'map',
    plan: doing.plan,
    over: { channel: 'tasks' },
    item: 'step',
    result: 'result',
    output: 'results',
    maxItems: maxSteps,
    concurrency,
    onItemError: stopOnError ? 'fail' : 'continue',
  };
  const { plan, bindings } = chainOf({
    name,
    inputs: [inputSpec('task', true)],
    nodes: [
      agentNode(planner, { name: 'planner' }).build('planner', 'plan'),
      taskNode(
        'steps',
        madeOf(({ plan: text }: StateOf) => readSteps(text), [readSteps]),
        { output: 'tasks' },
      ),
      { node: execute, bindings: innerBindings(execute.id, doing.bindings) },
      taskNode('answer', joined),
    ],
  });
  const made = agentOf<string>({ kind: 'workflow', plan, bindings, taskParam: 'task', answerKey: 'answer' }, name);
  return tellingMore(made, ({ tasks, results }) => ({ tasks: listOf(tasks).map(String), results: listOf(results) }));
}

function joined({ results }: StateOf): string {
  return listOf(results)
    .filter((result) => result !== null)
    .map(valueText)
    .join('\n\n');
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** @throws SkeinError `SKEIN_STEP_FAILED` if the answer contains no steps */
export function readSteps(answer: unknown): readonly string[] {
  const value = typeof answer === 'string' ? parseJsonText(answer) : answer;
  const list = Array.isArray(value)
    ? value
    : ['steps', 'plan', 'tasks'].map((key) => ownValue(value, key)).find(Array.isArray);
  const steps = list === undefined ? linesOf(valueText(answer)) : listOf(list).map(stepText);
  const said = steps.filter((step) => step !== '');
  if (said.length > 0) return said;
  throw new SkeinError('SKEIN_STEP_FAILED', 'the planner named no steps', {
    hint: 'it answers with a JSON list, an object with "steps", or one step a line',
  });
}

function stepText(step: unknown): string {
  if (typeof step === 'string') return step.trim();
  const named = ['step', 'task', 'description', 'title'].map((key) => ownValue(step, key));
  return valueText(named.find((each) => typeof each === 'string') ?? step).trim();
}

/** Splits a text into lines without bullets and numbers. */
function linesOf(text: string): readonly string[] {
  return text.split('\n').map((line) => line.replace(/^\s*(?:[-*+•]|\d+[.)])\s+/, '').trim());
}
