import { parseAddress, pathOf, stepOf, visitAddress } from '../base/address.js';
import { SkeinError } from '../base/errors.js';
import { isPlainObject } from '../base/json.js';
import { didYouMean } from '../base/suggest.js';
import type { StateEdits } from '../engine/services.js';
import { forgetting } from '../journal/forgotten.js';
import { forgottenBy } from '../journal/fork-from.js';
import type { Entry, RunHistory } from '../journal/history.js';
import type { Family } from '../journal/session.js';
import type { Store } from '../journal/store.js';
import { readStored } from '../journal/stored.js';
import type { Plan, PlanNode } from '../plan/plan.js';
import { nodesById } from '../plan/nodes.js';
import { writesUnknown, writtenChannels } from '../plan/references.js';
import type { Fork } from './options.js';

export interface ForkEdits {
  /** Values of inputs, and of keys that no step of the parent wrote. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The edited results of the parent's steps. */
  readonly edits: StateEdits;
  /** Says of each key that nothing in the record wrote, and that was not given, that it is new. */
  readonly newKeys: readonly string[];
}

/**
 * Finds the places of the values that a fork sets. Each replaces what the last step of the parent that the fork keeps wrote to the key. If
 * no step is known to have written the key, the value replaces what the node of the key gives when it runs; unless that succeeded without a
 * record, as nodes that do no work of their own do, the value is there from the start, too.
 *
 * @throws SkeinError `SKEIN_INPUT` for a key that the workflow does not have
 */
export function forkEdits(store: Store, plan: Plan, family: Family, fork: Fork): ForkEdits {
  const { set = {} } = fork;
  const isForgotten = forgetting(forgottenBy(plan, family, fork));
  const before = family[0].begin.set === undefined ? {} : (readStored(store, family[0].begin.set) as StateEdits);
  const edits = new Map(Object.entries(before).filter(([step]) => !isForgotten(step)));
  const inputs: Record<string, unknown> = {};
  const newKeys: string[] = [];
  const given = readStored(store, family[0].begin.inputs);
  const known = (): readonly string[] => [...plan.inputs.map((input) => input.name), ...keysOf(plan)];
  for (const [name, value] of Object.entries(set)) {
    if (value === undefined) throw noValue(name);
    const channel = channelOf(plan, name);
    const step = lastWriter(store, { plan, family, isForgotten }, channel);
    const unseen = step === undefined ? unseenWriter({ plan, family, isForgotten }, channel) : undefined;
    const edited = step ?? unseen?.step;
    if (edited !== undefined) edits.set(edited, { ...edits.get(edited), [channel]: value });
    if (step !== undefined || unseen?.succeeded === true) continue;
    if (known().includes(channel)) inputs[channel] = value;
    else if (plan.openInputs === true) {
      inputs[name] = value;
      if (!isPlainObject(given) || !Object.hasOwn(given, name)) newKeys.push(newKey(name, known()));
    } else throw unknownKey(plan, name);
  }
  return { inputs, edits: Object.fromEntries(edits), newKeys };
}

/** Resolves a key, given by its own name or by the name of the node whose result it holds. */
export function channelOf(plan: Plan, name: string): string {
  const isChannel = plan.inputs.some((input) => input.name === name) || keysOf(plan).includes(name);
  return isChannel ? name : (nodesById(plan).get(name)?.output ?? name);
}

function keysOf(plan: Plan): readonly string[] {
  return [...plan.channels.map((channel) => channel.name), ...plan.nodes.flatMap(writtenChannels)];
}

interface Recorded {
  readonly plan: Plan;
  readonly family: Family;
  readonly isForgotten: (step: string) => boolean;
}

/** The path of the step in the run's own plan that last wrote a key. */
function lastWriter(store: Store, { plan, family, isForgotten }: Recorded, channel: string): string | undefined {
  const nodes = new Map(plan.nodes.map((node) => [node.id, node]));
  for (const { entries, logs } of family) {
    const failed = stepsWithoutSuccess(logs);
    let last: { readonly step: string; readonly order: number } | undefined;
    for (const [key, list] of entries) {
      const entry = list.findLast(({ kind }) => kind === 'success');
      if (entry === undefined || (last !== undefined && entry.order < last.order) || isForgotten(stepOf(key))) continue;
      const step = writerOf(store, { nodes, key, entry }, channel);
      if (step !== undefined && !failed.has(step)) last = { step, order: entry.order };
    }
    if (last !== undefined) return last.step;
  }
  return undefined;
}

