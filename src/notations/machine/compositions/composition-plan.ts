import { canonicalHash } from '../../../base/hash.js';
import { present, type Json } from '../../../base/json.js';
import type { AgentSpec, FunctionTool } from '../../../plan/agent-spec.js';
import { definePlan } from '../../../plan/builder.js';
import type { AgentInput, Definition, NodeInput, StateOf, TaskStep } from '../../../plan/builder-input.js';
import { madeOf } from '../../../plan/made-of.js';
import type { Bindings, TaskNode } from '../../../plan/plan.js';
import { calledTool, toolStepOf } from '../../graph/nodes/tool-node.js';
import type { LostCall, Probed } from '../../../plan/probe.js';
import type { ToolStep } from '../../graph/nodes/tool.js';
import type { Composition, CompositionStep } from '../pack.js';
import { INPUT, filledIn } from './references.js';
import {
  AROUND,
  OUTPUT,
  checkInput,
  chosen,
  conditionOf,
  inputOf,
  outputOf,
  prepared,
  reduced,
  scopeOf,
  variablesOf,
  wholeOutput,
  withVariables,
} from './step-functions.js';
import { flattened, keptInOrder, waitsOf, type FlatStep } from './step-order.js';

export interface CompositionParts {
  /** Returns the agent of a prompt with the named ones of its tools, and their implementations for a node. */
  agent(prompt: string, tools: readonly string[]): PromptInUse;
  tool(name: string): ToolInUse;
  schema(path: string): Json;
}

/** An agent whose templates read the channel `variables`. */
export interface PromptInUse {
  readonly spec: AgentSpec;
  bindings(node: string): Bindings;
}

export interface ToolInUse {
  /** With `read`, its place in the order of steps does not matter. */
  readonly effect: NonNullable<TaskNode['effect']>;
  readonly trust: FunctionTool['trust'];
  readonly call: (input: Json, step: ToolStep) => unknown;
  /** Finds out what became of an interrupted call. */
  readonly probe?: (input: Json, lost: LostCall) => Promise<Probed>;
}

/**
 * Builds the plan of a composition (statements 44 to 46, A11). Steps wait for those they name, and otherwise run at the same time; steps
 * with effects keep their order. The inputs are `input` and `variables`, the values of the pack's variables. The output is `output`.
 */
export function compositionPlan(name: string, composition: Composition, parts: CompositionParts): Definition {
  const builder = new CompositionBuilder(composition, parts);
  const { plan, bindings } = definePlan({
    name,
    ...present({ description: composition.description }),
    inputs: [INPUT, ...Object.entries(AROUND).map(([channel, value]) => ({ name: channel, default: value }))],
    nodes: builder.nodes(),
    edges: builder.edges(),
    output: [OUTPUT],
  });
  return { plan, bindings: { ...bindings, ...builder.tools } };
}

class CompositionBuilder {
  private readonly flat: readonly FlatStep[];
  readonly tools: Record<string, unknown> = {};
  private readonly last = `${OUTPUT}.whole`;

  constructor(
    private readonly composition: Composition,
    private readonly parts: CompositionParts,
  ) {
    this.flat = flattened(composition.steps);
  }

  nodes(): readonly NodeInput<StateOf>[] {
    return [...this.inputCheck(), ...this.flat.flatMap((one) => this.nodesOf(one)), this.whole()];
  }

  edges(): readonly (readonly string[])[] {
    const waits = waitsOf(this.composition.steps);
    const effects = this.flat.filter(({ step }) => this.changes(step));
    const inOrder = keptInOrder(effects, waits).map(([from, to]) => [from, this.firstOf(to)]);
    const explicit = this.flat.flatMap(({ step: { id } }) =>
      [...(waits.get(id) ?? [])].map((before) => [before, this.firstOf(id)]),
    );
    const agents = this.flat.filter(({ step }) => isAgent(step)).map(({ step: { id } }) => [inputOf(id), id]);
    const checked = this.inputCheck().flatMap((check) =>
      this.flat.map(({ step: { id } }) => [check.id, this.firstOf(id)]),
    );
    return [...checked, ...explicit, ...inOrder, ...agents, ...this.flat.map(({ step: { id } }) => [id, this.last])];
  }

  private changes({ tool, tools = [] }: CompositionStep): boolean {
    return (tool === undefined ? tools : [tool]).some((name) => this.parts.tool(name).effect !== 'read');
  }

