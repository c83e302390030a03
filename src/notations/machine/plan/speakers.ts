import { present } from '../../../base/json.js';
import type { ValueRef } from '../../../lang/values.js';
import { toolKey, type AgentSpec } from '../../../plan/agent-spec.js';
import { guideKey } from '../../../plan/guide.js';
import type { AgentNode, Bindings, PlanNode } from '../../../plan/plan.js';
import { packComposition } from '../compositions/pack-composition.js';
import { INPUT } from '../compositions/references.js';
import { OUTPUT } from '../compositions/step-functions.js';
import type { PackFiles } from '../pack-files.js';
import { packTools } from '../pack-tools.js';
import type { Pack, Prompt } from '../pack.js';
import { promptAgent, type PromptExtras } from '../prompt-agent.js';
import { stateSettings } from '../settings.js';
import { SKILL_TOOL, skillsOf, usedSkills } from '../skills.js';
import { stateSupervision } from '../supervising.js';
import { guideOf } from './guide.js';
import { isTransient, stateOf, machineAt, type MachineSetup, type MachineState, type Standing } from './standing.js';
import { valueText } from '../../../lang/value-text.js';
import type { StateOf } from '../../../plan/builder-input.js';
import { systemClock } from '../../../base/clock.js';

export interface Speaker {
  readonly state: string;
  readonly node: PlanNode;
  readonly functions: Bindings;
}

export interface SpeakerParts {
  readonly pack: Pack;
  readonly setup: MachineSetup;
  readonly options: PromptExtras & { readonly recent?: number; readonly files?: PackFiles };
  /** Digest of the workflow. */
  readonly version: string;
  /** Channels that a state may write. */
  readonly writes: readonly string[];
}

/** Returns a state's nodes: an agent, with another that enters a transient state; or a composition, with a node that says its output. */
export function speakers(parts: SpeakerParts, state: string): readonly Speaker[] {
  const { pack, setup } = parts;
  const { prompt_task: prompt = '', orchestration, composition = '' } = stateOf(setup, state);
  const all =
    orchestration === 'composition'
      ? composed(parts, state, composition)
      : Object.hasOwn(pack.prompts, prompt)
        ? agents(parts, state, prompt)
        : [];
  return all.map((speaker) => {
    const { node } = speaker;
    const settings = node.kind === 'task' ? {} : stateSettings(pack, state);
    const own = { ...stateSupervision(pack, state, node.kind), ...settings };
    return { ...speaker, node: { ...node, ...own } };
  });
}

function agents(parts: SpeakerParts, state: string, prompt: string): readonly Speaker[] {
  const { setup, options, version, writes } = parts;
  const { agent, functions } = agentOf(parts, state, prompt);
  const { speaks, enters } = setup.nodes;
  const isAside = isTransient(setup, state);
  const channel = isAside ? 'aside' : 'conversation';
  const nodeOf = (id: string, more: Pick<AgentNode, 'prompt'> & { readonly conversation?: object }): Speaker => ({
    state,
    functions: { ...functions(id), [guideKey(id)]: guideOf(setup) },
    node: {
      id,
      kind: 'agent',
      agent,
      join: 'each',
      version,
      output: 'said',
      choice: 'code',
      writes,
      prompt: more.prompt,
      conversation: { channel, mark: { state }, ...more.conversation },
    },
  });
  const { recent } = options;
  const speaking = nodeOf(speaks.get(state) ?? '', { prompt: [], conversation: present({ recent }) });
  if (!isAside) return [speaking];
  return [
    speaking,
    nodeOf(enters.get(state) ?? '', { prompt: [{ channel: 'message' }], conversation: { afresh: true } }),
  ];
}

function agentOf({ pack, setup, options }: SpeakerParts, state: string, prompt: string) {
  const tools = packTools(pack, pack.prompts[prompt] as Prompt, options);
  const { files } = options;
  const skills = usedSkills(files === undefined ? [] : skillsOf(stateOf(setup, state).skills, files.skills));
  const own: AgentSpec = promptAgent(pack, prompt, {
    ...options,
    skills: [...(options.skills ?? []), ...skills.texts],
  });
  const agent = skills.tool === undefined ? own : { ...own, functions: [...(own.functions ?? []), skills.tool] };
  const functions = (id: string): Bindings => ({
    ...tools.bindings(id),
    ...(skills.tool === undefined ? {} : { [toolKey(id, SKILL_TOOL)]: skills.activate }),
  });
  return { agent, functions };
}

/** Builds a composition that answers the message of a turn. Its plan is a step of the turn's plan. */
function composed(
  { pack, setup, options, version, writes }: SpeakerParts,
  state: string,
  name: string,
): readonly Speaker[] {
  const { plan, bindings } = packComposition(pack, name, { ...options, schemas: options.files?.schemas ?? new Map() });
  const { speaks, ends } = setup.nodes;
  const [id, end] = [speaks.get(state) ?? '', ends.get(state) ?? ''];
  const inside = Object.entries(bindings).map(([key, value]) => [`${id}/${key}`, value] as const);
  const inputs: [string, ValueRef][] = plan.inputs.map(({ channel }) => [
    channel,
    { channel: channel === INPUT ? 'message' : channel },
  ]);
  return [
    {
      state,
      functions: Object.fromEntries(inside),
      node: {
        id,
        kind: 'call',
        plan,
        join: 'each',
        version,
        inputs: Object.fromEntries(inputs),
        outputs: { [COMPOSED]: OUTPUT },
        writes: [COMPOSED],
      },
    },
    {
      state,
      functions: { [end]: composedBy(setup, state, name) },
      node: { id: end, kind: 'task', join: 'each', version, writes },
    },
  ];
}

/** The channel of the turn's plan that holds a composition's output. */
export const COMPOSED = 'composed';

/** Returns the function after a composition, which says its output as a message of its state. The composition's time counts. */
export function composedBy(setup: MachineSetup, name: string, composition: string): (state: StateOf) => object {
  return (seen) => {
    const { position, artifacts, [COMPOSED]: value } = seen as MachineState & { readonly [COMPOSED]?: unknown };
    if (position === undefined) throw new TypeError('a state speaks after the node that begins a turn');
    const { at = systemClock.now(), ...standing } = position;
    const times = [at];
    const machine = machineAt(setup, position, artifacts, { now: () => times.pop() ?? systemClock.now() });
    const text = valueText(value);
    const now: Standing = { ...standing, machine: machine.account(), spoken: true };
    const message = { role: 'assistant', text, toolCalls: [], by: composition, state: name };
    return { said: text, position: now, ...(isTransient(setup, name) ? {} : { conversation: [message] }) };
  };
}
