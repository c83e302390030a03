import { present } from '../../../base/json.js';
import {
  WHOLE_STATE,
  type Bindings,
  type MapNode,
  type Plan,
  type Require,
  type SubInputs,
} from '../../../plan/plan.js';
import { isNeeded } from '../../../plan/nodes.js';
import type { NodeFunction } from '../draft.js';
import { innerBindings, type BuiltNode, type NodeSpec } from './planned.js';
import { readParameters } from '../parameters.js';
import { refusal } from '../../../base/problem.js';
import { answerOf, innerOf, type InnerWorkflow } from './workflow-node.js';

/** The default maximum number of items: fan-out is never unbounded. */
const MOST_ITEMS = 1000;

/** How a node runs for each item of a list. */
export interface MapOptions {
  /** The key of the state that holds the list. */
  readonly over: string;
  /** The name of the item in the function or the workflow. Default `item`. */
  readonly item?: string;
  /** The field of an item that names it in addresses, such as `id` or `file.path`. Unique in the list. Default: the index. */
  readonly key?: string;
  /** Maximum number of concurrent items. Default: the limit of the run. */
  readonly concurrency?: number;
  /** Maximum number of items; a longer list fails the node. Default 1000. */
  readonly maxItems?: number;
  /** A failed item fails the node (default), or its result is null. */
  readonly onItemError?: 'fail' | 'continue';
  /** How many items must succeed, or all; failed items cancel no others. They are left out, or null with `onItemError: 'continue'`. */
  readonly require?: Require;
  /** Further keys the function reads, if its first parameter is not destructured. */
  readonly inputs?: readonly string[];
  /** The key or node of a workflow that holds the result of an item. Default: its answer. */
  readonly answerKey?: string;
  /** If true, the result of an item is the whole final state of its workflow. */
  readonly projectState?: boolean;
}

export const MAP_OPTION_NAMES: ReadonlySet<string> = new Set([
  'over',
  'item',
  'key',
  'concurrency',
  'maxItems',
  'onItemError',
  'require',
  'inputs',
  'answerKey',
  'projectState',
] satisfies (keyof MapOptions)[]);

const EACH = 'each';

interface ItemPlan {
  readonly plan: Plan;
  readonly bindings: Bindings;
  readonly result: string;
  /** Keys it requires in addition to the item. */
  readonly needs: readonly string[];
  readonly takes: readonly string[];
}

/**
 * Runs a function or a workflow for each item of a list, with bounded concurrency. The result of the node is the list of results, in the
 * order of the items. A recorded run records each item separately.
 */
export function mapNode(options: MapOptions, body: NodeFunction | InnerWorkflow): NodeSpec<unknown[]> {
  const { over, item = 'item', key, concurrency, maxItems = MOST_ITEMS, onItemError, require } = options;
  const { plan, bindings, result, needs, takes } =
    typeof body === 'function' ? functionPlan(body, item, options) : workflowPlan(body, item, options);
  const inputs: SubInputs = Object.fromEntries([...needs, ...takes].map((name) => [name, { channel: name }]));
  return {
    build(name, output = name): BuiltNode {
      const node: MapNode = {
        id: name,
        kind: 'map',
        plan,
        over: { channel: over },
        item,
        inputs,
        result,
        output,
        maxItems,
        ...(key === undefined ? {} : { key: key.split('.') }),
        ...(concurrency === undefined ? {} : { concurrency }),
        ...present({ onItemError, require }),
      };
      const work = typeof body === 'function' ? EACH : undefined;
      return present({ node, bindings: innerBindings(name, bindings), work, reads: [over, ...needs], mayRead: takes });
    },
  };
}

function functionPlan(body: NodeFunction, item: string, options: MapOptions): ItemPlan {
  const reading =
    options.inputs === undefined
      ? readParameters(body)
      : { names: options.inputs.map((name) => ({ name, optional: false })) };
  if ('refused' in reading) {
    const hint = `write it as ({ ${item} }) => ..., or say what it reads: { inputs: [${JSON.stringify(item)}] }`;
    throw refusal(
      'unreadable-parameters',
      `the function of a map does not name what it reads: ${reading.refused}`,
      hint,
    );
  }
  const others = reading.names.filter(({ name }) => name !== item);
  const names = new Set([item, ...others.map(({ name }) => name)]);
  const result = names.has('result') ? 'result of an item' : 'result';
  const inputs = [...names].map((name) => ({ name, channel: name, required: name === item }));
  const plan: Plan = {
    format: 1,
    name: 'item',
    notation: 'graph',
    inputs,
    channels: [],
    nodes: [{ id: EACH, kind: 'task', output: result }],
    edges: [],
    routes: [],
  };
  return {
    plan,
    bindings: { [EACH]: body },
    result,
    needs: others.filter(({ optional }) => !optional).map(({ name }) => name),
    takes: others.filter(({ optional }) => optional).map(({ name }) => name),
  };
}

function workflowPlan(body: InnerWorkflow, item: string, options: MapOptions): ItemPlan {
  const by = `the map over ${JSON.stringify(options.over)}`;
  const inner = innerOf(body, by);
  const { plan, bindings } = inner;
  const result = options.projectState === true ? WHOLE_STATE : answerOf(inner, options.answerKey, by);
  const others = plan.inputs.filter((input) => input.channel !== item);
  return {
    plan,
    bindings,
    result,
    needs: others.filter(isNeeded).map((input) => input.channel),
    takes: others.filter((input) => !isNeeded(input)).map((input) => input.channel),
  };
}
