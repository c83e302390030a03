import { cellValue, isAtHand, isCleared } from './cell.js';
import { keysOf, readChannel, refuse, type ReadObserver, type State, type Viewed } from './viewed.js';

/** The symbol that Node's `console.log` calls. */
export const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** Returns a version as plain data. A growing list or object is built only when read, so that passing on the state costs nothing. */
export function plainState(viewed: Viewed): State {
  const { version, source } = viewed;
  const { names, reducers } = source.channels;
  const state: Record<string, unknown> = {};
  let isWaiting = false;
  version.each((channel, cell) => {
    if (isCleared(cell)) return;
    const name = names[channel] ?? '';
    if (isAtHand(cell)) state[name] = cellValue(cell, reducers[channel]);
    else {
      isWaiting = true;
      Object.defineProperty(state, name, readProperty(name));
    }
  });
  if (isWaiting) hide(state, viewed);
  return Object.freeze(state);
}

/** Returns a version as plain data, with properties that report their reads. */
export function watchedState(observer: ReadObserver): State {
  const state: Record<string, unknown> = {};
  observer.keys();
  for (const name of keysOf(observer)) Object.defineProperty(state, name, readProperty(name));
  hide(state, observer);
  return Object.preventExtensions(state);
}

/** A state whose values are read from a version, and the observer of the reads, if there is one. */
interface Reading {
  readonly [READ]: Viewed & Partial<Pick<ReadObserver, 'channel'>>;
}

const READ = Symbol('read');

function hide(state: object, read: Reading[typeof READ]): void {
  Object.defineProperty(state, READ, { value: read });
  Object.defineProperty(state, INSPECT, PRINTED);
}

/** Properties by channel name. Sharing them gives all states the same shape in V8; otherwise access is many times slower, and each state costs a new shape. */
const properties = new Map<string, PropertyDescriptor>();
/** Names may come from the inputs of runs: beyond this number, properties are created each time. */
const MOST_PROPERTIES = 1_000;

function readProperty(name: string): PropertyDescriptor {
  const known = properties.get(name);
  if (known !== undefined) return known;
  const property = {
    get(this: Reading): unknown {
      const read = this[READ];
      return readChannel(read.version, read.source, name, read);
    },
    set: () => refuse(name),
    enumerable: true,
  };
  if (properties.size < MOST_PROPERTIES) properties.set(name, property);
  return property;
}

/** Otherwise Node prints such properties as `[Getter]`. */
const PRINTED: PropertyDescriptor = {
  value(this: State): State {
    return { ...this };
  },
};
