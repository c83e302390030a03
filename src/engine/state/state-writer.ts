import { isLate } from '../../base/at-once.js';
import { SkeinError, toErrorData, type ErrorData } from '../../base/errors.js';
import { FORBIDDEN_NAMES, freezeData, isPlainObject } from '../../base/json.js';
import { didYouMean } from '../../base/suggest.js';
import type { ChannelTable } from '../graph/channel-table.js';
import type { CompiledNode, CompiledPlan } from '../graph/compile.js';
import type { Reducer } from '../../plan/reducers.js';
import type { ChannelWrite } from '../ports/executor.js';
import {
  cellValue,
  foldedWith,
  isCleared,
  isUnread,
  keepDigest,
  tryFold,
  writeCell,
  type Cell,
  type Moment,
  type Writer,
} from './cell.js';
import { CLEAN } from '../../guard/label.js';
import { INSPECT } from './plain-state.js';
import type { Influenced, RunLabels } from './run-labels.js';
import type { Version } from './version.js';
import { issueText } from '../../plan/given-schema.js';
import type { ItemError, StepEnd } from '../../plan/plan.js';

/** The used part of a Standard Schema (standardschema.dev). */
interface SchemaLike {
  readonly '~standard': {
    validate(value: unknown): { value?: unknown; issues?: readonly unknown[] } | PromiseLike<unknown>;
  };
}

/** The step whose output is written. */
export interface WritingStep extends Writer {
  readonly compiled: CompiledNode;
  readonly input: Version;
  readonly influence: number;
  /** Label of its result, which may have been endorsed. */
  readonly given: number;
  /** Adds a label of what influences whether it can write. */
  influenced(label: number): void;
}

/** The owner of channels. Names that the plan does not declare get an index when first written. */
export interface ChannelHolder extends Moment {
  readonly declared: ChannelTable;
  channels: ChannelTable;
  readonly run: { readonly labels: RunLabels };
}

/**
 * Returns the version after a step (S1): its frozen output written over what it saw. An undefined value in an update clears its channel.
 *
 * @throws SkeinError `SKEIN_BAD_UPDATE` if the output is not an update, a channel is undeclared, or a schema refuses a value.
 */
export function writeOutput(
  holder: ChannelHolder,
  step: WritingStep,
  output: unknown,
  writes: readonly ChannelWrite[] | undefined,
): Version {
  return writeChannels(holder, step, writeResult(holder, step, output), writes);
}

/** Returns a version with what a step writes in addition to its output. @throws SkeinError as {@link writeOutput} */
export function writeChannels(
  holder: ChannelHolder,
  step: WritingStep,
  before: Version,
  writes: readonly ChannelWrite[] = [],
): Version {
  let version = before;
  for (const { channel, value } of writes) {
    const index = indexFor(holder, step.compiled, channel);
    version = put(holder, version, index, value, step);
    if (step.given !== step.influence) relabelled(version.get(index), step.influence, holder);
  }
  return version;
}

/** The endorsement of the result does not apply to this write. */
function relabelled(cell: Cell | undefined, label: number, { run }: ChannelHolder): void {
  if (cell !== undefined) cell.label = run.labels.join(cell.label, label);
}

function writeResult(holder: ChannelHolder, step: WritingStep, output: unknown): Version {
  const { compiled: node, input: version } = step;
  if (output === undefined)
    return givesNothing(holder, version, node) ? version : put(holder, version, node.output, output, step);
  if (node.output >= 0) return put(holder, version, node.output, output, step);
  if (output === null) return version;
  if (!isPlainObject(output)) throw badUpdate(node, output);
  let result = version;
  for (const key of Object.keys(output)) {
    result = put(holder, result, indexFor(holder, node, key), output[key], step);
  }
  return result;
}

/** An undefined result changes nothing, unless the node's last value is in the channel: that value is then cleared. */
function givesNothing({ channels }: ChannelHolder, version: Version, node: CompiledNode): boolean {
  const old = version.get(node.output);
  return old?.writer !== node.index || channels.reducers[node.output] !== undefined || isCleared(old);
}

function put(holder: ChannelHolder, version: Version, channel: number, value: unknown, step: WritingStep): Version {
  const { schemas, reducers, names } = holder.channels;
  const schema = schemas[channel];
  const reducer = reducers[channel];
  const old = version.get(channel);
  const name = names[channel] ?? '';
  const checked = freezeData(
    schema === undefined || value === undefined
      ? value
      : reducer === undefined
        ? validated(schema, value, name)
        : validContribution({ schema, reducer, old, name, step }, value),
  );
  const cell = writeCell(old, checked, step, holder, reducer);
  // A reduced value contains everything before it.
  const { labels } = holder.run;
  cell.label = reducer === undefined ? step.given : labels.join(old?.label ?? labels.absent, step.given);
  if (holder.recorded && checked !== value) keepDigest(cell, checked, value);
  return version.with(channel, cell, old);
}

