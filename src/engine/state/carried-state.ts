import { SkeinError, toErrorData } from '../../base/errors.js';
import { cloneData, freezeData, isPlainObject, present } from '../../base/json.js';
import { kindOf, type Kept, type KeptKind } from '../../base/kept.js';
import type { Label } from '../../guard/label.js';
import type { Reducer } from '../../plan/reducers.js';
import { addedTo, cellDigest, cellValue, isCleared, keptCell, takenIn, type Cell } from './cell.js';
import type { ChannelTable } from '../graph/channel-table.js';
import type { CompiledPlan } from '../graph/compile.js';
import { InputWriter, defaultOf, firstCell, tableWith, type RunState } from './inputs.js';
import { validated } from './state-writer.js';
import { EMPTY_VERSION, type Version } from './version.js';

/** The value of a channel at the end of the previous run (J12). */
export interface CarriedChannel {
  readonly kept: Kept;
  readonly digest: string;
  /** Source of the value; absent if only the user. */
  readonly label?: Label | undefined;
}

export type Carried = ReadonlyMap<string, CarriedChannel>;

export interface CarriedStart extends RunState {
  /** Channels of the earlier state that the plan does not have. */
  readonly dropped: readonly string[];
}

/**
 * Returns the first state version of a run that continues from another run's state: inputs replace values, and reducers add them (J12).
 * Reads only values that `isChecked` requires.
 *
 * @throws SkeinError `SKEIN_INPUT` for invalid inputs, `SKEIN_THREAD` for a state that does not fit the channels of the plan
 */
export function carriedState(
  compiled: CompiledPlan,
  carried: Carried,
  values: Readonly<Record<string, unknown>>,
  isChecked: boolean,
): CarriedStart {
  const { plan } = compiled;
  const given = plan.openInputs === true ? values : {};
  const channels = tableWith(compiled, given, compiled.channels.closed ? [] : carried.keys());
  const { version, dropped } = reopened(compiled, channels, carried, isChecked);
  const writer = new InputWriter(channels, version, (at, old, value) => cellWith(channels, at, old, value));
  for (const input of plan.inputs) {
    const at = channels.index.get(input.channel) ?? -1;
    const said = Object.hasOwn(values, input.name) ? values[input.name] : undefined;
    if (said !== undefined) writer.give(input, said);
    else if (writer.version.get(at) !== undefined) continue;
    else if (input.default !== undefined) writer.give(input, input.default);
    else if (defaultOf(channels.schemas[at]) === undefined && input.required)
      writer.problems.push(`'${input.name}' is missing`);
  }
  const last = writer.finish(plan, values);
  return { version: last, channels, dropped, labels: { channels: labelsOf(carried, { version, channels }, last) } };
}

/** A reduced value still contains the earlier one; an overwritten value does not. */
function labelsOf(carried: Carried, { version, channels }: RunState, last: Version): Record<string, Label> {
  const found: Record<string, Label> = {};
  for (const [name, { label }] of carried) {
    const at = channels.index.get(name) ?? -1;
    const isThere = channels.reducers[at] !== undefined || version.get(at) === last.get(at);
    if (label !== undefined && isThere) found[name] = label;
  }
  return found;
}

function reopened(
  { plan }: CompiledPlan,
  { index, reducers, schemas }: ChannelTable,
  carried: Carried,
  isChecked: boolean,
): { readonly version: Version; readonly dropped: readonly string[] } {
  let version = EMPTY_VERSION;
  const dropped: string[] = [];
  const misfits: string[] = [];
  for (const [name, { kept, digest }] of carried) {
    const at = index.get(name);
    if (at === undefined) {
      dropped.push(name);
      continue;
    }
    const why = isChecked ? misfit(kept, reducers[at], schemas[at], name) : undefined;
    if (why === undefined) version = version.with(at, keptCell(kept, reducers[at], digest));
    else misfits.push(why);
  }
  if (misfits.length === 0) return { version, dropped };
  throw new SkeinError('SKEIN_THREAD', `the state of the thread does not fit '${plan.name}': ${misfits.join('; ')}`, {
    hint: 'change it with updateThread, fork the thread from an earlier turn, or begin another thread',
  });
}

/** Kinds of values that each reducer can continue from. */
const NEEDED: Readonly<Record<string, readonly KeptKind[]>> = {
  append: ['list'],
  extend: ['list'],
  mergeDict: ['object'],
  add: ['text', 'other'],
};

/** Why a value no longer fits a channel; undefined if it does. */
function misfit(kept: Kept, reducer: Reducer | undefined, schema: unknown, name: string): string | undefined {
  const definition = reducer?.definition() ?? '';
  const needed = Object.hasOwn(NEEDED, definition) ? NEEDED[definition] : undefined;
  if (needed?.includes(kept.kind) === false) return `'${name}' is not a valid value for the reducer '${definition}'`;
  if (schema === undefined) return undefined;
  try {
    validated(schema, kept.value, name);
    return undefined;
  } catch (error) {
    return toErrorData(error).message;
  }
}

