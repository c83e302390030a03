import type { LineCounter, Node } from 'yaml';
import { isMap, isScalar, isSeq } from 'yaml';
import type { Json } from '../../base/json.js';
import type { Position, Problem } from '../../base/problem.js';
import { didYouMean } from '../../base/suggest.js';
import type { IntegerForm, MapForm } from '../../text/forms.js';

/** More problems than this are not listed: they repeat the first ones. */
const MAX_LISTED = 50;

/** Reads typed fields out of YAML nodes and collects what is wrong with them, each with its place. */
export class YamlFields {
  readonly problems: Problem[] = [];

  constructor(
    private readonly file: string,
    private readonly lines: LineCounter,
  ) {}

  /** Where a node begins. */
  at(node: unknown): Position {
    return this.place((node as Node | null | undefined)?.range?.[0] ?? 0);
  }

  private place(offset: number): Position {
    const { line, col } = this.lines.linePos(offset);
    return { file: this.file, line: Math.max(1, line), column: Math.max(1, col) };
  }

  problem(code: string, message: string, node: unknown, hint?: string | (() => string)): void {
    this.problemAt(code, message, (node as Node | null | undefined)?.range?.[0] ?? 0, hint);
  }

  problemAt(code: string, message: string, offset: number, hint?: string | (() => string)): void {
    if (this.problems.length >= MAX_LISTED) return;
    const told = typeof hint === 'function' ? hint() : hint;
    const at = this.place(offset);
    this.problems.push({ code, severity: 'error', message, at, ...(told === undefined ? {} : { hint: told }) });
  }

  /** The fields of a map by name; undefined, with a problem, when it is none. Unknown keys are problems. */
  map(node: unknown, what: string, { keys }: MapForm): ReadonlyMap<string, unknown> | undefined {
    const known = Object.keys(keys);
    if (!isMap(node)) {
      this.problem('script-type', `${what} must be a map`, node, `its keys are ${known.join(', ')}`);
      return undefined;
    }
    const fields = new Map<string, unknown>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (known.includes(name)) fields.set(name, value);
      else {
        const hint = (): string => didYouMean(name, known) ?? `known keys: ${known.join(', ')}`;
        this.problem('script-unknown-key', `${what} has no key "${name}"`, key, hint);
      }
    }
    return fields;
  }

  /** The items of a list; a missing one is empty. */
  list(node: unknown, what: string): readonly unknown[] {
    if (node === undefined) return [];
    if (isSeq(node)) return node.items;
    this.problem('script-type', `${what} must be a list`, node);
    return [];
  }

  /** A text; numbers and true/false count as what they look like. */
  text(node: unknown, what: string): string | undefined {
    if (node === undefined) return undefined;
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    this.problem('script-type', `${what} must be a text`, node);
    return undefined;
  }

  flag(node: unknown, what: string, absent: boolean): boolean {
    if (node === undefined) return absent;
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === 'boolean') return value;
    this.problem('script-type', `${what} must be true or false`, node);
    return absent;
  }

  /** A whole number of at least the row's bound. */
  count(node: unknown, what: string, { min = 0 }: IntegerForm): number | undefined {
    if (node === undefined) return undefined;
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min) return value;
    this.problem('script-type', `${what} must be a whole number of at least ${min}`, node);
    return undefined;
  }

  /** Any JSON value. */
  json(node: unknown, what: string): Json | undefined {
    if (node === undefined) return undefined;
    const value: unknown = (node as Node | null)?.toJSON?.() ?? null;
    if (isJson(value, 0)) return value;
    this.problem('script-type', `${what} must be a JSON value`, node);
    return undefined;
  }
}

function isJson(value: unknown, depth: number): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth > 100) return false;
  return Object.values(value).every((item) => isJson(item, depth + 1));
}
