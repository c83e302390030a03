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
import { writesUnknown, writtenChannels } from '../plan/references.js';
import type { Fork } from './options.js';

/** The values in which the start of a fork differs from its parent. */
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
 * no step wrote the key, the value is an input.
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
    if (step !== undefined) edits.set(step, { ...edits.get(step), [channel]: value });
    else if (known().includes(channel)) inputs[name] = value;
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
  return isChannel ? name : (plan.nodes.find(({ id }) => id === name)?.output ?? name);
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
  for (const { entries } of family) {
    let last: { readonly step: string; readonly order: number } | undefined;
    for (const [key, list] of entries) {
      const entry = list.findLast(({ kind }) => kind === 'success');
      if (entry === undefined || (last !== undefined && entry.order < last.order) || isForgotten(stepOf(key))) continue;
      const step = writerOf(store, { nodes, key, entry }, channel);
      if (step !== undefined) last = { step, order: entry.order };
    }
    if (last !== undefined) return last.step;
  }
  return undefined;
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

/** The edits that a resumed fork began with. */
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
