import type { Position } from '../base/problem.js';
import { suggest } from '../base/suggest.js';
import { quoteShort } from '../lang/value-text.js';
import type { Form, IntegerForm, Keys, MapForm, NumberForm, Values, WordForm } from './forms.js';
import type { Findings } from './findings.js';
import {
  describe,
  isNothing,
  seen,
  type SourceEntry,
  type SourceMap,
  type SourceNode,
  type SourceScalar,
} from './nodes.js';
import { insteadOf, meantBy } from './synonyms.js';

export interface ShapeOptions {
  /** The map's name in messages: `config`, `step "a"`. Empty for the whole file. */
  readonly name: string;
  /** The known keys. Undefined or open: unknown keys are ignored. */
  readonly form?: MapForm | undefined;
  /** Further keys that are reported elsewhere and are never suggested. */
  readonly silent?: readonly string[];
  /** True if a key without a value, or with an empty text where none is allowed, is also a mistake. */
  readonly exact?: boolean;
}

/** Opens a map for reading and reports its unknown keys (`unknown-key`, with "did you mean"). */
export function readFields(node: SourceNode, options: ShapeOptions, findings: Findings): Fields | undefined {
  const { name, form, silent = [], exact = false } = options;
  const known = form === undefined || form.open === true ? undefined : Object.keys(form.keys);
  if (node.kind !== 'map') {
    const { words } = findings;
    findings.error(
      'wrong-type',
      `${name || 'the file'} must be ${words.keyed}, not ${describe(node, words)}`,
      node.at,
      shapeHint(node, form, words),
    );
    return undefined;
  }
  if (known !== undefined) {
    for (const entry of node.entries) {
      if (!known.includes(entry.key) && form?.foreign?.has(entry.key) !== true && !silent.includes(entry.key))
        reportUnknown(entry, name, known, findings);
    }
  }
  const strange = known === undefined ? [] : node.entries.map(({ key }) => key).filter((key) => !known.includes(key));
  return new Fields(node, name, findings, exact, strange);
}

/** What to write in place of something that is not a map. */
function shapeHint({ kind }: SourceNode, form: MapForm | undefined, words: Findings['words']): string {
  if (kind === 'scalar' && form?.insteadOfText !== undefined) return form.insteadOfText;
  return form === undefined || form.open === true
    ? words.writeKeyed
    : `its keys are: ${Object.keys(form.keys).join(', ')}`;
}

function reportUnknown(entry: SourceEntry, name: string, known: readonly string[], findings: Findings): void {
  const where = name === '' ? '' : ` in ${name}`;
  const hint = insteadOf(entry.key, known) ?? findings.near(entry.key, known) ?? `known keys: ${known.join(', ')}`;
  findings.error('unknown-key', `unknown key ${quoteShort(entry.key)}${where}`, entry.at, hint);
}

/**
 * Reads a map with types. A key without a value counts as absent, and so does an empty text where none is allowed. A value of the wrong
 * type is a problem (`wrong-type`) and also counts as absent, so that reading continues and finds the next problem.
 */
export class Fields {
  private readonly entryBy: ReadonlyMap<string, SourceEntry>;

  constructor(
    private readonly map: SourceMap,
    /** The map's name in messages. Empty for a whole file. */
    readonly name: string,
    readonly findings: Findings,
    private readonly exact: boolean,
    /** Unknown keys of the map. */
    private readonly strange: readonly string[],
  ) {
    this.entryBy = new Map(map.entries.map((entry) => [entry.key, entry]));
  }

  get at(): Position {
    return this.map.at;
  }

  has(key: string): boolean {
    return this.node(key) !== undefined;
  }

  /** True if the key is present, with or without a value. */
  names(key: string): boolean {
    return this.entryBy.has(key);
  }

  node(key: string): SourceNode | undefined {
    const node = this.entryBy.get(key)?.value;
    return isNothing(node) && !this.exact ? undefined : node;
  }

  /** True if an unknown key most likely means this one, which is then not reported as missing as well. */
  isMisspelt(key: string): boolean {
    return this.strange.some((one) => (meantBy(one, [key]) ?? suggest(one, [key])) !== undefined);
  }

