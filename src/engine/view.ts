import { glancesOf } from '../plan/glances.js';
import type { Cell } from './cell.js';
import { cellValue, glanceOf, isCleared } from './cell.js';
import { INSPECT, plainState, watchedState } from './plain-state.js';
import type { Version } from './version.js';
import type { ChannelSource, ReadObserver, State, Viewed } from './viewed.js';
import { refuse } from './viewed.js';
import { givesStateAway } from './whole-view.js';

/** A state with more channels is given as a view to functions that give it away, too: as plain data it would cost time for each. */
const MOST_PLAIN = 256;

/**
 * What a function of a user sees of a version: an object with the channels as properties (S2). It can't be changed (S1). Made in constant time,
 * values are looked up when they are read; but who gives the state away as a whole gets it as plain data.
 */
export function stateView(version: Version, source: ChannelSource, fn?: unknown): State {
  const viewed = { version, source };
  return isWhole(source, fn) ? plainState(viewed) : new Proxy(emptyState(), new View(viewed, fn));
}

/** A view as {@link stateView} gives it, whose reads are observed. */
export function watchedView(observer: ReadObserver, fn: unknown): State {
  return isWhole(observer.source, fn)
    ? watchedState(observer)
    : new Proxy(emptyState(), new View(observer, fn, observer));
}

function isWhole({ channels }: ChannelSource, fn: unknown): boolean {
  return channels.names.length <= MOST_PLAIN && givesStateAway(fn);
}

/** What any object can do. Names that lead further, such as `constructor`, are not among them: names may come from a model. */
const METHODS = ['hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable', 'toLocaleString', 'toString', 'valueOf'];

/** What all views inherit. It has no prototype of its own. */
const INHERITED = Object.create(null, {
  ...Object.fromEntries(METHODS.map((name) => [name, { value: Reflect.get(Object.prototype, name) as unknown }])),
  // Called with the view.
  [INSPECT]: {
    value(this: object): State {
      return { ...this };
    },
  },
}) as Readonly<Record<string, unknown>>;

/** What stands behind a view. */
type Target = Record<string, unknown>;

function emptyState(): Target {
  return Object.create(INHERITED) as Target;
}

/** The traps of a view. Who asks for all keys asks for each of them next, twice: so the place in their order is kept, and what was found last. */
class View implements ProxyHandler<Target> {
  private order: readonly number[] | undefined = undefined;
  private place = 0;
  /** What was found last. */
  private key: string | undefined = undefined;
  private cell: Cell | undefined = undefined;
  private channel = -1;

  constructor(
    private readonly viewed: Viewed,
    private readonly fn: unknown,
    private readonly observer?: ReadObserver,
  ) {}

  get(_target: Target, key: string | symbol): unknown {
    if (typeof key !== 'string') return undefined;
    const value = this.find(key) ? this.value() : undefined;
    return value === undefined ? INHERITED[key] : value;
  }

  has(_target: Target, key: string | symbol): boolean {
    return typeof key === 'string' && this.find(key);
  }

  ownKeys(): string[] {
    this.observer?.all();
    const { version, source } = this.viewed;
    const order: number[] = [];
    const names: string[] = [];
    version.each((channel, cell) => {
      if (isCleared(cell)) return;
      order.push(channel);
      names.push(source.channels.names[channel] ?? '');
    });
    this.order = order;
    return names;
  }

  getOwnPropertyDescriptor(_target: Target, key: string | symbol): PropertyDescriptor | undefined {
    if (typeof key !== 'string' || !this.find(key)) return undefined;
    return { value: this.value(), enumerable: true, configurable: true, writable: false };
  }

  /** Did somebody write a channel? */
  private find(key: string): boolean {
    if (this.order === undefined) this.observer?.channel(key);
    if (key !== this.key) {
      const { version } = this.viewed;
      this.channel = this.channelOf(key);
      this.key = key;
      const cell = this.channel < 0 ? undefined : version.get(this.channel);
      this.cell = isCleared(cell) ? undefined : cell;
    }
    return this.cell !== undefined;
  }

  private channelOf(key: string): number {
    const { names, index } = this.viewed.source.channels;
    const next = this.order?.[this.place];
    if (next !== undefined && names[next] === key) {
      this.place += 1;
      return next;
    }
    const channel = index.get(key) ?? -1;
    if (channel === this.order?.[0]) this.place = 1;
    return channel;
  }

  private value(): unknown {
    const { cell, key = '' } = this;
    if (cell === undefined) return undefined;
    const reducer = this.viewed.source.channels.reducers[this.channel];
    const glance = glanceOf(cell, reducer);
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