  /** Returns the node that waits for a step's dependencies. */
  private firstOf(id: string): string {
    const isPrepared = this.flat.some(({ step }) => step.id === id && isAgent(step));
    return isPrepared ? inputOf(id) : id;
  }

  private nodesOf(one: FlatStep): readonly NodeInput<StateOf>[] {
    const { step, parallel } = one;
    const when = conditionOf(one, this.composition.steps);
    const around = { join: 'settled' as const, ...(when === undefined ? {} : { when }) };
    const failing = parallel === undefined ? {} : { onError: 'continue' as const };
    const { id, description } = step;
    // All steps share the same functions, so the version comes from the step's data.
    const code = { ...present({ label: description }), version: canonicalHash(step) };
    if (step.kind === 'branch')
      return [{ id, ...around, ...code, output: outputOf(id), run: (state) => chosen(step, scopeOf(state)) }];
    if (step.kind === 'parallel')
      return [
        { id, ...around, ...code, output: outputOf(id), run: (state, { arrivals }) => reduced(step, state, arrivals) },
      ];
    const retry = retryOf(step);
    if (step.kind === 'tool') {
      const { tool = '', args = {} } = step;
      const { effect, trust, call, probe } = this.parts.tool(tool);
      const called = calledTool(present({ name: tool, trust }));
      const run = async (state: StateOf, task: TaskStep): Promise<unknown> =>
        (await call(
          filledIn(args, scopeOf(state)),
          toolStepOf(task, () => state),
        )) ?? null;
      return [
        {
          id,
          ...around,
          ...failing,
          ...retry,
          ...code,
          ...called,
          effect,
          ...(probe && { probe: (state, lost) => probe(filledIn(args, scopeOf(state)), lost) }),
          output: outputOf(id),
          run: madeOf(run, [call]),
        },
      ];
    }
    const prepare = (state: StateOf): Record<string, Json> => prepared(step, state);
    return [
      {
        id: inputOf(id),
        ...around,
        ...failing,
        writes: [inputOf(id), variablesOf(id)],
        version: canonicalHash(step),
        run: prepare,
      },
      {
        id,
        kind: 'agent',
        ...failing,
        ...retry,
        ...present({ label: description }),
        output: outputOf(id),
        ...this.agentOf(step),
      },
    ];
  }

  private agentOf(step: CompositionStep): Pick<AgentInput<StateOf>, 'agent' | 'prompt'> {
    const { id, prompt_task = '', tools = [], output_schema, kind, termination } = step;
    const used = this.parts.agent(prompt_task, kind === 'agent' ? tools : []);
    Object.assign(this.tools, used.bindings(id));
    const output = output_schema === undefined ? undefined : { name: id, schema: this.parts.schema(output_schema) };
    const { max_steps: rounds, tool_called: called } = termination ?? {};
    // At its round limit, the agent ends with what it said; without one, the cap of all agents applies.
    const until = termination === undefined ? undefined : present({ rounds, tool: called });
    const maxTurns = rounds === undefined ? undefined : rounds + 1;
    return {
      agent: {
        ...withVariables(used.spec, variablesOf(id)),
        allowEmpty: true,
        ...present({ output, until, maxTurns }),
      },
      prompt: [{ channel: inputOf(id) }],
    };
  }

  /** Returns the node that checks the input and that all steps wait for, if the input has a schema. */
  private inputCheck(): readonly NodeInput<StateOf>[] {
    const { input_schema } = this.composition;
    if (input_schema === undefined) return [];
    const schema = this.parts.schema(input_schema);
    const run = (state: StateOf): object => checkInput(schema, state);
    return [{ id: `${INPUT}.checked`, version: canonicalHash(schema), writes: [], run }];
  }

  private whole(): NodeInput<StateOf> {
    const { output_schema } = this.composition;
    const schema = output_schema === undefined ? undefined : this.parts.schema(output_schema);
    const version = canonicalHash([this.composition as unknown as Json, schema ?? null]);
    const run = (state: StateOf): unknown => wholeOutput(this.composition, schema, state);
    return { id: this.last, join: 'settled', output: OUTPUT, version, run };
  }
}

function isAgent({ kind }: CompositionStep): boolean {
  return kind === 'prompt' || kind === 'agent';
}

function retryOf({ modifiers }: CompositionStep): Pick<NodeInput<StateOf>, 'retry'> {
  const attempts = modifiers?.retry?.max_attempts ?? 1;
  return attempts > 1 ? { retry: { retries: attempts - 1, on: 'any' } } : {};
}
