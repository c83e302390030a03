import type { ErrorData } from '../base/errors.js';
import { SkeinError } from '../base/errors.js';
import { FORBIDDEN_NAMES, freezeData, isPlainObject } from '../base/json.js';
import { didYouMean } from '../base/suggest.js';
import type { ChannelTable, CompiledNode } from './compile.js';
import type { Moment, Writer } from './cell.js';
import { cellValue, keepDigest, writeCell } from './cell.js';
import type { Version } from './version.js';

/** A Standard Schema (standardschema.dev), as far as it is used. */
interface SchemaLike {
  readonly '~standard': {
    validate(value: unknown): { value?: unknown; issues?: readonly { message: string }[] } | PromiseLike<unknown>;
  };
}

/** The step whose output is written. */
interface WritingStep extends Writer {
  readonly compiled: CompiledNode;
  /** What it saw. */
  readonly input: Version;
}

/** Who has channels. Names that the plan does not declare get an index when they are first written. */
export interface ChannelHolder extends Moment {
  readonly declared: ChannelTable;
  channels: ChannelTable;
}

/**
 * The version after a step (S1): its output frozen in place, and written over what it saw.
 *
 * @throws SkeinError `SKEIN_BAD_UPDATE` for an output that is no update, an undeclared channel, or a value that a schema refuses.
 */
export function writeOutput(holder: ChannelHolder, step: WritingStep, output: unknown): Version {
  const { compiled: node, input: version } = step;
  if (output === undefined) return version;
  if (node.output >= 0) return put(holder, version, node.output, output, step);
  if (output === null) return version;
  if (!isPlainObject(output)) throw badUpdate(node, output);
  let result = version;
  for (const key of Object.keys(output)) {
    const value = output[key];
    if (value !== undefined) result = put(holder, result, indexFor(holder, node, key), value, step);
  }
  return result;
}

function put(holder: ChannelHolder, version: Version, channel: number, value: unknown, step: WritingStep): Version {
  const { schemas, reducers, names } = holder.channels;
  const schema = schemas[channel];
  const checked = freezeData(schema === undefined ? value : validated(schema, value, names[channel] ?? ''));
  const cell = writeCell(version.get(channel), checked, step, holder, reducers[channel]);
  if (holder.recorded && checked !== value) keepDigest(cell, checked, value);
  return version.with(channel, cell);
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
    throw new SkeinError('SKEIN_BAD_UPDATE', `'${node.id}' returned '${name}', which is no key of the state`, {
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

/** Values by channel name: those of the plan in plan order, then the others by name. */
export function readState(holder: ChannelHolder, version: Version): Record<string, unknown> {
  const { names, reducers, index } = holder.channels;
  const declared = holder.declared.names.length;
  const state: Record<string, unknown> = {};
  const take = (name: string, channel: number): void => {
    const cell = version.get(channel);
    if (cell !== undefined) state[name] = cellValue(cell, reducers[channel]);
  };
  for (let channel = 0; channel < declared; channel++) take(names[channel] ?? '', channel);
  if (names.length > declared) {
    for (const name of names.slice(declared).toSorted()) take(name, index.get(name) ?? -1);
  }
  return state;
}

function badUpdate(node: CompiledNode, output: unknown): SkeinError {
  const what =
    typeof output === 'object' ? (Array.isArray(output) ? 'a list' : 'a class instance') : `a ${typeof output}`;
  return new SkeinError('SKEIN_BAD_UPDATE', `'${node.id}' returned ${what}, which is no update`, {
    hint: 'return an object of channel values, such as { answer: 42 }, or name a channel with `output`',
  });
}

/** @throws SkeinError `SKEIN_BAD_UPDATE` for a value that the schema refuses */
export function validated(schema: unknown, value: unknown, channel: string): unknown {
  const result = (schema as SchemaLike)['~standard'].validate(value);
  if ('then' in result) {
    throw new SkeinError(
      'SKEIN_BAD_UPDATE',
      `the schema of '${channel}' is asynchronous, which the state does not support`,
    );
  }
  if (result.issues === undefined) return result.value;
  const why = result.issues.map((issue) => issue.message).join('; ');
  throw new SkeinError('SKEIN_BAD_UPDATE', `the value for '${channel}' does not match its schema: ${why}`);
}

/** The error of two unordered writes (S3). */
export function conflictError(channel: string, writers: readonly [string, string]): ErrorData {
  const [one, other] = writers;
  return {
    code: 'SKEIN_WRITE_CONFLICT',
    message: `'${one}' and '${other}' both wrote '${channel}', and neither ran before the other`,
    hint: `give '${channel}' a reducer, let them write different channels, or put an edge between them`,
    details: { channel, writers: [one, other] },
  };
}
