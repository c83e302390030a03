import { nodePathOf } from '../base/address.js';
import { present } from '../base/json.js';
import type { AgentSpec } from '../plan/agent-spec.js';
import { diffPlans, type CodeDigests, type PlanDiff } from '../plan/diff.js';
import { affected } from '../plan/downstream.js';
import { NO_SETTINGS, type RunSettings } from '../plan/fields.js';
import { agentsOf, nodeFinder } from '../plan/nodes.js';
import type { AgentNode, Plan } from '../plan/plan.js';
import type { ChangeEffect } from '../plan/rows.js';

/** Everything that determines results: the plan, its functions, the inputs and the settings. */
export interface RunDefinition {
  readonly plan: Plan;
  readonly code: CodeDigests;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Absent in runs recorded by an older version. */
  readonly settings?: RunSettings | undefined;
}

/** The differences from the run that is resumed, and the steps that they make run again. */
export interface Changes {
  readonly diff: PlanDiff;
  /** Names of the inputs whose values differ. */
  readonly inputs: readonly string[];
  /** True if the initial text of the shared memory differs. */
  readonly memory: boolean;
  /** True if the policies differ. */
  readonly policy: boolean;
  /** The models of this session and of the one before. Absent if they are the same. */
  readonly models?: ModelsChange;
  /** True if another run, a fork, continues from the recorded one. */
  readonly isFork: boolean;
  /** Paths of the steps whose recorded results no longer count, as node ids from the outermost in. */
  readonly again: readonly string[];
  /** The item of a map in which a fork starts. Of the steps inside, the records of other items still count. */
  readonly item?: string;
  /** Paths of the steps that are supervised again. Their work is reused. */
  readonly judged: readonly string[];
  /** Paths of further steps that run again if the values they depend on turn out differently. */
  readonly maybe: readonly string[];
}

/** The models of this session and of the one before, in words. */
interface ModelsChange {
  readonly before: string;
  readonly after: string;
  /** True if options choose the models; false if the definitions of the agents do. */
  readonly asked: boolean;
}

export interface Going {
  /** True if the plan is the recorded text. */
  readonly samePlan: boolean;
  /** True if another run, a fork, continues from the recorded one. */
  readonly isFork: boolean;
  /** Paths of the steps whose records are not used. */
  readonly forgotten: readonly string[];
  /** The item of a map in which a fork starts. */
  readonly item?: string | undefined;
  /** Paths of the steps whose results a fork has edited. */
  readonly edited: readonly string[];
  readonly models: readonly string[];
  /** Those of the flags under which the results of an agent count, whatever the flags of this session are. */
  readonly formerModels: (agent: AgentNode) => readonly string[];
}

/**
 * Compares the definition a run was recorded with to the one it continues with. Only these differences, and the fields in `plan/fields.ts`
 * that the digests of results cover too, can make a finished step run again.
 */
export function compareRuns(before: RunDefinition, after: RunDefinition, going: Going): Changes {
  const isSameText = going.samePlan && isSame(before.code, after.code);
  const diff = isSameText ? NO_DIFF : diffPlans(before.plan, after.plan, before.code, after.code);
  const inputs = changedNames(before.inputs, after.inputs);
  const memory = before.settings !== undefined && before.settings.memory !== after.settings?.memory;
  const [wasModels, models] = [before.settings?.models, after.settings?.models ?? NO_SETTINGS.models];
  const agents = [...agentsOf(after.plan)];
  const reads = memory ? agents.filter(({ node }) => node.agent.memory !== undefined) : [];
  const otherModels = agents.flatMap(({ path, node }) => {
    const former = going.formerModels(node);
    const counting = going.models.filter((flags) => flags === models || former.includes(flags)).length;
    return counting === going.models.length ? [] : [{ path, all: counting === 0 }];
  });
  const changed = diff.steps.filter(({ change, effect }) => change === 'changed' && effect === 'result');
  const again = [
    ...changed.map(({ path }) => path),
    ...going.forgotten,
    ...reads.flatMap(({ path, node }) => (node.agent.memory?.inject === true ? [path] : [])),
    ...otherModels.flatMap(({ path, all }) => (all ? [path] : [])),
  ];
  const course = diff.steps.filter(({ change, effect }) => change !== 'removed' && isOfCourse(effect));
  // The result that counts may differ, even for a step without a supervisor.
  const counted = diff.steps.filter(({ parts }) => parts.includes('supervision')).map(({ path }) => path);
  const starts = [...course, ...reads, ...otherModels].map(({ path }) => path).concat(again);
  const start = { steps: [...new Set([...starts, ...counted, ...going.edited])], inputs: [...diff.inputs, ...inputs] };
  const spread = start.steps.length + start.inputs.length === 0 ? [] : affected(after.plan, start);
  const sure = new Set(again);
  const nodeAt = nodeFinder(after.plan);
  return {
    diff,
    inputs,
    memory,
    policy: before.settings !== undefined && before.settings.policy !== after.settings?.policy,
    ...(wasModels === undefined || wasModels === models
      ? {}
      : { models: { before: flagsText(wasModels), after: flagsText(models), asked: models !== NO_SETTINGS.models } }),
    isFork: going.isFork,
    ...present({ item: going.item }),
    again: [...sure],
    judged: counted.filter((path) => !sure.has(path) && nodeAt(path)?.supervise !== undefined),
    maybe: [...new Set([...starts, ...spread])].filter(
      (path) => !sure.has(path) && (starts.includes(path) || !going.edited.includes(path)),
    ),
  };
}

