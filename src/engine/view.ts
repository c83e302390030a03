import { digestText } from '../base/hash.js';
import type { ChannelTable } from './compile.js';
import { cellDigest, cellValue, isCleared } from './cell.js';
import type { Version } from './version.js';
import { givesStateAway } from './whole-view.js';

/** Where a view finds the names of channels; they may grow during a run. */
export interface ChannelSource {
  readonly channels: ChannelTable;
}

/** What a function sees of a state. */
type State = Readonly<Record<string, unknown>>;

/** What `console.log` of Node asks for. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** A version, and the names of its channels. */
export class Viewed {
  constructor(
    readonly version: Version,
    readonly source: ChannelSource,
  ) {}

  /** Called with the view. */
  [INSPECT](this: object): State {
    return { ...this };
  }
}

/** A state with more channels is given as a view to functions that give it away, too: as plain data it would cost time for each. */
const MOST_PLAIN = 256;

/**
 * What a function of a user sees of a version: an object with the channels as properties (S2). It can't be changed (S1). Made in constant time,
 * values are looked up when they are read; but who gives the state away as a whole gets it as plain data.
 */
export function stateView(version: Version, source: ChannelSource, fn?: unknown): State {
  if (isWhole(source, fn)) return plainState(version, source);
  return new Proxy(new Viewed(version, source), HANDLER) as unknown as State;
}

function isWhole({ channels }: ChannelSource, fn: unknown): boolean {
  return channels.names.length <= MOST_PLAIN && givesStateAway(fn);
}

function plainState(version: Version, source: ChannelSource): State {
  const state: Record<string, unknown> = {};
  const { names, reducers } = source.channels;
  version.each((channel, cell) => {
    if (!isCleared(cell)) state[names[channel] ?? ''] = cellValue(cell, reducers[channel]);
  });
  return Object.freeze(state);
}

/** The same with properties that note when they are read. */
function watchedState(observer: ReadObserver): State {
  const state: Record<string, unknown> = {};
  observer.keys();
  for (const name of keysOf(observer)) {
    const get = (): unknown => {
      observer.channel(name);
      return readChannel(observer.version, observer.source, name);
    };
    Object.defineProperty(state, name, { get, set: () => refuse(name), enumerable: true });
  }
  Object.defineProperty(state, INSPECT, { value: () => ({ ...state }) });
  return Object.preventExtensions(state);
}

function keysOf({ version, source }: Pick<Viewed, 'version' | 'source'>): string[] {
  const keys: string[] = [];
  version.each((channel, cell) => {
    if (!isCleared(cell)) keys.push(source.channels.names[channel] ?? '');
  });
  return keys;
}

/** What is viewed, and is told what is read of it. */
export interface ReadObserver extends Viewed {
  /** A channel, written or not. */
  channel(name: string): void;
  /** Which channels there are, and so all of them. */
  all(): void;
  /** Which channels there are. */
  keys(): void;
}

/** A view as {@link stateView} gives it, whose reads are observed. */
export function watchedView(observer: ReadObserver, fn: unknown): State {
  if (isWhole(observer.source, fn)) return watchedState(observer);
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

/** Digest of the names of the channels that somebody wrote. */
export function digestOfKeys(version: Version, source: ChannelSource): string {
  return digestText(JSON.stringify(keysOf({ version, source }).toSorted()));
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

/** What any object can do. Names that lead further, such as `constructor`, are not among them: names may come from a model. */
const METHODS: ReadonlyMap<string, unknown> = new Map(
  (['hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable', 'toLocaleString', 'toString', 'valueOf'] as const).map(
    (name) => [name, Object.prototype[name]],
  ),
);

function valueAt({ version, source }: Viewed, name: string): unknown {
  const value = readChannel(version, source, name);
  return value === undefined ? METHODS.get(name) : value;
}

const HANDLER: ProxyHandler<Viewed> = {
  get: (target, key) => (typeof key === 'string' ? valueAt(target, key) : undefined),
  has,
  ownKeys: keysOf,
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
