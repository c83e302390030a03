import { cellEnd, cellValue, isCleared, type Cell } from './cell.js';
import type { ChannelTable } from '../graph/channel-table.js';
import type { Version } from './version.js';

/** A view's source of channel names, which may grow during a run. */
export interface ChannelSource {
  readonly channels: ChannelTable;
}

/** A state as a function sees it. */
export type State = Readonly<Record<string, unknown>>;

export interface Viewed {
  readonly version: Version;
  readonly source: ChannelSource;
}

/** A viewed version that is notified of its reads. */
export interface ReadObserver extends Viewed {
  /** A channel was read; `cell` is undefined if no step wrote it. */
  channel(name: string, cell: Cell | undefined): void;
  /** The names of the channels were read, and so all values. */
  all(): void;
  /** The names of the channels were read. */
  keys(): void;
}

/** The value of a channel in a version; undefined if no step wrote it. `told`: receives the read. */
export function readChannel(
  version: Version,
  { channels }: ChannelSource,
  name: string,
  told?: Partial<Pick<ReadObserver, 'channel'>>,
): unknown {
  const channel = channels.index.get(name) ?? -1;
  const cell = version.get(channel);
  told?.channel?.(name, cell);
  return cell === undefined ? undefined : cellValue(cell, channels.reducers[channel]);
}

/** The value of a channel; of a list, at least its last `count` entries. */
export function readEnd(version: Version, { channels }: ChannelSource, name: string, count: number): unknown {
  const channel = channels.index.get(name) ?? -1;
  const cell = version.get(channel);
  return cell === undefined ? undefined : cellEnd(cell, channels.reducers[channel], count);
}

export function isReduced({ channels }: ChannelSource, name: string): boolean {
  return channels.reducers[channels.index.get(name) ?? -1] !== undefined;
}

/** The names of the written channels. */
export function keysOf({ version, source }: Viewed): string[] {
  const keys: string[] = [];
  version.each((channel, cell) => {
    if (!isCleared(cell)) keys.push(source.channels.names[channel] ?? '');
  });
  return keys;
}

/** The start of a message that {@link isMutation} recognizes. */
const ADVICE = 'the state is read-only: return an update such as';

export function refuse(key: string | symbol): never {
  throw new TypeError(`${ADVICE} { ${String(key)}: ... } instead of changing it`);
}

const FROZEN =
  /^(Cannot assign to read only property|Cannot add property|Cannot delete property|Cannot define property|'set' on proxy|Cannot redefine property)/;

/** Whether an error came from changing the state, or a frozen value in it. */
export function isMutation(name: string | undefined, message: string): boolean {
  return name === 'TypeError' && (message.startsWith(ADVICE) || FROZEN.test(message));
}