/** The cell for an input to a channel that already has a value: a reducer adds the input. */
function cellWith(channels: ChannelTable, at: number, old: Cell | undefined, value: unknown): Cell {
  const reducer = channels.reducers[at];
  if (old === undefined || reducer === undefined) return firstCell(channels, at, value);
  const copy = freezeData(cloneData(value));
  const contributions = reducer.definition() === 'append' ? listOf(copy) : [copy];
  const cell = takenIn(old, reducer, contributions);
  const schema = channels.schemas[at];
  if (schema !== undefined) checkWith(schema, copy, () => cellValue(cell, reducer), channels.names[at] ?? '');
  return cell;
}

/** An added value must match a schema on its own, or together with the existing value. */
function checkWith(schema: unknown, value: unknown, whole: () => unknown, name: string): void {
  try {
    validated(schema, value, name);
  } catch {
    validated(schema, whole(), name);
  }
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new SkeinError('SKEIN_INPUT', `reducer 'append' needs a list, not ${typeof value}`);
}

/** A channel at the end of a run, compared with its start. Unchanged if both `more` and `whole` are absent. */
export interface ChannelEnd {
  readonly name: string;
  readonly kind: KeptKind;
  readonly digest: string;
  /** Source of the value; absent if only the user. */
  readonly label?: Label | undefined;
  readonly more?: unknown;
  readonly whole?: unknown;
  /** True if the value is still the given input. */
  readonly isGiven?: boolean;
  /** True if the run wrote the value that was already there. */
  readonly isRepeated?: boolean;
}

/**
 * Returns the channels of a run's last state; of values that grew, only the added part.
 *
 * @throws SkeinError `SKEIN_NOT_JSON`
 */
export function channelEnds(
  { version, channels, labels }: RunState,
  carried: Carried,
  first?: Version,
): readonly ChannelEnd[] {
  const ends: ChannelEnd[] = [];
  version.each((channel, cell) => {
    if (isCleared(cell)) return;
    const name = channels.names[channel] ?? '';
    const reducer = channels.reducers[channel];
    const known = { name, digest: cellDigest(cell, reducer), ...present({ label: labels?.channels[name] }) };
    const end = endOf(known, carried.get(name), cell, reducer);
    if (end !== undefined) ends.push(marked(end, cell, first?.get(channel), reducer));
  });
  return ends;
}

/** `first`: the initial cell. Every write creates a new cell, even with the same value. */
function marked(end: ChannelEnd, cell: Cell, first: Cell | undefined, reducer: Reducer | undefined): ChannelEnd {
  if (first === undefined || cellDigest(first, reducer) !== end.digest) return end;
  const isKept = end.more === undefined && end.whole === undefined;
  return cell !== first && isKept ? { ...end, isRepeated: true } : { ...end, isGiven: true };
}

function endOf(
  one: Pick<ChannelEnd, 'name' | 'digest' | 'label'>,
  before: CarriedChannel | undefined,
  cell: Cell,
  reducer: Reducer | undefined,
): ChannelEnd | undefined {
  const as = before === undefined ? undefined : { ...one, kind: before.kept.kind };
  if (as !== undefined && before?.digest === one.digest) return as;
  const added = before === undefined ? undefined : addedTo(before.kept, cell, reducer);
  if (as !== undefined && before !== undefined && added !== undefined)
    return isNothing(added) ? { ...as, digest: before.digest } : { ...as, more: added };
  const value = cellValue(cell, reducer);
  if (value === undefined) return undefined;
  const more = before?.kept.isRead === true ? growth(before.kept.value, value) : undefined;
  const grown = more === undefined ? { whole: value } : { more };
  return { ...one, kind: kindOf(value), ...grown };
}

function isNothing(added: unknown): boolean {
  return (typeof added === 'object' && added !== null ? Object.keys(added) : String(added)).length === 0;
}

/** A shorter text is stored anew: an accidental prefix match would be kept as a chain of pieces. */
const SHORT_TEXT = 1_024;
/** An object with fewer keys, or with more than one changed key in `SHARE`, is stored anew. */
const FEW_KEYS = 64;
const SHARE = 8;

/** The addition to a value; undefined for a different value. State values are never changed in place, so parts are compared by identity. */
function growth(before: unknown, after: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(after)) {
    const isLonger = before.length > 0 && after.length > before.length;
    return isLonger && before.every((item, at) => after[at] === item) ? after.slice(before.length) : undefined;
  }
  if (typeof before === 'string' && typeof after === 'string') {
    const isLonger = before.length >= SHORT_TEXT && after.startsWith(before);
    return isLonger ? after.slice(before.length) : undefined;
  }
  if (!isPlainObject(before) || !isPlainObject(after)) return undefined;
  const keys = Object.keys(before);
  const all = Object.keys(after);
  if (keys.length < FEW_KEYS || !keys.every((key, at) => all[at] === key)) return undefined;
  const changed = all.filter((key) => !Object.hasOwn(before, key) || before[key] !== after[key]);
  return changed.length * SHARE > all.length ? undefined : Object.fromEntries(changed.map((key) => [key, after[key]]));
}