function isOfCourse(effect: ChangeEffect): boolean {
  return effect === 'result' || effect === 'course';
}

interface Changed {
  readonly finished: (path: string) => boolean;
  /** True if the whole run has ended. */
  readonly isOver: boolean;
}

/** Where a step runs again, for people: in the item in which a fork starts, unless its definition changed for all items. */
export function placeOf(path: string, { item, diff }: Changes): string {
  if (item === undefined || diff.steps.some((step) => step.path === path)) return path;
  const map = nodePathOf(item);
  return path === map || path.startsWith(`${map}/`) ? item + path.slice(map.length) : path;
}

/** The changes as one text for the listeners of a run. Empty if nothing changed. */
export function changesText(changes: Changes, run: Changed): string {
  const { diff, inputs, memory } = changes;
  const sure = changes.again.filter(run.finished);
  const judged = changes.judged.filter(run.finished);
  const perhaps = changes.maybe.filter(run.finished);
  const named = diff.steps.flatMap(({ path, was }) => (was !== undefined && run.finished(was) ? [path] : []));
  const answered = modelsText(changes, run);
  const what = [
    ...diff.steps
      .filter(({ stays }) => stays !== true)
      .map(({ path, change, parts, was }) =>
        was === undefined
          ? `step ${path} ${[change, parts.join(', ')].join(' ').trim()}`
          : `step ${path} was called ${was}`,
      ),
    ...diff.inputs.map((name) => `input ${name} changed`),
    ...diff.plan.map((part) => `${part} changed`),
    ...inputs.map((name) => `input ${name} has another value`),
    ...(memory ? ['the first text of the shared memory changed'] : []),
    ...(changes.policy ? ['the policy changed: what runs from here on is decided by the one of now'] : []),
  ];
  return [
    ...(answered === undefined ? [] : [answered]),
    ...(what.length === 0 ? [] : [`it continues with other settings than those recorded: ${what.join('; ')}`]),
    ...(sure.length === 0 ? [] : [`runs again: ${sure.map((path) => placeOf(path, changes)).join(', ')}`]),
    ...(judged.length === 0 ? [] : [`supervised again, with their work as it is: ${judged.join(', ')}`]),
    ...(named.length === 0 ? [] : [`runs again under another name: ${named.join(', ')}`]),
    ...(perhaps.length === 0
      ? []
      : [`runs again where what it builds on comes out differently: ${perhaps.join(', ')}`]),
  ].join('. ');
}

/** The models that answer from here on. Undefined if there is nothing to report. */
export function modelsText({ models, again, maybe, isFork }: Changes, run: Changed): string | undefined {
  if (models === undefined) return undefined;
  const { before, after, asked } = models;
  if (isFork) return `what runs here is answered by ${after}`;
  if (!asked && run.isOver && ![...again, ...maybe].some(run.finished)) return undefined;
  const stays = 'finished steps keep their results, a fork has them answered again';
  return `what still has to run is answered by ${after} (before: ${before}); ${stays}`;
}

const NO_DIFF: PlanDiff = { steps: [], inputs: [], plan: [] };

/** Returns who answers for an agent under these flags. Flags that name the agent's own models change nothing. */
export function whoAnswers(models: string, { agent }: AgentNode): string {
  const { override, ...rest } = JSON.parse(models) as { readonly override?: AgentSpec['models'] };
  return Object.keys(rest).length > 0 ? models : (override ?? agent.models).map((name) => name.trim()).join();
}

function flagsText(models: string): string {
  const flags = Object.entries(JSON.parse(models) as Readonly<Record<string, unknown>>);
  const [first] = flags;
  if (first === undefined) return 'the models that the agents name';
  const [kind, value] = first;
  if (kind === 'mock') return 'mock/echo';
  return kind === 'override' && Array.isArray(value) ? value.join(', ') : `the ${WORDS[kind] ?? kind} ${String(value)}`;
}

const WORDS: Readonly<Record<string, string>> = { script: 'script', replay: 'recording' };

function changedNames(before: RunDefinition['inputs'], after: RunDefinition['inputs']): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isSame(before[name], after[name]));
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
