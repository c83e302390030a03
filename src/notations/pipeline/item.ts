import { around } from './blocks.js';
import type { Placed } from './blocks.js';

/** The item of a map, as its steps see it. */
export interface Item {
  readonly channel: string;
  readonly name: string;
}

/**
 * The items that a step sees, from the inside out.
 *
 * @example
 * itemsOf(reader)[0]?.channel; // 'items.texts'
 */
export function itemsOf(reader: Placed): readonly Item[] {
  const items: Item[] = [];
  for (const { block } of around(reader)) {
    if (block.kind === 'map' && block.holder?.step.type === 'map')
      items.push({ channel: itemChannel(block.path), name: block.holder.step.as });
  }
  return items;
}

/** Channel of the item in the plan of a map. */
export function itemChannel(path: string): string {
  return `items.${path}`;
}

/**
 * The item that a name means: that of the innermost map with this name, or `item` for the innermost of all.
 *
 * @example
 * findMap('language', reader)?.channel; // 'items.texts'
 */
export function findMap(name: string, reader: Placed): Item | undefined {
  const items = itemsOf(reader);
  return items.find((item) => item.name === name) ?? (name === 'item' ? items[0] : undefined);
}
