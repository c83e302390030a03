import { SkeinError, toErrorData } from '../../base/errors.js';
import { FORBIDDEN_NAMES, cloneData, freezeData, present } from '../../base/json.js';
import { inputValue } from '../../plan/input-types.js';
import type { InputSpec, Plan } from '../../plan/plan.js';
import type { ChannelTable } from '../graph/channel-table.js';
import type { CompiledPlan } from '../graph/compile.js';
import { inputCell, type Cell } from './cell.js';
import type { RunLabels } from './run-labels.js';
import { labelsOfInputs, type MarkedNames, type Label } from '../../guard/label.js';
import type { StateEdits } from '../services.js';
import { validated } from './state-writer.js';
import { EMPTY_VERSION, type Version } from './version.js';

/** The initial or the final state of a run. */
export interface RunState {
  readonly version: Version;
  /** The channels of the plan, and one for each value that it does not declare. */
  readonly channels: ChannelTable;
  /** In an initial state, the sources of values from another run's final state. */
  readonly labels?: CarriedLabels | undefined;
}

/** Labels of a run's final state. */
export interface CarriedLabels {
  /** Labels by channel, for values influenced by others than the user. */
  readonly channels: Readonly<Record<string, Label>>;
  /** Label of the absence of values. */
  readonly absent?: Label | undefined;
}

/**
 * Returns the first state version: inputs are checked by name, cloned once and frozen (S1). Values of channels that the plan does not
 * declare as inputs become the first values of those channels; with open inputs any name is a channel.
 *
 * @throws SkeinError `SKEIN_INPUT` that names every input that is missing, unknown, or refused by its schema.
 */
export function firstState(compiled: CompiledPlan, given: Readonly<Record<string, unknown>> | undefined): RunState {
  const { plan } = compiled;
  if (given === undefined && plan.inputs.length === 0) return { version: EMPTY_VERSION, channels: compiled.channels };
  const values = given ?? {};
  const channels = plan.openInputs === true ? tableWith(compiled, values) : compiled.channels;
  const writer = new InputWriter(channels, EMPTY_VERSION, (at, _old, value) => firstCell(channels, at, value));
  for (const input of plan.inputs) {
    const said = Object.hasOwn(values, input.name) ? values[input.name] : input.default;
    const value = said === undefined ? defaultOf(channels.schemas[channels.index.get(input.channel) ?? -1]) : said;
    if (value !== undefined) writer.give(input, value);
    else if (input.required) writer.problems.push(`'${input.name}' is missing`);
  }
  return { version: writer.finish(plan, values), channels };
}

interface Starting extends MarkedNames {
  readonly first?: RunState;
  readonly inputs?: Readonly<Record<string, unknown>>;
}

export function firstOf(compiled: CompiledPlan, options: Starting, labels: RunLabels): RunState {
  const first = options.first ?? firstState(compiled, options.inputs);
  const { version, channels, labels: carried } = first;
  // The cells were created for this run, and are not visible yet.
  const add = (channel: string, label: Label): void => {
    const cell = version.get(channels.index.get(channel) ?? -1);
    if (cell !== undefined) cell.label = labels.join(cell.label, labels.of(label));
  };
  for (const [channel, label] of Object.entries(carried?.channels ?? {})) add(channel, label);
  if (carried?.absent !== undefined) labels.absent = labels.of(carried.absent);
  for (const [name, label] of labelsOfInputs(options)) {
    const input = compiled.plan.inputs.find((one) => one.name === name);
    add(input?.channel ?? name, label);
  }
  return { version, channels };
}

export class InputWriter {
  readonly problems: string[] = [];

  constructor(
    private readonly channels: ChannelTable,
    public version: Version,
    private readonly cellOf: (channel: number, old: Cell | undefined, value: unknown) => Cell,
  ) {}

  give(input: InputSpec, value: unknown): void {
    const typed = inputValue(input, value);
    if ('value' in typed) this.put(input.channel, typed.value);
    else this.problems.push(`'${input.name}' ${typed.why}`);
  }

  put(channel: string, value: unknown): void {
    const at = this.channels.index.get(channel);
    if (at === undefined) this.problems.push(`'${channel}' is neither an input nor a channel`);
    else {
      try {
        this.version = this.version.with(at, this.cellOf(at, this.version.get(at), value));
      } catch (error) {
        this.problems.push(`'${channel}': ${toErrorData(error).message}`);
      }
    }
  }

  /**
   * Returns the version, including values that the plan does not declare as inputs, and schema defaults of channels without a value.
   *
   * @throws SkeinError `SKEIN_INPUT`
   */
  finish(plan: Plan, values: Readonly<Record<string, unknown>>): Version {
    const { names, schemas } = this.channels;
    const declared = new Set(plan.inputs.map(({ name }) => name));
    for (const name of Object.keys(values)) if (!declared.has(name)) this.put(name, values[name]);
    schemas.forEach((schema, at) => {
      const value = this.version.get(at) === undefined ? defaultOf(schema) : undefined;
      if (value !== undefined) this.put(names[at] ?? '', value);
    });
    if (this.problems.length > 0) throw inputError(plan, this.problems);
    return this.version;
  }
}

/** @throws SkeinError `SKEIN_INPUT` if a schema refuses one of the values that replace those of steps */
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

function inputError({ name, inputs, openInputs }: Plan, problems: readonly string[]): SkeinError {
  const known = inputs.map((input) => input.name).join(', ');
  const none = openInputs === true ? undefined : 'the workflow declares no inputs';
  const hint = known === '' ? none : `it takes ${known}`;
  return new SkeinError('SKEIN_INPUT', `inputs of '${name}': ${problems.join('; ')}`, present({ hint }));
}

export function defaultOf(schema: unknown): unknown {
  if (schema === undefined) return undefined;
  try {
    return validated(schema, undefined, '');
  } catch {
    return undefined;
  }
}

/** @throws Error if the schema or reducer refuses the value, or it contains itself */
export function firstCell({ names, schemas, reducers }: ChannelTable, channel: number, value: unknown): Cell {
  const schema = schemas[channel];
  const copy = cloneData(value);
  return inputCell(
    freezeData(schema === undefined ? copy : validated(schema, copy, names[channel] ?? '')),
    reducers[channel],
  );
}

/** Returns the channels of a plan with one for each undeclared value and for each of `more`, sorted by name. */
export function tableWith(
  { plan, channels }: CompiledPlan,
  values: Readonly<Record<string, unknown>>,
  more: Iterable<string> = [],
): ChannelTable {
  const declared = new Set(plan.inputs.map((input) => input.name));
  const given = Object.keys(values).filter((name) => values[name] !== undefined && !declared.has(name));
  const isNew = (name: string): boolean => !channels.index.has(name) && !FORBIDDEN_NAMES.has(name);
  const added = [...new Set([...more, ...given])].filter(isNew).toSorted();
  if (added.length === 0) return channels;
  const names = [...channels.names, ...added];
  return { ...channels, names, index: new Map(names.map((name, at) => [name, at])) };
}
