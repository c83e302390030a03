import { digestText } from '../../base/hash.js';
import { cellDigest, isCleared } from './cell.js';
import type { Version } from './version.js';
import type { ChannelSource } from './viewed.js';
import { keysOf } from './viewed.js';

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
  const text = JSON.stringify(keysOf({ version, source }).toSorted());
  // They hardly ever change from one step to the next.
  if (text !== lastKeys.text) lastKeys = { text, digest: digestText(text) };
  return lastKeys.digest;
}

let lastKeys = { text: '', digest: '' };
