import { present } from '../../base/json.js';
import type { Position } from '../../base/problem.js';
import type { Template } from '../../lang/values.js';
import { toolKey, type AgentSpec, type FunctionTool } from '../../plan/agent-spec.js';
import type { Security } from '../../plan/security.js';
import type { AgentNode, ChannelSpec, InputSpec, PlanNode } from '../../plan/plan.js';
import type { SupervisionMode, TreeAgent, TreeOverride, TreeWork } from './definition.js';
import { agentSpec } from './inherited.js';
import {
  fieldsRequest,
  goalBlock,
  GOAL_SYSTEM,
  joinedTexts,
  PRIOR_GOALS,
  textTemplate,
  type Visible,
} from './prompts.js';

export interface Workshop {
  /** Fields of agents in fan-outs that are values of their own. */
  readonly single: ReadonlySet<string>;
  /** Returns the function of a tool. Undefined: no tool has one. */
  readonly functionOf?: (tool: FunctionTool) => unknown;
  /** Maximum number of corrections for each supervised step. */
  readonly maxReorients?: number;
  /** The model that judges supervised steps. Undefined: that of the step. */
  readonly judge?: string;
}

/** A goal that ran earlier, as plans inside later steps hold it: one object shared by all of them. */
export interface PriorGoal {
  readonly input: InputSpec;
  readonly channel: ChannelSpec;
}

export interface Placing {
  readonly shop: Workshop;
  readonly id: string;
  readonly channel: string;
  /** The prefix of channels for steps inside it. */
  readonly base: string;
  /** True in a sequence: the step's fields are values of their own. */
  readonly isTop: boolean;
  /** The surrounding override; for the step's own node merged with its own. */
  readonly override: TreeOverride;
  readonly mode: SupervisionMode;
  /** The security of its sequence, which has no node. */
  readonly security?: Security | undefined;
  readonly visible: Visible;
  readonly prior: ReadonlyMap<string, PriorGoal>;
  readonly task?: Template;
  /** Additional requests for its answer, from an enclosing step whose only part it is. */
  readonly more?: AskedMore;
}

/** What an enclosing step requests of the answer, in addition to the step's own text. */
export interface AskedMore {
  /** Appended after the goal. */
  readonly tail?: Template;
  /** Channel of the iterations of the enclosing convergence. */
  readonly history?: string;
  readonly fields?: Fields;
  readonly strict?: boolean | undefined;
  /** The condition for an answer that has no fields. */
  readonly fieldsUnless?: AgentNode['fieldsUnless'] | undefined;
}

/** Fields of an answer by the channels they are written to. */
export type Fields = Readonly<Record<string, string>>;

export interface CompiledStep {
  readonly node: PlanNode;
  readonly bindings: Readonly<Record<string, unknown>>;
  /** Channels it writes, its text first. */
  readonly writes: readonly string[];
  readonly fields: Fields;
}

/** Returns the fields of a step, and of an enclosing step whose only part it is. */
export function allFields({ outputs }: Pick<TreeWork, 'outputs'>, place: Placing): Fields {
  const own = outputs.map((field) => [place.isTop ? field : `${place.base}.${field}`, field] as const);
  return { ...Object.fromEntries(own), ...place.more?.fields };
}

export function compileGoal(goal: TreeWork, place: Placing): CompiledStep {
  const block = goalBlock(goal.name, goal.description, place.visible);
  return agentStep(goal, place, {
    spec: agentSpec(goal.name, [GOAL_SYSTEM], place.override),
    prompt: [...PRIOR_GOALS, ...block, ...(place.more?.tail ?? [])],
  });
}

/** Compiles a persona with a task: its own in a sequence, that of the enclosing goal in a fan-out. */
export function compileAgent(agent: TreeAgent, place: Placing): CompiledStep {
  const task = place.task ?? textTemplate(agent.task ?? '', place.visible);
  return agentStep(agent, place, {
    spec: agentSpec(agent.name, textTemplate(agent.prompt, place.visible), place.override),
    prompt: [...task, ...(place.more?.tail ?? [])],
  });
}

interface Asked extends Pick<TreeWork, 'outputs' | 'strict'> {
  readonly at?: Position;
}

/** Compiles a call of a model for text and fields to a node. */
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
