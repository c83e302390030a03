import { dirname } from 'node:path';
import { noteReadFrom } from '../../plan/own-plan.js';
import { present } from '../../base/json.js';
import { NO_BINDINGS, type InputSpec, type Plan } from '../../plan/plan.js';
import type { Workflow } from '../../plan/workflow.js';
import { unusable, type Loading, type PackTalk } from '../loading.js';
import type { OpenedFile } from '../opened-file.js';
import { packDeclarations } from './check-pack.js';
import { packSettings } from './settings.js';
import { drawStates } from './draw-states.js';
import type { Pack } from './pack.js';
import { beginningsOf, namesOf, placeOfAgent } from './pack-names.js';
import { missingTools, toolsWithoutFunction } from './pack-tools.js';
import { machinePlan, type MachinePlan } from './plan/machine-plan.js';
import { promptAgent } from './prompt-agent.js';
import { readWholePack } from './read-pack.js';
import { stateSupervision } from './supervising.js';

export interface LoadedMachine {
  readonly pack: Pack;
  readonly setup: MachinePlan['setup'];
}

const MACHINES = new WeakMap<Plan, LoadedMachine>();

/** Returns what a plan was built from. Undefined for other plans, and for a pack that was loaded only for inspection. */
export function machineOf(plan: Plan): LoadedMachine | undefined {
  return MACHINES.get(plan);
}

/**
 * Loads a pack. Without `pack` it is loaded only for inspection: without functions and, if it has no workflow, with all its prompts.
 *
 * @throws SkeinError `SKEIN_USAGE` for a prompt that the pack does not have
 */
export async function load({ file, source }: OpenedFile, { packSchema, pack: how }: Loading): Promise<Workflow> {
  const { pack, files, problems, sources } = await readWholePack(source.text, {
    file,
    folder: dirname(source.path),
    ...(packSchema && { schema: packSchema }),
    validators: Object.keys(how?.validators ?? {}),
  });
  const nothing = unusable(problems, [source, ...sources]);
  if (pack === undefined) return nothing;
  const { onlyLooked = how === undefined, ...talk } = how ?? {};
  const { plan, bindings } =
    onlyLooked && pack.workflow === undefined
      ? { plan: promptsOf(pack), bindings: NO_BINDINGS }
      : talkingPlan(pack, { ...talk, ...(onlyLooked ? { standIn: true } : {}), files });
  noteReadFrom(plan, [source.path, ...sources.map(({ path }) => path)]);
  const settings = { output: { format: 'plain' as const } };
  const told = {
    drawing: drawStates(pack, onlyLooked ? plan : undefined),
    kept: keptParts(pack),
    parameters: parametersOf(pack),
  };
  const loaded = { ...nothing, plan, bindings, settings, ...told };
  if (!onlyLooked) return loaded;
  const begins = beginningsOf(pack);
  const missing = how === undefined ? [] : begins.flatMap((from) => missingTools(pack, from, talk));
  if (missing.length > 0) {
    const once = new Map(missing.map((problem) => [problem.message, problem]));
    return { ...loaded, plan: undefined, problems: [...problems, ...once.values()] };
  }
  const without = begins.flatMap((from) => [...toolsWithoutFunction(pack, from, talk).keys()]);
  return { ...loaded, unchecked: [...new Set(without)] };
}

function talkingPlan(pack: Pack, { agent, ...how }: PackTalk): MachinePlan {
  const place = agent === undefined ? undefined : placeOfAgent(pack, agent);
  const machine = machinePlan(pack, { ...how, ...(place !== undefined && 'prompt' in place ? place : {}) });
  MACHINES.set(machine.plan, { pack, setup: machine.setup });
  return machine;
}

function promptsOf(pack: Pack): Plan {
  const channels = ['variables', 'artifacts', 'workflow_context', 'said'];
  return {
    format: 1,
    name: pack.id,
    notation: 'machine',
    inputs: [],
    channels: channels.map((name) => ({ name, reducer: 'last' })),
    nodes: Object.keys(pack.prompts).map((name, at) => ({
      id: `prompt${at}`,
      kind: 'agent',
      label: name,
      agent: promptAgent(pack, name, { standIn: true }),
      prompt: [],
      output: 'said',
      ...stateSupervision(pack, name, 'agent'),
    })),
    edges: [],
    routes: [],
    ...packSettings(pack),
    ...packDeclarations(pack),
  };
}

/** Returns the variables of all prompts. Each has the default and the description of the first prompt that has one. */
function parametersOf(pack: Pack): readonly InputSpec[] {
  return [...namesOf(pack).variables].map(([name, byPrompt]) => {
    const all = [...byPrompt.values()];
    const usual = all.find((one) => one.default !== undefined)?.default;
    return present({
      name,
      channel: `variables.${name}`,
      required: all.some((one) => one.required && one.default === undefined),
      description: all.find((one) => one.description !== undefined)?.description,
      default: usual,
    });
  });
}

/** Parts of a pack and of its prompts that do not affect a run. */
const KEPT = ['metadata', 'compilation', 'template_engine', 'evals'] as const;
const KEPT_OF_PROMPTS = ['evals', 'pipeline', 'tested_models', 'media'] as const;

/** Lists the parts of a pack that have no effect. */
export function keptParts(pack: Pack): readonly string[] {
  const own = KEPT.filter((key) => Object.hasOwn(pack, key));
  const ofPrompts = Object.entries(pack.prompts).flatMap(([name, prompt]) => [
    ...KEPT_OF_PROMPTS.filter((key) => Object.hasOwn(prompt, key)).map(
      (key) => `prompts[${JSON.stringify(name)}].${key}`,
    ),
    ...(prompt.variables ?? [])
      .filter((variable) => Object.hasOwn(variable, 'binding'))
      .map((variable) => `prompts[${JSON.stringify(name)}]: binding of the variable "${variable.name}"`),
  ]);
  return [...own, ...ofPrompts];
}
