import type { CallNode, InputSpec, Plan } from '../../plan/plan.js';
import { RUN_CHANNELS } from '../../plan/endings.js';
import type { SourceScalar } from '../../text/nodes.js';
import { NO_TYPE, type StepDef } from './definition.js';
import { conversationsOf, innerPlan, readsOf, writtenIn } from './loops.js';
import type { References } from './references.js';

export const LAST_ID = 'finally';

/** Wraps the steps under `finally` in one step, which sees all others. */
export function lastStep(inner: readonly StepDef[], steps: readonly StepDef[]): readonly StepDef[] {
  const [first] = inner;
  if (first === undefined) return [];
  const dependsOn = steps.flatMap(({ id, at }): readonly SourceScalar[] =>
    id === '' ? [] : [{ kind: 'scalar', value: id, text: id, at, range: [0, 0] }],
  );
  // The plain keys are required by the type, and have no effect here.
  const { keys, at } = first;
  return [{ ...NOTHING, keys, id: LAST_ID, label: LAST_ID, at, dependsOn, last: { steps: inner } }];
}

/** The fields of a step that only contains steps. */
const NOTHING: Omit<StepDef, 'id' | 'label' | 'at' | 'dependsOn' | 'keys' | 'last'> = {
  ...NO_TYPE,
  agent: undefined,
  prompt: undefined,
  schema: undefined,
  condition: undefined,
  skills: [],
  timeoutMs: undefined,
  supervise: undefined,
  budget: undefined,
  security: undefined,
  models: [],
  extraDirs: [],
  choose: [],
  conversation: undefined,
};

/** Builds the node of the steps under `finally`. No edge leads to it, and its failure changes no outcome. */
export function lastNode(
  { at, last }: StepDef,
  course: Pick<Plan, 'nodes' | 'edges' | 'routes'>,
  references: References,
): CallNode {
  const steps = last?.steps ?? [];
  const own = writtenIn(steps, references);
  const talks = conversationsOf(course.nodes);
  const given = [...new Set([...readsOf(course.nodes, []), ...talks])].filter((channel) => !own.has(channel));
  const inputs = given.map((channel): InputSpec => ({ channel, name: channel, required: false }));
  return {
    kind: 'call',
    id: LAST_ID,
    onError: 'ignore',
    writes: talks,
    plan: innerPlan(LAST_ID, inputs, course),
    at,
  };
}

export function lastFields(node: CallNode | undefined): Pick<Plan, 'computed' | 'finally'> {
  return node === undefined ? {} : { computed: RUN_CHANNELS, finally: LAST_ID };
}
