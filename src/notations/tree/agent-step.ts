import { present } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import type { Template } from '../../lang/values.js';
import type { AgentSpec, FunctionTool } from '../../plan/agent-spec.js';
import { toolKey } from '../../plan/agent-spec.js';
import type { Security } from '../../plan/security.js';
import type { AgentNode, ChannelSpec, InputSpec, PlanNode } from '../../plan/plan.js';
import type { SupervisionMode, TreeAgent, TreeOverride, TreeWork } from './definition.js';
import { agentSpec } from './inherited.js';
import { fieldsRequest, goalBlock, GOAL_SYSTEM, joinedTexts, PRIOR_GOALS, textTemplate } from './prompts.js';
import type { Visible } from './prompts.js';

/** What all steps of a tree are made with. */
export interface Workshop {
  /** Fields of agents in fan-outs that are values of their own. */
  readonly single: ReadonlySet<string>;
  /** The function of a tool. Absent: no tool has one. */
  readonly functionOf?: (tool: FunctionTool) => unknown;
  /** Corrections at most, of each supervised step. */
  readonly maxReorients?: number;
  /** The model that judges supervised steps. Absent: that of the step. */
  readonly judge?: string;
}

/** A goal that ran before, as plans inside of later steps have it: one object for all of them. */
export interface PriorGoal {
  readonly input: InputSpec;
  readonly channel: ChannelSpec;
}

/** Where a step is put. */
export interface Placing {
  readonly shop: Workshop;
  /** Of its node. */
  readonly id: string;
  /** Takes its text. */
  readonly channel: string;
  /** What the channels of those inside of it begin with. */
  readonly base: string;
  /** It stands in a sequence: its fields are values of their own. */
  readonly isTop: boolean;
  /** What is around it; for the step itself with its own. */
  readonly override: TreeOverride;
  readonly mode: SupervisionMode;
  /** Of the sequence that it stands in, which is no node. */
  readonly security?: Security | undefined;
  readonly visible: Visible;
  /** Prior goals by name, in the order of the run. */
  readonly prior: ReadonlyMap<string, PriorGoal>;
  /** The task of an agent in a fan-out. */
  readonly task?: Template;
  /** What its answer is asked for in addition, by the step around it whose only part it is. */
  readonly more?: AskedMore;
}

/** What a step asks of the answer that is its own, in addition to what its text says. */
export interface AskedMore {
  /** Stands behind the goal. */
  readonly tail?: Template;
  /** Channel of the iterations of the convergence around. */
  readonly history?: string;
  readonly fields?: Fields;
  readonly strict?: boolean | undefined;
  /** An answer that has no fields. */
  readonly fieldsUnless?: AgentNode['fieldsUnless'] | undefined;
}

/** Fields of an answer by the channels that take them. */
export type Fields = Readonly<Record<string, string>>;

/** A step as a node. */
export interface CompiledStep {
  readonly node: PlanNode;
  readonly bindings: Readonly<Record<string, unknown>>;
  /** Channels that it writes, its text first. */
  readonly writes: readonly string[];
  /** Fields of agents, its own and those inside of it. */
  readonly fields: Fields;
}

/** The fields of a step, and of the one around it whose only part it is. */
export function allFields({ outputs }: Pick<TreeWork, 'outputs'>, place: Placing): Fields {
  const own = outputs.map((field) => [place.isTop ? field : `${place.base}.${field}`, field] as const);
  return { ...Object.fromEntries(own), ...place.more?.fields };
}

/** A goal that the model itself works on. */
export function compileGoal(goal: TreeWork, place: Placing): CompiledStep {
  const block = goalBlock(goal.name, goal.description, place.visible);
  return agentStep(goal, place, {
    spec: agentSpec(goal.name, [GOAL_SYSTEM], place.override),
    prompt: [...PRIOR_GOALS, ...block, ...(place.more?.tail ?? [])],
  });
}

/** A persona with a task: in a sequence its own one, in a fan-out that of the goal around it. */
export function compileAgent(agent: TreeAgent, place: Placing): CompiledStep {
  const task = place.task ?? textTemplate(agent.task ?? '', place.visible);
  return agentStep(agent, place, {
    spec: agentSpec(agent.name, textTemplate(agent.prompt, place.visible), place.override),
    prompt: [...task, ...(place.more?.tail ?? [])],
  });
}

/** What of a step an agent is made of. */
interface Asked extends Pick<TreeWork, 'outputs' | 'strict'> {
  readonly at?: Position;
}

/** A model that is asked for text and fields, as a node. */
export function agentStep(
  asked: Asked,
  place: Placing,
  { spec, prompt }: { readonly spec: AgentSpec; readonly prompt: Template },
): CompiledStep {
  const { id, channel, shop, more = {} } = place;
  const fields = allFields(asked, place);
  const isStrict = asked.strict === true || more.strict === true;
  const parsed = { fields, fieldsStrict: isStrict ? (true as const) : undefined, fieldsUnless: more.fieldsUnless };
  const bound = (spec.functions ?? []).map((tool) => [toolKey(id, tool.name), shop.functionOf?.(tool)] as const);
  return {
    node: present({
      id,
      kind: 'agent' as const,
      agent: { ...spec, instructions: joinedTexts(spec.instructions) },
      prompt: joinedTexts([...prompt, ...fieldsRequest([...new Set(Object.values(fields))])]),
      output: channel,
      ...(Object.keys(fields).length === 0 ? {} : parsed),
      at: asked.at,
    }),
    bindings: Object.fromEntries(bound),
    writes: [...new Set([channel, ...Object.keys(fields)])],
    fields,
  };
}
