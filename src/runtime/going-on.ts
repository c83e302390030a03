import { policyDigest } from '../guard/policy.js';
import { present } from '../base/json.js';
import { nodePathOf, stepOf } from '../base/address.js';
import { SkeinError } from '../base/errors.js';
import { inSlices, lookAt, type Slices } from '../base/slices.js';
import type { Spending } from '../events/spending.js';
import { spentIn } from '../journal/overview-trace.js';
import { FamilyReader } from '../journal/reader.js';
import type { Stored } from '../journal/record.js';
import type { Family } from '../journal/session.js';
import { isRecordedPlan, readStored } from '../journal/stored.js';
import type { Store } from '../journal/store.js';
import { NO_SETTINGS, type RunSettings } from '../plan/fields.js';
import type { AgentNode, Plan } from '../plan/plan.js';
import { raised, securityGiven } from '../plan/security.js';
import type { StateEdits } from '../engine/services.js';
import { channelOf, forkEdits, recordedEdits, type ForkEdits } from './fork-edits.js';
import { compareRuns, isSame, whoAnswers, type Changes, type RunDefinition } from './changes.js';
import type { ForkStart } from '../journal/fork-from.js';
import type { RunOptions } from './options.js';
import { endsForGood, type RunHistory } from '../journal/history.js';

/** A stored run that is resumed or forked, with its record. */
export interface RecordedRun {
  readonly reader: FamilyReader;
  readonly family: Family;
  /** The definition of its last session. */
  readonly before: RunDefinition;
  readonly models: RecordedModels;
  /** Whether a step has results, by the path of its node ids. */
  readonly finished: (path: string) => boolean;
  /** True if the last session ended for good. */
  readonly isOver: boolean;
  /** The total spending of its sessions. */
  readonly spent: () => Spending;
}

/**
 * Reads the record of a run, in slices.
 *
 * @throws SkeinError `SKEIN_NO_RUN`, `SKEIN_JOURNAL`, `SKEIN_STORE`
 */
export function* readRecordedRun(store: Store, runId: string): Slices<RecordedRun> {
  const reader = new FamilyReader(store, runId);
  const family = yield* reader.read();
  const { current } = family[0];
  let finished: ((path: string) => boolean) | undefined;
  let spent: Spending | undefined;
  return {
    reader,
    family,
    before: {
      plan: readStored(store, current.plan) as Plan,
      code: current.code,
      inputs: readStored(store, current.inputs) as Readonly<Record<string, unknown>>,
      settings: current.settings === undefined ? undefined : (readStored(store, current.settings) as RunSettings),
    },
    models: yield* modelsOf(store, family),
    finished: (path) => (finished ??= finishedIn(family))(path),
    isOver: family[0].sessions.slice(-1).some(endsForGood),
    spent: () => (spent ??= spentIn(store, family[0])),
  };
}

/**
 * Reads the record of a run and yields to the event loop between slices.
 *
 * @throws SkeinError as {@link readRecordedRun}
 */
export async function readRecord(store: Store, runId: string): Promise<RecordedRun> {
  return await inSlices(readRecordedRun(store, runId));
}

/** The model flags of the sessions of a run. */
interface RecordedModels {
  /** The flags the run began with. Undefined if they were not recorded. */
  readonly first: string | undefined;
  /** The flags under which results were recorded or taken from a parent. */
  readonly all: readonly string[];
}

function* modelsOf(store: Store, [own, ...parents]: Family): Slices<RecordedModels> {
  const worked = yield* sessionsWithWork(own);
  const flagsOf = (stored: Stored): string => (readStored(store, stored) as RunSettings).models;
  const first = own.begin.settings === undefined ? undefined : flagsOf(own.begin.settings);
  let current = first;
  const models: string[] = [];
  for (const [at, { open }] of own.sessions.entries()) {
    if (open.settings !== undefined) current = flagsOf(open.settings);
    if (current !== undefined && worked.has(at)) models.push(current);
  }
  const [parent, ...others] = parents;
  const before = parent === undefined ? undefined : yield* modelsOf(store, [parent, ...others]);
  const taken = first !== undefined && before !== undefined && asksNothingNew(first, before) ? before.all : [];
  return { first, all: [...new Set([...models, ...taken])] };
}

/** True if no model flags are given, or those the run began with: finished work then stays as it was answered. */
function asksNothingNew(models: string, before: RecordedModels): boolean {
  return models === NO_SETTINGS.models || models === before.first;
}

export interface GoingOn {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly settings: RunSettings;
  /** The edited results of steps, in a fork that sets values. */
  readonly edits?: StateEdits | undefined;
  /** Says of each key that a fork sets and that nothing in the record knows that it is new. */
  readonly newKeys: readonly string[];
  /** The other model flags under which recorded results of an agent still count. */
  readonly formerModels: (agent: AgentNode) => readonly string[];
}

/**
 * Returns what a run continues with. What the options leave out stays as recorded (J11). Only a fork accepts other inputs.
 *
 * @throws SkeinError `SKEIN_INPUT` for other inputs of a run that is resumed
 */
