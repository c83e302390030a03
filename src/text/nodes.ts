import { setOwn, type Json } from '../base/json.js';
import type { Position } from '../base/problem.js';
import { quoteShort } from '../lang/value-text.js';
import { WORDS_OF_FILES } from './source-words.js';

/** The data of a source file, each value with its place. An aliased value is one object with several holders. */
export type SourceNode = SourceScalar | SourceList | SourceMap;

/** Text, a number, a boolean or null. */
export interface SourceScalar {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** The value as text, as written but without quotes: `5` for 5, `true` for true, the empty text for null. */
  readonly text: string;
  readonly at: Position;
  /** Its range in the file's text, in UTF-16 units. */
  readonly range: readonly [from: number, to: number];
}

export interface SourceList {
  readonly kind: 'list';
  readonly items: readonly SourceNode[];
  readonly at: Position;
}

/** A map, in the order of the file. Keys are unique and contain no forbidden names. */
export interface SourceMap {
  readonly kind: 'map';
  readonly entries: readonly SourceEntry[];
  readonly at: Position;
}

export interface SourceEntry {
  readonly key: string;
  readonly at: Position;
  readonly value: SourceNode;
}

/** Returns the entry of a key in a map. Undefined if the key is absent, or the node is not a map. */
export function entryOf(node: SourceNode | undefined, key: string): SourceEntry | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key) : undefined;
}

/** Converts a node to plain data. The parser's limit bounds the depth. */
export function toJson(node: SourceNode): Json {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(toJson);
    case 'map': {
      const result: Record<string, Json> = {};
      for (const { key, value } of node.entries) setOwn(result, key, toJson(value));
      return result;
    }
  }
}

/** Describes the type of a node in messages: `text`, `a list` ... */
export function describe(node: SourceNode, words = WORDS_OF_FILES): string {
  if (node.kind === 'list') return words.list;
  if (node.kind === 'map') return words.map;
  if (node.value === null) return 'empty';
  if (typeof node.value === 'string') return 'text';
  return typeof node.value === 'number' ? 'a number' : 'true or false';
}

/** Describes a value in messages: a scalar as written, in quotes; anything else by its type. */
export function seen(node: SourceNode, words = WORDS_OF_FILES): string {
  return node.kind === 'scalar' ? quoteShort(node.text) : describe(node, words);
}

/** Whether a node is a value that was left out. */
export function isNothing(node: SourceNode | undefined): boolean {
  return node?.kind === 'scalar' && node.value === null;
}
