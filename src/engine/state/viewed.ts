import type { Cell } from './cell.js';
import { cellEnd, cellValue, isCleared } from './cell.js';
import type { ChannelTable } from '../graph/channel-table.js';
import type { Version } from './version.js';

/** Where a view finds the names of channels; they may grow during a run. */
export interface ChannelSource {
  readonly channels: ChannelTable;
}

/** What a function sees of a state. */
export type State = Readonly<Record<string, unknown>>;

/** A version, and the names of its channels. */
export interface Viewed {
  readonly version: Version;
  readonly source: ChannelSource;
}

/** What is viewed, and is told what is read of it. */
export interface ReadObserver extends Viewed {
  /** A channel; `cell`: undefined where nobody wrote it. */
  channel(name: string, cell: Cell | undefined): void;
  /** Which channels there are, and so all of them. */
  all(): void;
  /** Which channels there are. */
  keys(): void;
}

/** The value of a channel in a version; undefined when nobody wrote it. `told`: what is told that it is read. */
export function readChannel(
  version: Version,
  { channels }: ChannelSource,
  name: string,
  told?: Pick<ReadObserver, 'channel'>,
): unknown {
  const channel = channels.index.get(name) ?? -1;
  const cell = version.get(channel);
  told?.channel(name, cell);
  return cell === undefined ? undefined : cellValue(cell, channels.reducers[channel]);
}

/** A channel, or of a list at least so many of its last entries. */
export function readEnd(version: Version, { channels }: ChannelSource, name: string, count: number): unknown {
  const channel = channels.index.get(name) ?? -1;
  const cell = version.get(channel);
  return cell === undefined ? undefined : cellEnd(cell, channels.reducers[channel], count);
}

/** The names of the channels that somebody wrote. */
export function keysOf({ version, source }: Viewed): string[] {
  const keys: string[] = [];
  version.each((channel, cell) => {
    if (!isCleared(cell)) keys.push(source.channels.names[channel] ?? '');
  });
  return keys;
}

/** A message that {@link isMutation} knows again. */
const ADVICE = 'the state is read-only: return an update such as';

/** Somebody tries to change what is viewed. */
export function refuse(key: string | symbol): never {
  throw new TypeError(`${ADVICE} { ${String(key)}: ... } instead of changing it`);
}

const FROZEN =
  /^(Cannot assign to read only property|Cannot add property|Cannot delete property|Cannot define property|'set' on proxy|Cannot redefine property)/;

/** Is this what a node gets that changes the state, or a frozen value in it? */
export function isMutation(name: string | undefined, message: string): boolean {
  return name === 'TypeError' && (message.startsWith(ADVICE) || FROZEN.test(message));
}
