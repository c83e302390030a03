import { canonicalHash, digestText } from '../../base/hash.js';
import { present } from '../../base/json.js';
import { CLEAN, joinedIf, type Label } from '../../guard/label.js';
import type { FreedArguments } from '../../plan/tool-use.js';
import type { StateWatch } from '../ports/executor.js';
import type { Past } from '../ports/recording.js';
import { cellDigest, isCleared } from './cell.js';
import { channelLabel, versionLabel, type Influenced, type LabelSource } from './run-labels.js';
import type { Version } from './version.js';
import { watchedView } from './view.js';
import { keysOf, type ChannelSource, type ReadObserver } from './viewed.js';
import { sameTexts } from '../../base/collections.js';

/** Names of reads other than channels; channel names that begin like them get one more `#`. */
const ALL = '*';
const KEYS = '#keys';
export const ARRIVALS = '#arrivals';
const CORRECTION = '#correction';

/** Records which state a user's function reads, and whether that is still the same (J2). Only for back ends that record. */
export class ReadLog implements ReadObserver {
  private names: Set<string> | undefined = undefined;
  private fromRuns: Label | undefined = undefined;
  private files: Set<string> | undefined = undefined;
  private left: FreedArguments[] | undefined = undefined;

  constructor(
    readonly version: Version,
    readonly source: LabelSource,
    /** Receives the labels of the reads, and files written inside. */
    private readonly told?: Influenced & { wrote?(path: string): void },
  ) {}

  viewFor(fn: unknown): Readonly<Record<string, unknown>> {
    return watchedView(this, fn);
  }

  channel(name: string): void {
    this.add(written(name));
  }

  all(): void {
    this.add(ALL);
  }

  keys(): void {
    this.add(KEYS);
  }

  /** The function read its in-edge arrivals. */
  arrived(): void {
    this.add(ARRIVALS);
  }

  /** The function read the correction of the attempt before. */
  corrected(): void {
    this.add(CORRECTION);
  }

  /** A crash took what the function read: its outcome holds only if all that it could have read is the same. */
  lostReads(): void {
    for (const name of [ALL, ARRIVALS, CORRECTION]) this.add(name);
  }

  private add(name: string): void {
    (this.names ??= new Set()).add(name);
    if (this.source.run.labels.used) this.told?.influenced(this.labelOf(name));
  }

  /** The labels of arrivals and of a correction are already counted. */
  private labelOf(name: string): number {
    if (name === ALL || name === KEYS) return versionLabel(this.version, this.source);
    if (name === ARRIVALS || name === CORRECTION) return CLEAN;
    return channelLabel(this.version, this.source, read(name));
  }

  /** A record is used instead of the function: repeats the recorded reads. */
  reused({ reads = {}, heard, wrote = [] }: Past): void {
    for (const name of Object.keys(reads)) this.add(name);
    if (heard !== undefined) this.hear(heard);
    for (const path of wrote) this.wroteInside(path);
  }

  /** What the function has read and heard so far, for a later attempt that uses what it gave. */
  past(): Past {
    return present({ reads: this.reads(), heard: this.heard(), wrote: this.wrote() });
  }

  /** Adds a label that a run started by the function had heard. */
  hear(label: Label): void {
    this.fromRuns = joinedIf(this.fromRuns, label);
    this.told?.influenced(this.source.run.labels.of(label));
  }

  heard(): Label | undefined {
    return this.fromRuns;
  }

  /** Adds a file that a run started by the function wrote after something untrusted. */
  wroteInside(path: string): void {
    (this.files ??= new Set()).add(path);
    this.told?.wrote?.(path);
  }

  wrote(): readonly string[] | undefined {
    return this.files && [...this.files];
  }

  /** Adds arguments of a call that a person left free. */
  free(more: FreedArguments): void {
    (this.left ??= []).push(more);
  }

  freed(): readonly FreedArguments[] | undefined {
    return this.left;
  }

  /** Digests of the reads by name; undefined if nothing was read. A read of all channels includes single channels. */
  reads(): Readonly<Record<string, string>> | undefined {
    if (this.names === undefined) return undefined;
    const [first, second] = this.names;
    if (first !== undefined && second === undefined) return { [first]: this.current(first) };
    const all = this.names.has(ALL);
    const names = [...this.names].filter((name) => !all || !isChannel(name));
    return Object.fromEntries(names.toSorted().map((name) => [name, this.current(name)]));
  }

  current(name: string): string {
    if (name === ALL) return digestOfAll(this.version, this.source);
    if (name === KEYS) return digestOfKeys(this.version, this.source);
    if (name === ARRIVALS) return canonicalHash(this.arrivals());
    if (name === CORRECTION) return digestText(this.correction() ?? '');
    return digestOf(this.version, this.source, read(name));
  }

  /** The in-edge arrivals, for functions that can read them. */
  protected arrivals(): readonly unknown[] {
    return [];
  }

  /** The correction of the attempt before, for functions that can read it. */
  protected correction(): string | undefined {
    return undefined;
  }
}

/** Returns the state as code that is no function of a node sees it, with what it reads. */
export function watchOf(log: ReadLog): StateWatch {
  return {
    state: log.viewFor(undefined),
    reads: () => log.reads(),
    current: (name) => log.current(name),
    reused: (then) => log.reused(then),
    lostReads: () => log.lostReads(),
  };
}

/** Whether a read of all channels includes it. */
function isChannel(name: string): boolean {
  return name !== ALL && name !== ARRIVALS && name !== CORRECTION;
}

function written(channel: string): string {
  return channel === ALL || channel.startsWith('#') ? `#${channel}` : channel;
}

function read(name: string): string {
  return name.startsWith('#') ? name.slice(1) : name;
}

/** Digest of a channel in a version (J2); empty if no step wrote it. */
export function digestOf(version: Version, source: ChannelSource, name: string): string {
  const { channels } = source;
  const channel = channels.index.get(name);
  const cell = channel === undefined ? undefined : version.get(channel);
  return channel === undefined || cell === undefined || isCleared(cell)
    ? ''
    : cellDigest(cell, channels.reducers[channel]);
}

/** Digest of all channels of a version. Does not depend on the order in which their names became known. */
function digestOfAll(version: Version, source: ChannelSource): string {
  const { names, reducers } = source.channels;
  const lines: string[] = [];
  version.each((channel, cell) => {
    if (!isCleared(cell)) lines.push(`${names[channel] ?? ''} ${cellDigest(cell, reducers[channel])}`);
  });
  return digestText(JSON.stringify(lines.toSorted()));
}

function digestOfKeys(version: Version, source: ChannelSource): string {
  const names = keysOf({ version, source });
  // They rarely change from one step to the next.
  const last = lastKeys;
  if (last !== undefined && sameTexts(names, last.names)) return last.digest;
  const digest = digestText(JSON.stringify(names.toSorted()));
  lastKeys = { names, digest };
  return digest;
}

let lastKeys: { readonly names: readonly string[]; readonly digest: string } | undefined;
