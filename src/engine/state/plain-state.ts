import { cellValue, isAtHand, isCleared } from './cell.js';
import type { ReadObserver, State, Viewed } from './viewed.js';
import { keysOf, readChannel, refuse } from './viewed.js';

/** What `console.log` of Node asks for. */
export const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/**
 * A version as plain data. A list or an object that grows is put together when it is read, and not before: whoever only hands the state on does not
 * pay for it.
 */
export function plainState(viewed: Viewed): State {
  return Object.freeze(fill({}, viewed));
}

/** Gives an object the channels of a version as properties. */
export function fill(state: Record<string, unknown>, { version, source }: Viewed): Record<string, unknown> {
  const { names, reducers } = source.channels;
  let isWaiting = false;
  version.each((channel, cell) => {
    if (isCleared(cell)) return;
    const name = names[channel] ?? '';
    if (isAtHand(cell)) state[name] = cellValue(cell, reducers[channel]);
    else {
      isWaiting = true;
      putLater(state, name, () => cellValue(cell, reducers[channel]));
    }
  });
  if (isWaiting) Object.defineProperty(state, INSPECT, PRINTED);
  return state;
}

/** A state whose reads are observed. */
interface Watched {
  readonly [OBSERVER]: ReadObserver;
}

const OBSERVER = Symbol('observer');

/** Properties by names of channels: with the same ones all states have the same shape for V8, without it is many times slower. */
const properties = new Map<string, PropertyDescriptor>();
/** Names may come from what runs are given: others than the first have a property of their own each time. */
const MOST_PROPERTIES = 1_000;

/** A version as plain data, with properties that note when they are read. */
export function watchedState(observer: ReadObserver): State {
  const state: Record<string, unknown> = {};
  observer.keys();
  for (const name of keysOf(observer)) {
    const property = properties.get(name) ?? watchedProperty(name);
    if (properties.size < MOST_PROPERTIES) properties.set(name, property);
    Object.defineProperty(state, name, property);
  }
  Object.defineProperty(state, OBSERVER, { value: observer });
  Object.defineProperty(state, INSPECT, PRINTED);
  return Object.preventExtensions(state);
}

function watchedProperty(name: string): PropertyDescriptor {
  return {
    get(this: Watched): unknown {
      const observer = this[OBSERVER];
      return readChannel(observer.version, observer.source, name, observer);
    },
    set: () => refuse(name),
    enumerable: true,
  };
}

/** Node prints what a property gives as `[Getter]`. */
const PRINTED: PropertyDescriptor = {
  value(this: State): State {
    return { ...this };
  },
};

function putLater(state: object, name: string, get: () => unknown): void {
  Object.defineProperty(state, name, { get, set: () => refuse(name), enumerable: true });
}
