import { checkOptions } from '../../../base/options.js';
import type { StateOf, TaskStep } from '../../../plan/builder-input.js';
import { propertyNames, requiredNames } from '../../../lang/coerce.js';
import { CLEAR, cleared, PLACE, placeOf, type HasPlace, type NodeCall } from '../../../plan/tool-use.js';
import type { FunctionTool } from '../../../plan/agent-spec.js';
import type { TaskNode } from '../../../plan/plan.js';
import { madeOf, partsOf, stateOfTool } from '../../../plan/made-of.js';
import { probeKey, type LostCall } from '../../../plan/probe.js';
import type { NodeSpec } from './planned.js';
import { callTool, functionTool, probeTool, type ToolDefinition, type ToolStep } from './tool.js';

export interface ToolNodeOptions {
  /** The tool's name in messages. Default: its own name. */
  readonly name?: string;
}

/**
 * Uses a tool as a node. Its arguments are the keys of the state with the names in its schema. Its result is the result of the node.
 *
 * @example
 * const flow = graph<{ a: string; b: string }>().node('sum', toolNode(add)).setEntry('sum');
 * console.log((await flow.run({ a: '1', b: '2' })).state.sum); // 3
 */
export function toolNode<Result>(
  definition: ToolDefinition<never, Result>,
  options: ToolNodeOptions = {},
): NodeSpec<Awaited<Result>> {
  checkOptions<ToolNodeOptions>('toolNode', options, { name: 'text' });
  const { name: called = definition.name } = options;
  const { input: schema, effect } = functionTool(definition);
  const described = schema as Parameters<typeof callTool>[1];
  const names = propertyNames(described);
  const required = requiredNames(described);
  const [execute, approve] = partsOf(definition, ['execute', 'approve']);
  const givenBy = (state: StateOf): StateOf =>
    Object.fromEntries(names.flatMap((name) => (state[name] === undefined ? [] : [[name, state[name]] as const])));
  const probe = (state: StateOf, lost: LostCall): Promise<unknown> =>
    probeTool(definition, described, givenBy(state), lost);
  const body = (state: StateOf, step: TaskStep): Promise<unknown> => {
    const given = givenBy(state);
    const io = toolStepOf(step, () => stateOfTool(execute, state));
    return callTool({ ...bound(definition), name: called }, described, given, io);
  };
  return {
    build: (name, output = name) => ({
      node: {
        id: name,
        kind: 'task',
        output,
        ...calledTool(definition),
        effect,
        ...(definition.probe && { probe: 'code' as const }),
      },
      bindings: {
        ...(definition.probe && { [probeKey(name)]: probe }),
        [name]: madeOf(body, [execute, JSON.stringify(described), ...(typeof approve === 'function' ? [approve] : [])]),
      },
      reads: required,
      mayRead: names.filter((each) => !required.includes(each)),
    }),
  };
}

export function calledTool({ name, trust }: Pick<FunctionTool, 'name' | 'trust'>): CalledByFunction {
  return { callsTool: name, ...(trust === 'trusted' ? { trustsTool: true } : {}) };
}

type CalledByFunction = Pick<TaskNode, 'callsTool' | 'trustsTool'>;

/** Builds the step object of a tool that a node calls directly. */
export function toolStepOf(step: TaskStep, stateOf: () => StateOf): ToolStep & HasPlace {
  const { signal, idempotencyKey, runOptions } = step;
  return {
    [PLACE]: placeOf(step),
    ...(CLEAR in step && { [CLEAR]: (call: NodeCall) => cleared(step, call) }),
    signal,
    idempotencyKey,
    runOptions,
    emit: step.emit.bind(step),
    ask: step.ask.bind(step),
    get state() {
      return stateOf();
    },
  };
}

/** Copies a definition with its methods, which are not own properties of a class instance. */
function bound(definition: ToolDefinition): ToolDefinition {
  return {
    ...definition,
    inputSchema: definition.inputSchema,
    execute: (input, step) => definition.execute(input, step),
  };
}
