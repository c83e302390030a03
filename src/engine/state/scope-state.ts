import { freezeData } from '../../base/json.js';
import type { ReadChannel } from '../../lang/json-path.js';
import { renderJson } from '../../lang/json-template.js';
import type { LabelledChannel } from '../../lang/outputs-block.js';
import { CLEAN, type Label } from '../../guard/label.js';
import type { RunResult } from '../run-result.js';
import type { CarriedLabels, RunState } from './inputs.js';
import { isCleared } from './cell.js';
import type { ChannelTable } from '../graph/channel-table.js';
import type { CompiledPlan } from '../graph/compile.js';
import { plainState } from './plain-state.js';
import type { RunServices, ScopeOptions, ScopeOwner } from '../services.js';
import { digestOf } from './reads.js';
import { LabelReads, channelLabel, versionLabel, type Influenced } from './run-labels.js';
import { readLater, readState, stateFor } from './state-writer.js';
import type { Version } from './version.js';
import { stateView, watchedView } from './view.js';
import { readChannel, type State } from './viewed.js';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The state of one execution of a plan: its channels, its versions and how they are read, and the final version. */
export abstract class ScopeState {
  /** The channels, including those that appeared at run time. */
  channels: ChannelTable;
  /** The current epoch (V2). */
  epoch = 0;
  protected readonly compiled: CompiledPlan;
  protected readonly inputs: Version;
  readonly outside: ScopeOwner;
  /** Undefined before the end. */
  protected final: Version | undefined = undefined;

  constructor(
    readonly run: RunServices,
    { compiled, inputs, channels, owner }: Pick<ScopeOptions, 'compiled' | 'inputs' | 'channels' | 'owner'>,
  ) {
    this.compiled = compiled;
    this.inputs = inputs;
    this.outside = owner;
    this.channels = channels ?? compiled.channels;
  }

  /** The channels of the plan; `channels` also includes those that appeared at run time. */
  get declared(): ChannelTable {
    return this.compiled.channels;
  }

  get labelled(): readonly LabelledChannel[] {
    return this.compiled.labelled;
  }

  nameOf(node: number): string {
    return this.compiled.nodes[node]?.id ?? '';
  }

  /** Maximum number of nodes that run one after another. */
  protected get maxSteps(): number {
    return this.run.options.maxSteps ?? this.compiled.maxSteps;
  }

  get recorded(): boolean {
    return this.run.durable.recorded;
  }

  /** `told`: receives the labels of what is read. */
  view(version: Version, fn?: unknown, told?: Influenced): State {
    if (told === undefined || !this.run.labels.used) return stateView(version, this, fn);
    return watchedView(new LabelReads(version, this, told), fn);
  }

  reader(version: Version, told?: Influenced): ReadChannel {
    if (told === undefined || !this.run.labels.used) return (channel) => readChannel(version, this, channel);
    const reads = new LabelReads(version, this, told);
    return (channel) => readChannel(version, this, channel, reads);
  }

  labelOf(version: Version): number {
    return versionLabel(version, this);
  }

  /** A channel of the final state (S4); undefined before the end. */
  read(channel: string): unknown {
    if (this.final === undefined) return undefined;
    this.outside.influenced(channelLabel(this.final, this, channel));
    return readChannel(this.final, this, channel);
  }

  /** Whether a channel of the final state was cleared. */
  clears(channel: string): boolean {
    const cell = this.final?.get(this.channels.index.get(channel) ?? -1);
    this.outside.influenced(cell?.label ?? CLEAN);
    return isCleared(cell);
  }

  /** Digest of a channel of the final state. */
  digest(channel: string): string {
    return this.final === undefined ? '' : digestOf(this.final, this, channel);
  }

  /** The version of the final state (S4), or its current part. */
  last(): RunState {
    const version = this.final ?? this.inputs;
    const { channels, run } = this;
    return { version, channels, ...(run.labels.used ? { labels: this.labelsOf(version) } : {}) };
  }

  /** Sources of the existing values, and of the absence of others. */
  private labelsOf(version: Version): CarriedLabels {
    const { labels } = this.run;
    const found: [string, Label][] = [];
    let absent = labels.join(labels.absent, this.control);
    version.each((channel, cell) => {
      const label = labels.join(cell.label, this.control);
      if (isCleared(cell)) absent = labels.join(absent, label);
      else if (label !== CLEAN) found.push([this.channels.names[channel] ?? '', labels.get(label)]);
    });
    return { channels: Object.fromEntries(found), ...(absent === CLEAN ? {} : { absent: labels.get(absent) }) };
  }

  /**
   * The outputs by the `values` of its plan; undefined if the plan has none.
   *
   * @throws SkeinError `SKEIN_TEMPLATE`
   */
  values(): Record<string, unknown> | undefined {
    const { values } = this.compiled.plan;
    if (values === undefined) return undefined;
    const filling = { read: (channel: string) => this.read(channel), labelled: this.labelled };
    return freezeData(renderJson({ object: values }, filling, this.run)) as Record<string, unknown>;
  }

  /** The final state (S4), or its current part, for the owner. */
  state(): Record<string, unknown> {
    const version = this.final ?? this.inputs;
    this.outside.influenced(versionLabel(version, this));
    return readState(this, version, this.compiled.plan.output);
  }

  /** Adds to a result the sources of final values that others than the user influenced. Computed on the first read. */
  tellLabels(result: Writable<Pick<RunResult, 'labels'>>): void {
    const { labels } = this.run;
    if (!labels.used) return;
    const { control } = this;
    const version = this.final ?? this.inputs;
    const { names: all, index } = this.channels;
    const names = this.compiled.plan.output ?? all;
    const labelOf = (name: string): number => {
      const cell = version.get(index.get(name) ?? -1);
      return cell === undefined || isCleared(cell) ? CLEAN : labels.join(cell.label, control);
    };
    if (!names.some((name) => labelOf(name) !== CLEAN)) return;
    readLater(result, 'labels', () => {
      const found = stateFor<Label>(names.length);
      for (const name of names) {
        const label = labelOf(name);
        if (label !== CLEAN) found[name] = labels.get(label);
      }
      return found;
    });
  }

  /** Label of everything in the final state, and of the routes that led to it. */
  get label(): number {
    return this.run.labels.join(versionLabel(this.final ?? this.inputs, this), this.control);
  }

  /** Label of everything that decided its routes. */
  abstract get control(): number;

  /** A version as plain data, built when read. */
  protected plain(version: Version): State {
    return plainState({ version, source: this });
  }

  protected checkedState(version: Version): State {
    return this.run.checksWholes ? this.plain(version) : this.view(version);
  }
}
