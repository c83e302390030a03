import { digestText } from '../base/hash.js';
import type { ChannelTable } from './compile.js';
import { cellDigest, cellValue, isCleared } from './cell.js';
import type { Version } from './version.js';

/** Where a view finds the names of channels; they may grow during a run. */
export interface ChannelSource {
  readonly channels: ChannelTable;
}

class Viewed {
  constructor(
    readonly version: Version,
    readonly source: ChannelSource,
  ) {}
}

/**
 * What a function of a user sees of a version: an object with the channels as properties (S2). Made in constant time; values are
 * looked up when they are read. It can't be changed (S1).
 */
export function stateView(version: Version, source: ChannelSource): Readonly<Record<string, unknown>> {
  return new Proxy(new Viewed(version, source), HANDLER) as unknown as Readonly<Record<string, unknown>>;
}

/** What is viewed, and is told what is read of it. */
export interface ReadObserver extends Viewed {
  /** A channel, written or not. */
  channel(name: string): void;
  /** Which channels there are, and so all of them. */
  all(): void;
}

/** A view as {@link stateView} gives it, whose reads are observed. */
export function watchedView(observer: ReadObserver): Readonly<Record<string, unknown>> {
  return new Proxy(observer, WATCHING) as unknown as Readonly<Record<string, unknown>>;
}

/** Digest of a channel in a version (J2); empty when nobody wrote it. */
export function digestOf(version: Version, source: ChannelSource, name: string): string {
  const { channels } = source;
  const channel = channels.index.get(name);
  const cell = channel === undefined ? undefined : version.get(channel);
  return channel === undefined || cell === undefined || isCleared(cell)
    ? ''
    : cellDigest(cell, channels.reducers[channel]);
}

/** Digest of all channels of a version. It does not depend on the order in which their names became known. */
export function digestOfAll(version: Version, source: ChannelSource): string {
  const { names, reducers } = source.channels;
  const lines: string[] = [];
  version.each((channel, cell) => {
    if (!isCleared(cell)) lines.push(`${names[channel] ?? ''} ${cellDigest(cell, reducers[channel])}`);
  });
  return digestText(JSON.stringify(lines.toSorted()));
}

/** The value of a channel in a version; undefined when nobody wrote it. */
export function readChannel(version: Version, source: ChannelSource, name: string): unknown {
  const { channels } = source;
  const channel = channels.index.get(name);
  if (channel === undefined) return undefined;
  const cell = version.get(channel);
  return cell === undefined ? undefined : cellValue(cell, channels.reducers[channel]);
}

function has(target: Viewed, key: string | symbol): boolean {
  if (typeof key !== 'string') return false;
  const channel = target.source.channels.index.get(key);
  const cell = channel === undefined ? undefined : target.version.get(channel);
  return cell !== undefined && !isCleared(cell);
}

/** A message that {@link isMutation} knows again. */
const ADVICE = 'the state is read-only: return an update such as';

function refuse(key: string | symbol): never {
  throw new TypeError(`${ADVICE} { ${String(key)}: ... } instead of changing it`);
}

const HANDLER: ProxyHandler<Viewed> = {
  get: (target, key) => (typeof key === 'string' ? readChannel(target.version, target.source, key) : undefined),
  has,
  ownKeys: (target) => {
    const keys: string[] = [];
    target.version.each((channel, cell) => {
      if (!isCleared(cell)) keys.push(target.source.channels.names[channel] ?? '');
    });
    return keys;
  },
  getOwnPropertyDescriptor: (target, key) => {
    if (typeof key !== 'string' || !has(target, key)) return undefined;
    return {
      value: readChannel(target.version, target.source, key),
      enumerable: true,
      configurable: true,
      writable: false,
    };
  },
  getPrototypeOf: () => Object.prototype,
  set: (_target, key) => refuse(key),
  deleteProperty: (_target, key) => refuse(key),
  defineProperty: (_target, key) => refuse(key),
  setPrototypeOf: () => refuse('__proto__'),
  preventExtensions: () => false,
};

const WATCHING: ProxyHandler<ReadObserver> = {
  ...(HANDLER as ProxyHandler<ReadObserver>),
  get: (target, key, receiver) => {
    if (typeof key === 'string') target.channel(key);
    return HANDLER.get?.(target, key, receiver) as unknown;
  },
  has: (target, key) => {
    if (typeof key === 'string') target.channel(key);
    return has(target, key);
  },
  ownKeys: (target) => {
    target.all();
    return HANDLER.ownKeys?.(target) ?? [];
  },
  getOwnPropertyDescriptor: (target, key) => {
    if (typeof key === 'string') target.channel(key);
    return HANDLER.getOwnPropertyDescriptor?.(target, key);
  },
};

const FROZEN =
  /^(Cannot assign to read only property|Cannot add property|Cannot delete property|Cannot define property|'set' on proxy|Cannot redefine property)/;

/** Is this what a node gets that changes the state, or a frozen value in it? */
export function isMutation(name: string | undefined, message: string): boolean {
  return name === 'TypeError' && (message.startsWith(ADVICE) || FROZEN.test(message));
}
