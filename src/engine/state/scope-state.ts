import type { ReadChannel } from '../../lang/json-path.js';
import type { LabelledChannel } from '../../lang/outputs-block.js';
import type { LastState } from './carried-state.js';
import { isCleared } from './cell.js';
import type { ChannelTable, CompiledPlan } from '../graph/compile.js';
import { plainState } from './plain-state.js';
import type { RunServices, ScopeOptions } from '../services.js';
import { digestOf } from './reads.js';
import { readState } from './state-writer.js';
import type { Version } from './version.js';
import { stateView } from './view.js';
import type { State } from './viewed.js';
import { readChannel } from './viewed.js';

/** The state of one execution of a plan: its channels, how its versions are read, and the final one. */
export abstract class ScopeState {
  /** The channels, also those that showed only at run time. */
  channels: ChannelTable;
  /** See V2. */
  epoch = 0;
  protected readonly compiled: CompiledPlan;
  protected readonly inputs: Version;
  /** Absent before the end. */
  protected final: Version | undefined = undefined;

  constructor(
    readonly run: RunServices,
    { compiled, inputs, channels }: Pick<ScopeOptions, 'compiled' | 'inputs' | 'channels'>,
  ) {
    this.compiled = compiled;
    this.inputs = inputs;
    this.channels = channels ?? compiled.channels;
  }

  /** The channels of the plan; `channels` has those too that showed only at run time. */
  get declared(): ChannelTable {
    return this.compiled.channels;
  }

  get labelled(): readonly LabelledChannel[] {
    return this.compiled.labelled;
  }

  nameOf(node: number): string {
    return this.compiled.nodes[node]?.id ?? '';
  }

  /** How many nodes may run one after another. */
  protected get maxSteps(): number {
    return this.run.options.maxSteps ?? this.compiled.maxSteps;
  }

  get recorded(): boolean {
    return this.run.durable.recorded;
  }

  view(version: Version, fn?: unknown): State {
    return stateView(version, this, fn);
  }

  reader(version: Version): ReadChannel {
    return (channel) => readChannel(version, this, channel);
  }

  /** A channel of the final state (S4); undefined before the end. */
  read(channel: string): unknown {
    return this.final === undefined ? undefined : readChannel(this.final, this, channel);
  }

  /** Was a channel of the final state cleared? */
  clears(channel: string): boolean {
    return isCleared(this.final?.get(this.channels.index.get(channel) ?? -1));
  }

  /** Digest of a channel of the final state. */
  digest(channel: string): string {
    return this.final === undefined ? '' : digestOf(this.final, this, channel);
  }

  /** The version of the final state (S4), or what there is of it. */
  last(): LastState {
    return { version: this.final ?? this.inputs, channels: this.channels };
  }

  /** What there is of the final state (S4) for whoever ran it. */
  state(): Record<string, unknown> {
    return readState(this, this.final ?? this.inputs, this.compiled.plan.output);
  }

  /** A version as plain data, put together when it is read. */
  protected plain(version: Version): State {
    return plainState({ version, source: this });
  }

  /** What the check of the run is told of a version. */
  protected checkedState(version: Version): State {
    return this.run.checksWholes ? this.plain(version) : this.view(version);
  }
}