export function goingOn(
  { store, plan }: { readonly store: Store | undefined; readonly plan: Plan },
  recorded: RecordedRun,
  models: string,
  options: RunOptions,
): GoingOn {
  const { before, family } = recorded;
  const { inputs: given = {}, resume } = options;
  const { memory = before.settings?.memory, maxSteps = before.settings?.maxSteps } = options;
  if (resume !== undefined) checkInputs(resume, before, given);
  const { all } = recorded.models;
  const counts = resume !== undefined || asksNothingNew(models, recorded.models);
  const { inputs, edits, newKeys } = editsOf({ store, plan }, family, options);
  return {
    inputs: resume === undefined ? { ...before.inputs, ...given, ...inputs } : before.inputs,
    edits,
    newKeys,
    settings: settingsOf(models, {
      memory,
      maxSteps,
      prices: options.prices ?? before.settings?.prices,
      untrusted: bothOf(before.settings?.untrusted, markedIn(plan, options.fork, options.untrusted)),
      private: bothOf(before.settings?.private, markedIn(plan, options.fork, options.private)),
      policy: policyDigest(options.policy),
      security: raised(before.settings?.security, securityGiven(options.security)),
    }),
    formerModels: (agent) =>
      counts ? all : all.filter((flags) => whoAnswers(flags, agent) === whoAnswers(models, agent)),
  };
}

function editsOf(
  { store, plan }: { readonly store: Store | undefined; readonly plan: Plan },
  family: RecordedRun['family'],
  { fork }: RunOptions,
): Partial<ForkEdits> & Pick<ForkEdits, 'newKeys'> {
  if (store === undefined) return { newKeys: [] };
  if (fork !== undefined) return forkEdits(store, plan, family, fork);
  return present({ edits: recordedEdits(store, family[0]), newKeys: [] });
}

type KeptSetting = 'memory' | 'maxSteps' | 'policy' | 'prices' | 'untrusted' | 'private' | 'security';

/** The settings that a session keeps in addition to its plan. */
export function settingsOf(
  models: string,
  settings: { readonly [K in KeptSetting]?: RunSettings[K] | undefined },
): RunSettings {
  const { memory, maxSteps, untrusted, private: hidden, policy, security, prices } = settings;
  return present({ models, memory, maxSteps, untrusted, private: hidden, policy, security, prices });
}

/** The marked inputs, and the channels of marked values that a fork sets. */
function markedIn(
  plan: Plan,
  fork: RunOptions['fork'],
  names: readonly string[] | undefined,
): readonly string[] | undefined {
  return names?.map((name) => (Object.hasOwn(fork?.set ?? {}, name) ? channelOf(plan, name) : name));
}

/** An input that was untrusted, or private, stays so. */
function bothOf(before: readonly string[] = [], now: readonly string[] = []): readonly string[] | undefined {
  const all = [...new Set([...before, ...now])].toSorted();
  return all.length === 0 ? undefined : all;
}

/** The differences from the record and the steps they make run again. `fork`: the steps that a fork always runs again. */
export function changesOf(
  recorded: RecordedRun,
  after: Pick<RunDefinition, 'plan' | 'code'>,
  { inputs, settings, edits, formerModels }: GoingOn,
  fork: Pick<ForkStart, 'steps' | 'item'> | undefined,
): Changes {
  const { before, models } = recorded;
  return compareRuns(
    before,
    { ...after, inputs, settings },
    {
      samePlan: isRecordedPlan(recorded.family[0].current.plan, after.plan),
      isFork: fork !== undefined,
      forgotten: fork?.steps ?? [],
      item: fork?.item,
      edited: fork === undefined ? [] : Object.keys(edits ?? {}).map(nodePathOf),
      models: models.all,
      formerModels,
    },
  );
}

function checkInputs(runId: string, { inputs, plan }: RunDefinition, given: Readonly<Record<string, unknown>>): void {
  const defaults = new Map(plan.inputs.map((input) => [input.name, input.default]));
  const isNew = (name: string): boolean =>
    given[name] !== undefined && !isSame(given[name], Object.hasOwn(inputs, name) ? inputs[name] : defaults.get(name));
  const names = Object.keys(given).filter(isNew);
  if (names.length === 0) return;
  const which = names.map((name) => `'${name}'`).join(', ');
  throw new SkeinError(
    'SKEIN_INPUT',
    `the run ${runId} continues with the inputs that it began with, not with another ${which}`,
    {
      hint: `fork it to run with other inputs: { store, fork: { run: '${runId}' } }; a conversation continues with { store, thread: 'name' }`,
    },
  );
}

/** Returns whether a step, or one inside it, has recorded results of work, by the path of its node ids. */
export function finishedIn(histories: readonly RunHistory[]): (path: string) => boolean {
  const done = new Set<string>();
  const seen = new Set<string>();
  for (const { entries } of histories) {
    for (const [key, list] of entries) {
      if (!isWork(key) || list.every(({ kind }) => kind !== 'success')) continue;
      const path = nodePathOf(stepOf(key));
      if (seen.has(path)) continue;
      seen.add(path);
      const ids = path.split('/');
      for (const at of ids.keys()) done.add(ids.slice(0, at + 1).join('/'));
    }
  }
  return (path) => done.has(path);
}

/** Returns the indexes of the sessions that recorded results of work. */
export function* sessionsWithWork({ entries, sessions }: RunHistory): Slices<ReadonlySet<number>> {
  const found = new Set<number>();
  yield* lookAt(entries, ([key, list]) => {
    if (found.size === sessions.length) return;
    for (const { kind, session } of list)
      if (kind === 'success' && !found.has(session) && isWork(key)) found.add(session);
  });
  return found;
}

/** Opening and closing resources of a step is not part of its work. */
function isWork(key: string): boolean {
  const name = key.slice(stepOf(key).length);
  return name === '' || WORK.test(name);
}

const WORK = /^@(?:model#|tool#|run:|answer|timer|event|commit|post|supervis|human)/;