/** A channel with a schema and a reducer, as seen by the writing step. */
interface Folding {
  readonly schema: unknown;
  readonly reducer: Reducer;
  readonly old: Cell | undefined;
  readonly name: string;
  readonly step: WritingStep;
}

/** A contribution must match a schema on its own, `append`ed to nothing, or folded into what the step saw. */
function validContribution({ schema, reducer, old, name, step }: Folding, value: unknown): unknown {
  const isItem = reducer.definition() === 'append';
  try {
    if (!isItem) return validated(schema, value, name);
    const list = validated(schema, [value], name);
    return Array.isArray(list) ? list[0] : value;
  } catch {
    step.influenced(old?.label ?? CLEAN);
    validated(schema, foldedWith(old, value, reducer), name);
    return value;
  }
}

function indexFor(holder: ChannelHolder, node: CompiledNode, name: string): number {
  if (node.writes !== undefined && !node.writes.has(name)) {
    throw new SkeinError('SKEIN_BAD_UPDATE', `'${node.id}' returned '${name}', which it does not declare to write`, {
      hint: `it declares ${[...node.writes].join(', ')}`,
    });
  }
  const known = holder.channels.index.get(name);
  if (known !== undefined) return known;
  if (holder.declared.closed) {
    throw new SkeinError('SKEIN_BAD_UPDATE', `'${node.id}' returned '${name}', which is not a key of the state`, {
      hint: didYouMean(name, holder.declared.names) ?? `keys are ${holder.declared.names.join(', ')}`,
    });
  }
  if (FORBIDDEN_NAMES.has(name)) throw new SkeinError('SKEIN_BAD_UPDATE', `'${name}' can't be the name of a channel`);
  return addChannel(holder, name);
}

/** The plan's own table is shared by all its runs: it is copied before the first name is added. */
function addChannel(holder: ChannelHolder, name: string): number {
  if (holder.channels === holder.declared) {
    const { names, index, reducers, schemas, closed } = holder.declared;
    holder.channels = { names: [...names], index: new Map(index), reducers, schemas, closed };
  }
  const { names, index } = holder.channels;
  (index as Map<string, number>).set(name, names.length);
  return (names as string[]).push(name) - 1;
}

/** The error for the first channel whose contributions a reducer can't fold; undefined if all can be read. */
export function foldError({ channels }: ChannelHolder, version: Version, told: Influenced): ErrorData | undefined {
  const { names, reducers } = channels;
  for (let channel = 0; channel < reducers.length; channel++) {
    const reducer = reducers[channel];
    const cell = reducer === undefined ? undefined : version.get(channel);
    if (reducer === undefined || cell === undefined || isCleared(cell)) continue;
    try {
      tryFold(cell, reducer);
    } catch (error) {
      told.influenced(cell.label);
      const { message } = toErrorData(error);
      return {
        code: 'SKEIN_BAD_UPDATE',
        message: `the values for '${names[channel] ?? ''}' can't be folded: ${message}`,
      };
    }
  }
  return undefined;
}

/** The output of a step after values set from outside. */
export function editedOutput(
  { node }: Pick<CompiledNode, 'node'>,
  output: unknown,
  set: Readonly<Record<string, unknown>> | undefined,
): unknown {
  if (set === undefined) return output;
  if (node.output !== undefined) return Object.hasOwn(set, node.output) ? set[node.output] : output;
  return { ...(isPlainObject(output) ? output : {}), ...set };
}

/** The additional writes after values set from outside; writes that clear a channel stay. */
export function editedWrites(
  writes: readonly ChannelWrite[] | undefined,
  set: Readonly<Record<string, unknown>> | undefined,
): readonly ChannelWrite[] | undefined {
  if (writes === undefined || set === undefined) return writes;
  const isSet = ({ channel, value }: ChannelWrite): boolean => value !== undefined && Object.hasOwn(set, channel);
  return writes.map((write) => (isSet(write) ? { ...write, value: set[write.channel] } : write));
}

