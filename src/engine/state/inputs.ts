import { SkeinError, toErrorData } from '../../base/errors.js';
import { FORBIDDEN_NAMES, cloneData, freezeData } from '../../base/json.js';
import type { Plan } from '../../plan/plan.js';
import type { ChannelTable, CompiledPlan } from '../graph/compile.js';
import type { Cell } from './cell.js';
import { inputCell } from './cell.js';
import type { StateEdits } from '../services.js';
import { validated } from './state-writer.js';
import { EMPTY_VERSION } from './version.js';
import type { Version } from './version.js';

/** What a run begins with. */
export interface FirstState {
  readonly version: Version;
  /** The channels of the plan, and one for each value that it does not declare. */
  readonly channels: ChannelTable;
}

/**
 * The first state version: inputs are checked by name, cloned once and frozen (S1). Values of channels that the plan does not
 * declare as inputs are taken as first values of those channels; with open inputs any name is a channel.
 *
 * @throws SkeinError `SKEIN_INPUT` that names every input that is missing, unknown, or refused by its schema.
 */
export function firstState(compiled: CompiledPlan, given: Readonly<Record<string, unknown>> | undefined): FirstState {
  const { plan } = compiled;
  if (given === undefined && plan.inputs.length === 0) return { version: EMPTY_VERSION, channels: compiled.channels };
  const values = given ?? {};
  const channels = plan.openInputs === true ? opened(compiled, values) : compiled.channels;
  let version = EMPTY_VERSION;
  const problems: string[] = [];
  const declared = new Set<string>();
  const put = (channel: string, value: unknown): void => {
    const at = channels.index.get(channel);
    if (at === undefined) problems.push(`'${channel}' is neither an input nor a channel`);
    else {
      try {
        version = version.with(at, firstCell(channels, at, value));
      } catch (error) {
        problems.push(`'${channel}': ${toErrorData(error).message}`);
      }
    }
  };
  for (const input of plan.inputs) {
    declared.add(input.name);
    const said = Object.hasOwn(values, input.name) ? values[input.name] : input.default;
    const value = said === undefined ? defaultOf(channels.schemas[channels.index.get(input.channel) ?? -1]) : said;
    if (value !== undefined) put(input.channel, value);
    else if (input.required) problems.push(`'${input.name}' is missing`);
  }
  for (const name of Object.keys(values)) if (!declared.has(name)) put(name, values[name]);
  channels.schemas.forEach((schema, at) => {
    const value = version.get(at) === undefined ? defaultOf(schema) : undefined;
    if (value !== undefined) put(channels.names[at] ?? '', value);
  });
  if (problems.length === 0) return { version, channels };
  throw inputError(plan, problems);
}

/**
 * What is set in place of what steps gave.
 *
 * @throws SkeinError `SKEIN_INPUT` for values that their schemas refuse
 */
export function checkEdits({ plan, channels }: CompiledPlan, edits: StateEdits = {}): void {
  const problems: string[] = [];
  for (const [channel, value] of Object.values(edits).flatMap(Object.entries<unknown>)) {
    const at = channels.index.get(channel) ?? -1;
    const schema = channels.schemas[at];
    const isItem = channels.reducers[at]?.definition() === 'append';
    try {
      if (schema !== undefined) validated(schema, isItem ? [value] : value, channel);
    } catch (error) {
      problems.push(`'${channel}': ${toErrorData(error).message}`);
    }
  }
  if (problems.length > 0) throw inputError(plan, problems);
}

/** The error for inputs that are missing, unknown or refused. */
export function inputError({ name, inputs }: Plan, problems: readonly string[]): SkeinError {
  const known = inputs.map((input) => input.name).join(', ');
  return new SkeinError('SKEIN_INPUT', `inputs of '${name}': ${problems.join('; ')}`, {
    hint: known === '' ? 'the workflow declares no inputs' : `it takes ${known}`,
  });
}

/** What a schema makes of a value that is not there; undefined when it has no default. */
export function defaultOf(schema: unknown): unknown {
  if (schema === undefined) return undefined;
  try {
    return validated(schema, undefined, '');
  } catch {
    return undefined;
  }
}

/** @throws Error for a value that its schema or its reducer refuses, or that contains itself */
export function firstCell({ names, schemas, reducers }: ChannelTable, channel: number, value: unknown): Cell {
  const schema = schemas[channel];
  const copy = cloneData(value);
  return inputCell(
    freezeData(schema === undefined ? copy : validated(schema, copy, names[channel] ?? '')),
    reducers[channel],
  );
}

/** The channels of a plan with one for each value that it does not declare: by name, so that their order says nothing of the caller. */
function opened({ plan, channels }: CompiledPlan, values: Readonly<Record<string, unknown>>): ChannelTable {
  const declared = new Set(plan.inputs.map((input) => input.name));
  const isNew = (name: string): boolean =>
    !declared.has(name) && !channels.index.has(name) && values[name] !== undefined && !FORBIDDEN_NAMES.has(name);
  const added = Object.keys(values).filter(isNew).toSorted();
  if (added.length === 0) return channels;
  const names = [...channels.names, ...added];
  return { ...channels, names, index: new Map(names.map((name, at) => [name, at])) };
}