  /** True if a required key is absent, or its value is an empty text. */
  lacks(key: string): boolean {
    const node = this.node(key);
    return node === undefined ? !this.isMisspelt(key) : node.kind === 'scalar' && node.text.trim() === '';
  }

  /** Reports a required key that is absent, or whose value is an empty text. */
  needs(key: string, code: string, message: string, hint: string): void {
    if (this.lacks(key)) this.error(code, key, message, hint);
  }

  called(key: string): string {
    return this.name === '' ? key : `${key} of ${this.name}`;
  }

  /** Returns the place of the value, or of the map if the key is absent. */
  placeOf(key: string): Position {
    return this.entryBy.get(key)?.value.at ?? this.at;
  }

  /** Reports a problem with the value of a key, or with the map if the key is absent. */
  error(code: string, key: string, message: string, hint?: string): void {
    this.findings.error(code, message, this.placeOf(key), hint);
  }

  warning(code: string, key: string, message: string, hint?: string): void {
    this.findings.warning(code, message, this.placeOf(key), hint);
  }

  scalar(key: string): SourceScalar | undefined {
    const node = this.node(key);
    if (node === undefined || (node.kind === 'scalar' && !isNothing(node))) return node;
    return this.wrong(key, 'text', node, this.findings.words.writeText);
  }

  text(key: string): string | undefined {
    return this.scalar(key)?.text;
  }

  /** Like `scalar`, but an empty text counts as absent. */
  given(key: string): SourceScalar | undefined {
    return isEmptyText(this.entryBy.get(key)?.value) ? undefined : this.scalar(key);
  }

  /** Reads one of the words of a row. Unless the row is exact, letter case is ignored and an empty text counts as absent. */
  word<T extends string>(key: string, row: WordForm<T>): T | undefined {
    const node = row.exact === true ? this.scalar(key) : this.given(key);
    return node === undefined ? undefined : readWord(node, this.called(key), row, this.findings);
  }

  integer(key: string, row: IntegerForm): number | undefined {
    const node = this.filled(key);
    return node === undefined ? undefined : readNumber(node, this.called(key), row, this.findings);
  }

  /** An empty text is not a number, so it is a problem. */
  number(key: string, row: NumberForm): number | undefined {
    const node = this.node(key);
    return node === undefined ? undefined : readNumber(node, this.called(key), row, this.findings);
  }

  flag(key: string): boolean | undefined {
    const node = this.filled(key);
    return node === undefined ? undefined : readFlag(node, this.called(key), this.findings);
  }

  texts(key: string): readonly SourceScalar[] | undefined {
    const node = this.filled(key);
    return node === undefined ? undefined : readTexts(node, this.called(key), this.findings);
  }

  /** Reads the words, numbers and booleans that a form has rows for. */
  values<K extends Keys>({ keys }: MapForm<K>): Values<K> {
    const found = Object.entries<Form>(keys).map(([key, row]) => [key, this.value(key, row)] as const);
    return Object.fromEntries(found) as Values<K>;
  }

  private value(key: string, row: Form): string | number | boolean | undefined {
    if (row.kind === 'word') return this.word(key, row);
    if (row.kind === 'flag') return this.flag(key);
    return row.kind === 'integer' ? this.integer(key, row) : row.kind === 'number' ? this.number(key, row) : undefined;
  }

  fields(key: string, form: MapForm): Fields | undefined {
    const node = this.filled(key);
    const options = { name: this.called(key), form, exact: this.exact };
    return node === undefined ? undefined : readFields(node, options, this.findings);
  }

  /** Like `fields`, but an absent or wrong map reads as an empty one. */
  section(key: string, form: MapForm): Fields {
    const none: SourceMap = { kind: 'map', entries: [], at: this.node(key)?.at ?? this.at };
    return this.fields(key, form) ?? new Fields(none, this.called(key), this.findings, this.exact, []);
  }

