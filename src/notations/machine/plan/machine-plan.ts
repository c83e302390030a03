import { SkeinError } from '../../../base/errors.js';
import { canonicalHash } from '../../../base/hash.js';
import { present } from '../../../base/json.js';
import { didYouMean } from '../../../base/suggest.js';
import type { ArtifactLimits } from '../../../machine/pure/artifacts.js';
import { specOf } from '../../../machine/pure/read-spec.js';
import type { Spec } from '../../../machine/pure/spec.js';
import { tableOf } from '../../../machine/pure/state-table.js';
import { ownPlan } from '../../../plan/own-plan.js';
import { END, type Bindings, type ChannelSpec, type InputSpec, type Plan, type Route } from '../../../plan/plan.js';
import { artifactNames } from '../pack-names.js';
import type { PackFiles } from '../pack-files.js';
import { packDeclarations } from '../check-pack.js';
import { packSettings } from '../settings.js';
import type { Pack } from '../pack.js';
import type { PromptExtras } from '../prompt-agent.js';
import { beginOf } from './begin.js';
import { COMPOSED, speakers } from './speakers.js';
import { stateNodes, type MachineSetup } from './standing.js';

/** How a pack is compiled to a plan. */
export interface MachineOptions extends PromptExtras, ArtifactLimits {
  /** The files read beneath the folder of the pack. */
  readonly files?: PackFiles;
  /** Talks only with this prompt, ignoring the workflow. */
  readonly prompt?: string;
  /** The number of most recent messages sent. */
  readonly recent?: number;
  /** Maximum transitions that models may fire in one turn. Default: the limit of the pack's budget, or 100 without a budget. */
  readonly maxHandOvers?: number;
  /** Whether an outside event without `context` passes the latest messages to the next state. Default false. */
  readonly carryForward?: boolean;
}

export interface MachinePlan {
  readonly plan: Plan;
  readonly bindings: Bindings;
  readonly setup: MachineSetup;
}

const HAND_OVERS = 100;

/** The upper bound of a turn in a pack with its own limits. */
const MOST_HAND_OVERS = 1_000_000;

/** Nodes of a turn that are not hand-overs: the one that begins it, and the states that speak first and last. */
const OTHER_STEPS = 3;

export const BEGIN = 'begin';

const CHANNELS: readonly ChannelSpec[] = [
  { name: 'conversation', reducer: 'extend' },
  { name: 'aside', reducer: 'extend' },
  { name: 'log', reducer: 'extend' },
  { name: 'artifacts', reducer: 'mergeDict' },
  { name: 'position' },
  { name: 'workflow_context' },
  { name: 'said' },
  { name: COMPOSED },
];

/** The inputs of a turn. Absent ones are null, because a thread would keep the value of the previous turn. */
const INPUTS: readonly InputSpec[] = ['message', 'event', 'context', 'data', 'start'].map((name) => ({
  name,
  channel: name,
  required: false,
  default: null,
}));

const VARIABLES: InputSpec = { name: 'variables', channel: 'variables', required: false, default: {} };

/** Builds the plan of a turn: a node that begins it, and an agent for each state. The pack must have no errors. */
export function machinePlan(pack: Pack, options: MachineOptions = {}): MachinePlan {
  const setup = setupOf(pack, options);
  const { spec, nodes: ids } = setup;
  const states = Object.keys(spec.states);
  const version = canonicalHash([spec.entry, spec.states, setup.endless, setup.carryForward]).slice(0, 22);
  const writes = CHANNELS.map(({ name }) => name);
  const speaking = states.flatMap((state) => speakers({ pack, setup, options, version, writes }, state));
  const bindings: Record<string, unknown> = { [BEGIN]: beginOf(setup) };
  for (const { functions } of speaking) Object.assign(bindings, functions);
  const all = speaking.map(({ node }) => node.id);
  const known = new Set(all);
  const ends = new Set(ids.ends.values());
  const plan: Plan = {
    format: 1,
    name: pack.id,
    notation: 'machine',
    inputs: [...INPUTS, VARIABLES],
    closedState: true,
    channels: CHANNELS,
    nodes: [{ id: BEGIN, kind: 'task', version }, ...speaking.map(({ node }) => node)],
    edges: states.flatMap((state) => {
      const [from, to] = [ids.speaks.get(state) ?? '', ids.ends.get(state) ?? ''];
      return known.has(to) ? [{ from, to }] : [];
    }),
    routes: [
      { from: BEGIN, choose: 'result', targets: [...all.filter((id) => !ends.has(id)), END] },
      ...speaking
        .filter(({ node }) => node.kind === 'agent')
        .map(({ node, state }): Route => ({
          from: node.id,
          choose: 'result',
          targets: [
            ...targetsOf(setup.spec, state)
              .flatMap((to) => [ids.enters.get(to) ?? '', ids.speaks.get(to) ?? ''])
              .filter((id) => known.has(id)),
            END,
          ],
          otherwise: [END],
        })),
    ],
    entry: BEGIN,
    limits: { maxSteps: setup.maxHandOvers + OTHER_STEPS },
    ...packSettings(pack),
    ...packDeclarations(pack),
  };
  return { plan: ownPlan(plan), bindings: Object.freeze(bindings), setup };
}

function setupOf(pack: Pack, options: MachineOptions): MachineSetup {
  const { prompt, carryForward = false, maxArtifactBytes, maxAllArtifactBytes, maxHandOvers } = options;
  const spec = specOf(prompt === undefined && pack.workflow !== undefined ? pack.workflow : talkOf(pack, prompt));
  const { budget } = tableOf(spec);
  // No state is entered more often in one turn than in all turns.
  const visits = new Map(budget).get('max_total_visits') ?? MOST_HAND_OVERS;
  return {
    spec,
    endless: spec !== pack.workflow && (prompt !== undefined || pack.workflow === undefined),
    nodes: stateNodes(spec),
    artifacts: artifactNames(pack),
    limits: present({ maxArtifactBytes, maxAllArtifactBytes }),
    maxHandOvers: maxHandOvers ?? (budget.length > 0 ? Math.min(visits, MOST_HAND_OVERS) : HAND_OVERS),
    carryForward,
  };
}

/** Returns the machine of a prompt without a workflow: one state, which never ends. */
function talkOf(pack: Pack, named: string | undefined): Spec {
  const all = Object.keys(pack.prompts);
  const prompt = named ?? pack.agents?.entry ?? (all.length === 1 ? all[0] : undefined);
  if (prompt !== undefined && Object.hasOwn(pack.prompts, prompt))
    return { version: 1, entry: prompt, states: Object.fromEntries([[prompt, { prompt_task: prompt }]]) };
  if (prompt === undefined)
    throw new SkeinError('SKEIN_USAGE', 'pack has no workflow section', {
      hint: `name one of its prompts: ${all.join(', ')}`,
    });
  throw new SkeinError('SKEIN_USAGE', `the pack has no prompt "${prompt}"`, {
    hint: didYouMean(prompt, all) ?? `its prompts: ${all.join(', ')}`,
  });
}

/** Returns the states that a model can go to from a state: the targets of its events, and of redirects from there. */
function targetsOf(spec: Spec, state: string): readonly string[] {
  const { targets, isTerminal } = tableOf(spec).states.get(state) ?? {};
  const found = new Set(isTerminal === true ? [] : targets?.values());
  for (const to of found) {
    const next = tableOf(spec).states.get(to)?.state.on_max_visits ?? '';
    // The set grows while it is iterated.
    if (next !== '') found.add(next);
  }
  return [...found];
}
