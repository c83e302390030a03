import type { Json } from '../base/json.js';
import type { Position } from '../base/problem.js';

/**
 * The data of a source file, each value with its place. Names of a map are looked up in lists and Maps, never as properties
 * of an object. A value that is aliased is one object with several holders.
 */
export type SourceNode = SourceScalar | SourceList | SourceMap;

/** Text, a number, a truth value or nothing. */
export interface SourceScalar {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** As text: what was written, without quotes. `5` gives `5`, `true` gives `true`, nothing gives the empty text. */
  readonly text: string;
  readonly at: Position;
  /** Where it stands in the file's text, in UTF-16 units. */
  readonly range: readonly [from: number, to: number];
}

/** A list. */
export interface SourceList {
  readonly kind: 'list';
  readonly items: readonly SourceNode[];
  readonly at: Position;
}

/** A map, in the order of the file; keys are unique and no forbidden names. */
export interface SourceMap {
  readonly kind: 'map';
  readonly entries: readonly SourceEntry[];
  readonly at: Position;
}

/** One key of a map with its value. */
export interface SourceEntry {
  readonly key: string;
  readonly at: Position;
  readonly value: SourceNode;
}

/** The value under a key of a map; undefined when there is none, or when the node is not a map. */
export function entryOf(node: SourceNode | undefined, key: string): SourceEntry | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key) : undefined;
}

/** The plain data of a node. Depth is bounded by the parser's limit. */
export function toJson(node: SourceNode): Json {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(toJson);
    case 'map':
      return Object.fromEntries(node.entries.map((entry) => [entry.key, toJson(entry.value)]));
  }
}

/** What a node is, in words for messages: `text`, `a list` ... */
export function describe(node: SourceNode): string {
  if (node.kind === 'list') return 'a list';
  if (node.kind === 'map') return 'a map';
  if (node.value === null) return 'empty';
  if (typeof node.value === 'string') return 'text';
  return typeof node.value === 'number' ? 'a number' : 'true or false';
}
