import { glancesOf } from '../../plan/glances.js';
import { cellValue, glanceOf, isCleared, type Cell } from './cell.js';
import { INSPECT, plainState, watchedState } from './plain-state.js';
import type { Version } from './version.js';
import { refuse, type ChannelSource, type ReadObserver, type State } from './viewed.js';
import { givesStateAway } from './whole-view.js';

/** A state with more channels is passed as a view even to functions that pass it on: plain data would cost time for each channel. */
const MOST_PLAIN = 256;

/**
 * Returns a version as a user's function sees it: an object with the channels as properties (S2) that can't be changed (S1). Created in
 * constant time, with values looked up on each read; functions that pass on the whole state get plain data instead.
 */
export function stateView(version: Version, source: ChannelSource, fn?: unknown): State {
  if (isWhole(source, fn)) return plainState({ version, source });
  return new Proxy(EMPTY, new View(version, source, fn, undefined));
}

/** Returns a view like {@link stateView} whose reads are observed. */
export function watchedView(observer: ReadObserver, fn: unknown): State {
  const { version, source } = observer;
  return isWhole(source, fn) ? watchedState(observer) : new Proxy(EMPTY, new View(version, source, fn, observer));
}

function isWhole({ channels }: ChannelSource, fn: unknown): boolean {
  return channels.names.length <= MOST_PLAIN && givesStateAway(fn);
}

/** Methods of every object. Names that lead further, such as `constructor`, are not included: names may come from a model. */
const METHODS = ['hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable', 'toLocaleString', 'toString', 'valueOf'];

/** The prototype of all views. It has no prototype of its own. */
const INHERITED = Object.create(null, {
  ...Object.fromEntries(METHODS.map((name) => [name, { value: Reflect.get(Object.prototype, name) as unknown }])),
  // `this` is the view.
  [INSPECT]: {
    value(this: object): State {
      return { ...this };
    },
  },
}) as Readonly<Record<string, unknown>>;

type Target = Record<string, unknown>;

const EMPTY = Object.create(INHERITED) as Target;

/** The traps of a view. A reader of all keys reads each of them next, twice: so the position in their order is kept. */
class View implements ProxyHandler<Target> {
  private order: readonly number[] | undefined = undefined;
  private place = 0;

  constructor(
    private readonly version: Version,
    private readonly source: ChannelSource,
    private readonly fn: unknown,
    private readonly observer: ReadObserver | undefined,
  ) {}

  get(_target: Target, key: string | symbol): unknown {
    if (typeof key !== 'string') return undefined;
    const channel = this.find(key);
    const cell = this.read(key, channel);
    const value = cell === undefined ? undefined : this.valueOf(key, cell, channel);
    return value === undefined ? INHERITED[key] : value;
  }

  has(_target: Target, key: string | symbol): boolean {
    return typeof key === 'string' && this.written(key, this.find(key)) !== undefined;
  }

  ownKeys(): string[] {
    this.observer?.all();
    const { names } = this.source.channels;
    const order: number[] = [];
    const keys: string[] = [];
    this.version.each((channel, cell) => {
      if (isCleared(cell)) return;
      order.push(channel);
      keys.push(names[channel] ?? '');
    });
    this.order = order;
    this.place = 0;
    return keys;
  }

  getOwnPropertyDescriptor(_target: Target, key: string | symbol): PropertyDescriptor | undefined {
    if (typeof key !== 'string') return undefined;
    const channel = this.find(key);
    const cell = this.written(key, channel);
    if (cell === undefined) return undefined;
    return { value: this.valueOf(key, cell, channel), enumerable: true, configurable: true, writable: false };
  }

  private find(key: string): number | undefined {
    const { order, source } = this;
    const { names, index } = source.channels;
    if (order !== undefined) {
      const here = order[this.place] ?? -1;
      if (names[here] === key) return here;
      const next = order[this.place + 1] ?? -1;
      if (names[next] === key) {
        this.place += 1;
        return next;
      }
      this.place = 0;
    }
    return index.get(key);
  }

  /** Reads the cell of a channel. A reader of all keys counts as having read all of them already. */
  private read(key: string, channel: number | undefined): Cell | undefined {
    const cell = channel === undefined ? undefined : this.version.get(channel);
    if (this.order === undefined) this.observer?.channel(key, cell);
    return cell;
  }

  /** Reads the cell of a channel; undefined if no step wrote it. */
  private written(key: string, channel: number | undefined): Cell | undefined {
    const cell = this.read(key, channel);
    return isCleared(cell) ? undefined : cell;
  }

  private valueOf(key: string, cell: Cell, channel = -1): unknown {
    const reducer = this.source.channels.reducers[channel];
    const glance = reducer === undefined ? undefined : glanceOf(cell, reducer);
    return glance !== undefined && glancesOf(this.fn).has(key) ? glance : cellValue(cell, reducer);
  }

  getPrototypeOf(): object {
    return Object.prototype;
  }

  set(_target: Target, key: string | symbol): never {
    return refuse(key);
  }

  deleteProperty(_target: Target, key: string | symbol): never {
    return refuse(key);
  }

  defineProperty(_target: Target, key: string | symbol): never {
    return refuse(key);
  }

  setPrototypeOf(): never {
    return refuse('__proto__');
  }

  preventExtensions(): boolean {
    return false;
  }
}