  /** Reads a list of anything. */
  items(key: string, hint: string): readonly SourceNode[] | undefined {
    const node = this.node(key);
    return node === undefined || node.kind === 'list'
      ? node?.items
      : this.wrong(key, this.findings.words.list, node, hint);
  }

  /** Reads a map with names the user chooses. */
  entries(key: string): readonly SourceEntry[] | undefined {
    const node = this.filled(key);
    if (node === undefined || node.kind === 'map') return node?.entries;
    const { named, writeNamed } = this.findings.words;
    return this.wrong(key, named, node, writeNamed);
  }

  /** Returns a value of any kind; an empty text counts as absent. */
  filled(key: string): SourceNode | undefined {
    const node = this.node(key);
    return isEmptyText(node) && !this.exact ? undefined : node;
  }

  private wrong(key: string, wanted: string, node: SourceNode, hint: string): undefined {
    const { findings } = this;
    const message = `${this.called(key)} must be ${wanted}, not ${describe(node, findings.words)}`;
    findings.error('wrong-type', message, node.at, hint);
  }
}

/** Whether a node is a blank text, such as `""`. */
export function isEmptyText(node: SourceNode | undefined): boolean {
  return node?.kind === 'scalar' && typeof node.value === 'string' && node.value.trim() === '';
}

function readWord<T extends string>(
  node: SourceScalar,
  called: string,
  { words, exact = false }: WordForm<T>,
  findings: Findings,
): T | undefined {
  const found = words.find((word) => word === (exact ? node.text : node.text.toLowerCase()));
  if (found === undefined) {
    const hint = findings.near(node.text, words) ?? `write one of: ${words.join(', ')}`;
    findings.error(
      'unknown-value',
      `${called} must be ${words.join(', ')}, not ${quoteShort(node.text)}`,
      node.at,
      hint,
    );
  }
  return found;
}

function readNumber(
  node: SourceNode,
  called: string,
  { kind, min = -Infinity, max }: IntegerForm | NumberForm,
  findings: Findings,
): number | undefined {
  const value = node.kind === 'scalar' ? node.value : undefined;
  if (typeof value !== 'number' || (kind === 'integer' && !Number.isInteger(value))) {
    const wanted = kind === 'integer' ? 'a whole number' : 'a number';
    findings.error(
      'wrong-type',
      `${called} must be ${wanted}, not ${seen(node, findings.words)}`,
      node.at,
      findings.words.writeNumber,
    );
    return undefined;
  }
  if (value >= min && value <= max) return value;
  const least = max >= Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`;
  const range = min === -Infinity ? `at most ${max}` : least;
  const hint = `write a number that is ${range}`;
  findings.error('out-of-range', `${called} must be ${range}, not ${value}`, node.at, hint);
  return undefined;
}

function readFlag(node: SourceNode, called: string, findings: Findings): boolean | undefined {
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value;
  const message = `${called} must be true or false, not ${describe(node, findings.words)}`;
  findings.error('wrong-type', message, node.at, flagHint(node));
  return undefined;
}

function readTexts(node: SourceNode, called: string, findings: Findings): readonly SourceScalar[] | undefined {
  const { words } = findings;
  if (node.kind !== 'list') {
    const hint = words.writeTexts(node.kind === 'scalar' ? node.text.slice(0, 60) : undefined);
    findings.error(
      'wrong-type',
      `${called} must be ${words.list} of texts, not ${describe(node, words)}`,
      node.at,
      hint,
    );
    return undefined;
  }
  const texts: SourceScalar[] = [];
  for (const item of node.items) {
    if (item.kind === 'scalar' && item.value !== null) texts.push(item);
    else
      findings.error(
        'wrong-type',
        `${called} must be ${words.list} of texts; this entry is ${describe(item, words)}`,
        item.at,
        words.mendText,
      );
  }
  return texts;
}

function flagHint(node: SourceNode): string {
  if (node.kind !== 'scalar') return 'write true or false';
  const word = node.text.toLowerCase();
  if (['yes', 'on', 'y', '1', 'true'].includes(word)) return 'write true';
  return ['no', 'off', 'n', '0', 'false'].includes(word) ? 'write false' : 'write true or false';
}
