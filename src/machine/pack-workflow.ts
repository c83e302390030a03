import { checkOptions } from '../base/options.js';
import { canonicalHash } from '../base/hash.js';
import type { Json } from '../base/json.js';
import { namesOf } from '../notations/machine/pack-names.js';
import { machinePlan, type MachineOptions } from '../notations/machine/plan/machine-plan.js';
import { isOver, type MachineSetup, type Standing } from '../notations/machine/plan/standing.js';
import type { PackOptions } from '../notations/machine/read-pack.js';
import { completeVariables } from '../notations/machine/variables.js';
import { ownPlan } from '../plan/own-plan.js';
import type { Bindings, Plan } from '../plan/plan.js';
import type { StateOf } from '../plan/builder-input.js';
import { checkedMessage } from './transition-extras.js';
import { PLAN_OPTIONS, checkPlanOptions, checkTools, packOf } from './open-pack.js';

/**
 * Options of {@link packWorkflow}.
 *
 * @example
 * const options = { tools: { lookup }, maxHandOvers: 5 } satisfies PackWorkflowOptions;
 */
export interface PackWorkflowOptions extends Omit<MachineOptions, 'files'>, Pick<PackOptions, 'file'> {
  /** The pack's folder, from which skills and schemas are read. */
  readonly folder?: string;
}

/** A pack as a workflow: the first turn of a conversation. */
interface PackWorkflow {
  readonly plan: Plan;
  readonly bindings: Bindings;
  readonly answerKey: 'text';
}

/**
 * Returns a pack as a workflow, to run on its own or as a node of another one. Its inputs are `message` and the variables of its prompts;
 * it has one turn and returns `text`, `state`, `complete` and `artifacts`.
 *
 * @throws SkeinError `SKEIN_DEFINITION` with all problems of the pack; `SKEIN_USAGE` for a tool without an implementation, and for
 *   options that do not exist
 * @example
 * const support = workflowNode(await packWorkflow(pack), 'support', { taskParam: 'message', projectState: true });
 */
export async function packWorkflow(given: string | object, options: PackWorkflowOptions = {}): Promise<PackWorkflow> {
  checkOptions<PackWorkflowOptions>('packWorkflow', options, PLAN_OPTIONS);
  checkPlanOptions(options);
  const { pack, files } = await packOf(given, options);
  const machine = machinePlan(pack, { ...options, files });
  checkTools(pack, machine.setup, options);
  const { spec, endless } = machine.setup;
  const from = endless ? { prompt: spec.entry } : { state: spec.entry };
  const names = [...namesOf(pack).variables.keys()];
  const plan: Plan = {
    format: 1,
    name: pack.id,
    notation: 'machine',
    inputs: [
      { name: 'message', channel: 'message', required: true },
      ...names.map((name) => ({ name, channel: channelOf(name), required: false })),
    ],
    channels: [],
    nodes: [
      { id: 'variables', kind: 'task', output: 'variables', version: canonicalHash(pack.prompts).slice(0, 22) },
      {
        id: 'turn',
        kind: 'call',
        plan: machine.plan,
        inputs: { message: { channel: 'message' }, variables: { channel: 'variables' } },
        outputs: { said: 'said', position: 'position', artifacts: 'artifacts' },
        writes: ['said', 'position', 'artifacts'],
      },
      {
        id: 'result',
        kind: 'task',
        writes: ['text', 'state', 'complete', 'artifacts'],
        version: canonicalHash(spec.states).slice(0, 22),
      },
    ],
    edges: [
      { from: 'variables', to: 'turn' },
      { from: 'turn', to: 'result' },
    ],
    routes: [],
    output: ['text', 'state', 'complete', 'artifacts'],
  };
  const inner = Object.entries(machine.bindings).map(([key, value]) => [`turn/${key}`, value]);
  const bindings = {
    ...(Object.fromEntries(inner) as Bindings),
    variables: (state: StateOf) => {
      checkedMessage(state['message']);
      return completeVariables(pack, from, givenOf(state, names));
    },
    result: (state: StateOf) => resultOf(machine.setup, state),
  };
  return { plan: ownPlan(plan), bindings: Object.freeze(bindings), answerKey: 'text' };
}

/** A prefix keeps variables apart from the workflow's other channels. */
function channelOf(variable: string): string {
  return `variables.${variable}`;
}

function givenOf(state: StateOf, names: readonly string[]): Record<string, Json> {
  const given = names.map((name) => [name, state[channelOf(name)] as Json | undefined] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Record<string, Json>;
}

function resultOf(setup: MachineSetup, { said = '', position, artifacts = {} }: StateOf): Record<string, unknown> {
  const standing = position as Standing;
  const set = Object.entries(artifacts as Record<string, string>).filter(([, value]) => value !== '');
  return {
    text: said,
    state: standing.machine.current_state,
    complete: isOver(setup, standing),
    artifacts: Object.fromEntries(set),
  };
}
