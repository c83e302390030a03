import { SkeinError } from '../../base/errors.js';
import { didYouMean } from '../../base/suggest.js';
import { isPlainObject } from '../../base/json.js';
import { INPUT } from './compositions/references.js';
import { quoteShort } from '../../lang/value-text.js';
import type { State } from '../../machine/pure/spec.js';
import { textsOf, type CompositionStep, type Pack, type Prompt, type Variable } from './pack.js';
import { placeholdersOf } from './placeholders.js';

interface Names {
  readonly fragments: ReadonlyMap<string, string>;
  readonly variables: ReadonlyMap<string, ReadonlyMap<string, Variable>>;
  /** Names of values that composition steps pass to a prompt, by prompt. */
  readonly fromSteps: ReadonlyMap<string, ReadonlySet<string>>;
}

const KNOWN = new WeakMap<Pack, Names>();

export function namesOf(pack: Pack): Names {
  const known = KNOWN.get(pack);
  if (known !== undefined) return known;
  const variables = new Map<string, Map<string, Variable>>();
  for (const [prompt, { variables: declared = [] }] of Object.entries(pack.prompts)) {
    for (const variable of declared) {
      const byPrompt = variables.get(variable.name) ?? new Map<string, Variable>();
      variables.set(variable.name, byPrompt.set(prompt, variable));
    }
  }
  const names = {
    fragments: new Map(Object.entries(pack.fragments ?? {})),
    variables,
    fromSteps: namesFromSteps(pack),
  };
  KNOWN.set(pack, names);
  return names;
}

/**
 * Returns the key of a variable's value in the channel `variables`. It is the variable's name, shared by all prompts. A prompt whose
 * default differs from that of the first prompt declaring the variable has its own key. Names contain no dots.
 */
export function variableKey(pack: Pack, prompt: string, name: string): string {
  const declared = namesOf(pack).variables.get(name);
  const own = declared?.get(prompt);
  const [first] = declared?.values() ?? [];
  return own === undefined || JSON.stringify(own.default) === JSON.stringify(first?.default)
    ? name
    : `${prompt}.${name}`;
}

/** Returns the names of a pack's artifacts: those that states declare, and those that prompts show. */
export function artifactNames(pack: Pack): readonly string[] {
  const declared = Object.values(pack.workflow?.states ?? {}).flatMap(({ artifacts = {} }) => Object.keys(artifacts));
  const { fragments } = namesOf(pack);
  const shown = Object.values(pack.prompts).flatMap((prompt) =>
    placeholdersOf(textsOf(prompt), fragments, new Set()).flatMap((one) => (one.kind === 'artifact' ? [one.name] : [])),
  );
  return [...new Set([...declared, ...shown])];
}

/** Where a conversation begins: in a state, or outside the workflow with a single prompt. */
export type Beginning = { readonly state: string } | { readonly prompt: string };

/** Returns the states reachable from a state, including it. */
function reachableStates(pack: Pack, from: string): readonly State[] {
  const states = new Map(Object.entries(pack.workflow?.states ?? {}));
  const reached = new Set([from]);
  for (const name of reached) {
    const { on_event = {}, on_max_visits = '' } = states.get(name) ?? {};
    // The set grows while it is iterated.
    for (const target of [...Object.values(on_event), on_max_visits]) if (states.has(target)) reached.add(target);
  }
  return [...reached].flatMap((name) => states.get(name) ?? []);
}

/** Returns the prompts of the reachable states and their compositions or, without a state, the named prompt. */
export function reachablePrompts(pack: Pack, from: Beginning): readonly string[] {
  if ('prompt' in from) return [from.prompt];
  const prompts = reachableStates(pack, from.state).flatMap(({ prompt_task = '', composition = '' }) => [
    prompt_task,
    ...stepsOf(pack, composition).flatMap((step) => step.prompt_task ?? []),
  ]);
  return [...new Set(prompts)].filter((prompt) => Object.hasOwn(pack.prompts, prompt));
}

/** Returns the reachable prompts that speak in a state or alone. Any others speak only in steps of compositions, which give them an input. */
export function speakingPrompts(pack: Pack, from: Beginning): ReadonlySet<string> {
  if ('prompt' in from) return new Set([from.prompt]);
  return new Set(reachableStates(pack, from.state).flatMap(({ prompt_task = [] }) => prompt_task));
}

interface UseOfTools {
  readonly where: string;
  readonly prompt: Prompt;
}

/** Returns the prompts and compositions reachable from where a conversation begins, as places that name tools. */
export function usesOfTools(pack: Pack, from: Beginning): readonly UseOfTools[] {
  const ofPrompt = (name: string): readonly UseOfTools[] => {
    const prompt = Object.hasOwn(pack.prompts, name) ? pack.prompts[name] : undefined;
    return prompt === undefined ? [] : [{ where: `prompt ${quoteShort(name)}`, prompt }];
  };
  if ('prompt' in from) return ofPrompt(from.prompt);
  return reachableStates(pack, from.state).flatMap(({ prompt_task = '', composition = '' }) => [
    ...ofPrompt(prompt_task),
    ...stepsOf(pack, composition).map(({ tool = [], tools = [], prompt_task: task = '' }) => ({
      where: `composition ${quoteShort(composition)}`,
      prompt: { system_template: '', ...pack.prompts[task], tools: [tool, tools].flat() },
    })),
  ]);
}

/** Returns where conversations may begin: at the entry or with any agent or, without a workflow, with any prompt. */
export function beginningsOf(pack: Pack): readonly Beginning[] {
  if (pack.workflow === undefined) return Object.keys(pack.prompts).map((prompt) => ({ prompt }));
  return [
    { state: pack.workflow.entry },
    ...Object.keys(pack.agents?.members ?? {}).map((one) => placeOfAgent(pack, one)),
  ];
}

/** Returns the names that composition steps assign, by prompt: `input`, and the keys of an object passed as input. */
function namesFromSteps({ compositions = {} }: Pack): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const steps = Object.values(compositions).flatMap((one) => one.steps);
  for (const { prompt_task, input } of steps.flatMap((step) => [step, ...(step.branches ?? [])])) {
    if (prompt_task === undefined) continue;
    const names = found.get(prompt_task) ?? new Set([INPUT]);
    for (const name of isPlainObject(input) ? Object.keys(input) : []) names.add(name);
    found.set(prompt_task, names);
  }
  return found;
}

function stepsOf({ compositions = {} }: Pack, name: string): readonly CompositionStep[] {
  const steps = Object.hasOwn(compositions, name) ? (compositions[name]?.steps ?? []) : [];
  return steps.flatMap((step) => [step, ...(step.branches ?? [])]);
}

/**
 * Returns where an agent of a pack talks: in the state where it enters, or outside the workflow with its prompt alone.
 *
 * @throws SkeinError `SKEIN_USAGE`
 */
export function placeOfAgent({ agents }: Pack, agent: string): Beginning {
  const members = agents?.members ?? {};
  const member = Object.hasOwn(members, agent) ? members[agent] : undefined;
  if (member !== undefined) return member.state === undefined ? { prompt: agent } : { state: member.state };
  const names = Object.keys(members);
  const hint = didYouMean(agent, names) ?? (names.length === 0 ? 'it has none' : `its agents: ${names.join(', ')}`);
  throw new SkeinError('SKEIN_USAGE', `the pack has no agent "${agent}"`, { hint });
}