/** The error for a final state that does not match the plan's declared output; undefined if it does. */
export function outputError(
  { plan, bindings, prefix }: Pick<CompiledPlan, 'plan' | 'bindings' | 'prefix'>,
  read: (channel: string) => unknown,
): ErrorData | undefined {
  for (const name of plan.output ?? []) {
    const schema = bindings[`${prefix}output:${name}`];
    if (schema === undefined) continue;
    try {
      validated(schema, read(name), name);
    } catch (error) {
      const message = `the output of '${plan.name}' is not what it declares: ${toErrorData(error).message}`;
      const hint = `no node gave '${name}' such a value; its node may not have run`;
      return { code: 'SKEIN_BAD_OUTPUT', message, hint };
    }
  }
  return undefined;
}

/**
 * Returns values by channel name: those of the plan in plan order, then the others by name. Leaves out what a reducer can't fold: the run
 * has failed because of it. `only`: includes only these channels, in this order.
 */
export function readState(holder: ChannelHolder, version: Version, only?: readonly string[]): Record<string, unknown> {
  const { names, reducers, index } = holder.channels;
  const declared = holder.declared.names.length;
  const state = stateFor<unknown>(only?.length ?? names.length);
  const take = (name: string, channel: number): void => {
    const cell = version.get(channel);
    if (cell === undefined || isCleared(cell)) return;
    const reducer = reducers[channel];
    try {
      if (isUnread(cell, reducer)) readLater(state, name, () => cellValue(cell, reducer));
      else state[name] = cellValue(cell, reducer);
    } catch {
      // See foldError.
    }
  };
  if (only !== undefined) {
    for (const name of only) take(name, index.get(name) ?? -1);
    return state;
  }
  if (names.length > MANY) version.join();
  for (let channel = 0; channel < declared; channel++) take(names[channel] ?? '', channel);
  if (names.length > declared) {
    for (const name of names.slice(declared).toSorted()) take(name, index.get(name) ?? -1);
  }
  return state;
}

/** A state with more channels is read from the tree alone, into an object of its own kind. */
const MANY = 128;

/** Creates an object for `size` properties. V8 turns a large one into a dictionary; starting as a dictionary halves the time to fill it. */
export function stateFor<T>(size: number): Record<string, T> {
  return size <= MANY ? {} : (Object.setPrototypeOf({ __proto__: null }, Object.prototype) as Record<string, T>);
}

/** Defines a property that is computed on the first read, and is an ordinary one from then on. */
export function readLater(state: object, name: string, read: () => unknown): void {
  const get = (): unknown => {
    const value = read();
    Object.defineProperty(state, name, { value, enumerable: true, configurable: true, writable: true });
    return value;
  };
  Object.defineProperty(state, name, { get, enumerable: true, configurable: true });
  // Printing shows the values.
  Object.defineProperty(state, INSPECT, { value: () => ({ ...state }), configurable: true });
}

function badUpdate(node: CompiledNode, output: unknown): SkeinError {
  const what =
    typeof output === 'object' ? (Array.isArray(output) ? 'a list' : 'a class instance') : `a ${typeof output}`;
  return new SkeinError('SKEIN_BAD_UPDATE', `'${node.id}' returned ${what}, which is not an update`, {
    hint: 'return an object of channel values, such as { answer: 42 }, or name a channel with `output`',
  });
}

/** @throws SkeinError `SKEIN_BAD_UPDATE` if the schema refuses the value */
export function validated(schema: unknown, value: unknown, channel: string): unknown {
  const result = (schema as SchemaLike)['~standard'].validate(value);
  if (isLate(result)) {
    throw new SkeinError(
      'SKEIN_BAD_UPDATE',
      `the schema of '${channel}' is asynchronous, which the state does not support`,
    );
  }
  if (result.issues === undefined) return result.value;
  const why = result.issues.map(issueText).join('; ');
  throw new SkeinError('SKEIN_BAD_UPDATE', `the value for '${channel}' does not match its schema: ${why}`);
}

interface Ended extends WritingStep {
  readonly itemErrors: readonly ItemError[];
}

/** How a step ended, for steps that succeeded or have no result. */
export interface Ending {
  readonly outcome: StepEnd['status'];
  readonly error?: ErrorData | undefined;
}

/** Returns a version with how a step ended, if its node has a channel for that. */
export function writeEnding(holder: ChannelHolder, step: Ended, version: Version, { outcome, error }: Ending): Version {
  const { node } = step.compiled;
  if (node.ending === undefined) return version;
  const value: StepEnd = {
    status: outcome,
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    ...(node.kind === 'map' ? { errors: [...step.itemErrors] } : {}),
  };
  return writeChannels(holder, step, version, [{ channel: node.ending, value }]);
}