/** The paths of steps whose last recorded end was no success: what is recorded of them is not a result. */
function stepsWithoutSuccess(logs: RunHistory['logs']): ReadonlySet<string> {
  const failed = new Set<string>();
  for (const { path, body } of logs) {
    if (body['type'] !== 'step.ended') continue;
    if (body['outcome'] === 'succeeded') failed.delete(path);
    else failed.add(path);
  }
  return failed;
}

/** The step of the node that writes a key, where no record tells of it. With a reducer, its own write would come in addition to the value. */
function unseenWriter(
  { plan, family, isForgotten }: Recorded,
  channel: string,
): { readonly step: string; readonly succeeded: boolean } | undefined {
  if (plan.channels.find(({ name }) => name === channel)?.reducer !== undefined) return undefined;
  const node = plan.nodes.find((each) => writtenChannels(each).includes(channel));
  if (node === undefined) return undefined;
  const step = visitAddress('', node.id, lastVisit(plan, node.id, lastVisits(family, isForgotten)));
  if (isForgotten(step)) return undefined;
  const succeeded = WITHOUT_RECORD.has(node.kind) && family.every(({ logs }) => !stepsWithoutSuccess(logs).has(step));
  return { step, succeeded };
}

/** Kinds of nodes that leave no record of their own when they succeed. */
const WITHOUT_RECORD: ReadonlySet<PlanNode['kind']> = new Set(['set', 'map', 'call', 'loop']);

/** The last recorded visit of each node of the run's own plan. */
function lastVisits(family: Family, isForgotten: Recorded['isForgotten']): ReadonlyMap<string, number> {
  const visits = new Map<string, number>();
  for (const { entries } of family) {
    for (const key of entries.keys()) {
      const place = isForgotten(stepOf(key)) ? undefined : parseAddress(stepOf(key))?.places[0];
      if (place !== undefined) visits.set(place.id, Math.max(place.visit, visits.get(place.id) ?? 1));
    }
  }
  return visits;
}

/** The number of the last visit of a node. One without a record ran as often as the nodes whose edges lead to it. */
function lastVisit(plan: Plan, id: string, recorded: ReadonlyMap<string, number>): number {
  let last = 1;
  const before = new Set([id]);
  for (const here of before) {
    const known = recorded.get(here);
    if (known !== undefined) last = Math.max(last, known);
    else for (const { from, to } of plan.edges) if (to === here) before.add(from);
  }
  return last;
}

interface Outcome {
  readonly nodes: ReadonlyMap<string, PlanNode>;
  readonly key: string;
  readonly entry: Entry;
}

function writerOf(store: Store, { nodes, key, entry }: Outcome, channel: string): string | undefined {
  const place = parseAddress(stepOf(key), (ids) => nodes.get(ids)?.kind === 'loop')?.places[0];
  const node = nodes.get(place?.id ?? '');
  if (place === undefined || node === undefined) return undefined;
  const step = visitAddress('', place.id, place.visit);
  if (writtenChannels(node).includes(channel)) return step;
  if (!writesUnknown(node) || pathOf(key) !== step) return undefined;
  const value = readStored(store, entry.record);
  const isWritten = [value, isPlainObject(value) ? value['update'] : undefined].some(
    (update) => isPlainObject(update) && Object.hasOwn(update, channel),
  );
  return isWritten ? step : undefined;
}

export function recordedEdits(store: Store, { begin }: RunHistory): StateEdits | undefined {
  return begin.set === undefined ? undefined : (readStored(store, begin.set) as StateEdits);
}

function unknownKey(plan: Plan, name: string): SkeinError {
  const known = [...new Set([...plan.inputs.map((input) => input.name), ...keysOf(plan)])];
  const hint = didYouMean(name, known) ?? `its keys: ${known.slice(0, 12).join(', ')}`;
  return new SkeinError('SKEIN_INPUT', `the state of the workflow has no ${JSON.stringify(name)}`, { hint });
}

/** A state without schemas takes any key. */
function newKey(name: string, known: readonly string[]): string {
  const meant = didYouMean(name, known);
  const what = `the fork sets ${JSON.stringify(name)}, which no step wrote and no one gave to the run: it is a new key`;
  return meant === undefined ? what : `${what}; ${meant}`;
}

function noValue(name: string): SkeinError {
  const hint = 'give it a value, or leave it out: the fork then takes what is recorded';
  return new SkeinError('SKEIN_INPUT', `fork.set gives ${JSON.stringify(name)} no value`, { hint });
}
