import { cellValue, isAtHand, isCleared } from './cell.js';
import type { ReadObserver, State, Viewed } from './viewed.js';
import { keysOf, readChannel, refuse } from './viewed.js';

/** The symbol that Node's `console.log` calls. */
export const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** Returns a version as plain data. A growing list or object is built only when read, so that passing on the state costs nothing. */
export function plainState(viewed: Viewed): State {
  return Object.freeze(fill({}, viewed));
}

/** Adds the channels of a version to an object as properties. */
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

/** Properties by channel name. Sharing them gives all states the same shape in V8; otherwise access is many times slower. */
const properties = new Map<string, PropertyDescriptor>();
/** Names may come from the inputs of runs: beyond this number, properties are created each time. */
const MOST_PROPERTIES = 1_000;

/** Returns a version as plain data, with properties that report their reads. */
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

/** Otherwise Node prints such properties as `[Getter]`. */
const PRINTED: PropertyDescriptor = {
  value(this: State): State {
    return { ...this };
  },
};

function putLater(state: object, name: string, get: () => unknown): void {
  Object.defineProperty(state, name, { get, set: () => refuse(name), enumerable: true });
}
