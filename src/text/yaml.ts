import { isAlias, isMap, isScalar, isSeq, type Document, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml';
import { FORBIDDEN_NAMES, isRounded } from '../base/json.js';
import { fileError, type Problem } from '../base/problem.js';
import { quoteShort } from '../lang/value-text.js';
import { createFindings, type Findings } from './findings.js';
import type { ParsedJson } from './json.js';
import type { SourceEntry, SourceNode, SourceScalar } from './nodes.js';
import { placesOf } from './places.js';
import { composeYaml } from './yaml-document.js';
import { YAML_LIMITS, type YamlLimits } from './yaml-limits.js';

export interface ParsedYaml extends ParsedJson {
  readonly text: string;
}

export interface YamlOptions {
  /** Line of the file on which the text begins. Default 1. */
  readonly firstLine?: number;
  readonly limits?: YamlLimits;
  /** `false` makes an alias a problem. */
  readonly aliases?: false;
}

/** The maximum number of listed syntax problems: later ones repeat the first. */
const MAX_LISTED = 50;

/**
 * Reads one YAML 1.2 document as data with positions. It never throws and never runs code. Limits of size, depth, tokens and aliases apply
 * before anything is built. Merge keys, tags outside the core schema, repeated keys and the names `__proto__`, `constructor`, `prototype`
 * are problems.
 *
 * Problem codes: `yaml-limit`, `yaml-syntax`, `yaml-documents`, `yaml-tag`, `yaml-alias`, `yaml-merge`, `duplicate-key`, `bad-key`,
 * `forbidden-name`.
 */
export function parseYaml(text: string, file: string, options: YamlOptions = {}): ParsedYaml {
  const limits = options.limits ?? YAML_LIMITS;
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const places = placesOf(source, file, options.firstLine);
  const { exceeded, document, second } = composeYaml(source, limits, READ_AS);
  if (exceeded !== undefined) {
    const { offset, message, hint } = exceeded;
    const problem: Problem = { code: 'yaml-limit', severity: 'error', message, at: places.at(offset), hint };
    return { root: undefined, problems: [problem], places, text: source };
  }
  const build: Build = {
    places,
    hasAliases: options.aliases !== false,
    problems: [],
    anchors: new Map(),
    made: new Map(),
  };
  if (second !== undefined) {
    const hint = 'remove the line "---" and what follows';
    report(build, 'yaml-documents', 'the file holds more than one document', second, hint);
  }
  if (document !== undefined) reportForm(document, source, build);
  const lost = build.problems.some((problem) => problem.code === 'yaml-syntax');
  const root = lost || document?.contents == null ? undefined : convert(document.contents, build);
  if (root !== undefined && root.size > limits.maxNodes) {
    report(
      build,
      'yaml-limit',
      `more than ${limits.maxNodes} keys and values`,
      0,
      'aliases count as what they stand for',
    );
  } else if (root !== undefined && root.depth > DEPTH_PER_LEVEL * limits.maxDepth) {
    const message = `nested deeper than ${DEPTH_PER_LEVEL * limits.maxDepth} levels`;
    report(build, 'yaml-limit', message, 0, 'aliases count as what they stand for');
  }
  const usable = build.problems.some((problem) => problem.code === 'yaml-limit') ? undefined : root?.node;
  return { root: usable, problems: build.problems.slice(0, MAX_LISTED), places, text: source };
}

/** A list may begin in the column of its key, so a column can hold two levels. */
const DEPTH_PER_LEVEL = 2;

/** A node, with the number of values in it and the depth of its nested lists and maps, aliases expanded. */
interface Sized {
  readonly node: SourceNode;
  readonly size: number;
  readonly depth: number;
}

interface Build {
  readonly places: ParsedJson['places'];
  readonly hasAliases: boolean;
  readonly problems: Problem[];
  readonly anchors: Map<string, ParsedNode>;
  /** Finished nodes with an anchor; an alias is the same object. An anchored node missing here would contain itself. */
  readonly made: Map<ParsedNode, Sized>;
}

const READ_AS = { schema: 'core', merge: false, stringKeys: true, resolveKnownTags: false } as const;

function report(build: Build, code: string, message: string, offset: number, hint?: string): void {
  if (build.problems.length > MAX_LISTED) return;
  const at = build.places.at(offset);
  build.problems.push({ code, severity: 'error', message, at, ...(hint === undefined ? {} : { hint }) });
}

/** Reports the syntax problems that the parser found. */
function reportForm(document: Document.Parsed, text: string, build: Build): void {
  let lost = false;
  for (const error of document.errors) {
    // Building the maps reports keys that are not text, with a better message.
    if (error.code === 'NON_STRING_KEY') continue;
    // Once the parser loses its place, everything that follows looks wrong: only the first error is useful.
    const structural = !IN_ONE_VALUE.has(error.code);
    if (lost && structural) continue;
    lost ||= structural;
    const braces = bracesBefore(text, error.pos[0]);
    const hint = braces ? 'put quotes around text that contains {{ }}' : syntaxHint(error.code);
    report(build, 'yaml-syntax', sentence(error.message), error.pos[0], hint);
  }
  for (const warning of document.warnings) {
    const isTag = warning.code === 'TAG_RESOLVE_FAILED';
    report(
      build,
      isTag ? 'yaml-tag' : 'yaml-syntax',
      sentence(warning.message),
      warning.pos[0],
      isTag ? 'remove the tag (!name)' : syntaxHint(warning.code),
    );
  }
}

/** True if an unquoted text begins with a reference, which YAML reads as a map in a map. */
function bracesBefore(text: string, offset: number): boolean {
  const line = text.slice(Math.max(0, offset - MOST_LOOKED_AT), offset + 2);
  return /(^|[:-]\s+)\{\{[^"'\n]*$/.test(line.slice(line.lastIndexOf('\n') + 1));
}

/** The number of characters of a line searched for the cause of an error. */
const MOST_LOOKED_AT = 500;

/** Errors within one value, after which the parser reads on correctly. */
const IN_ONE_VALUE: ReadonlySet<string> = new Set([
  'BAD_ALIAS',
  'BAD_DQ_ESCAPE',
  'BAD_PROP_ORDER',
  'BAD_SCALAR_START',
  'DUPLICATE_KEY',
  'MULTIPLE_ANCHORS',
  'MULTIPLE_TAGS',
  'TAG_RESOLVE_FAILED',
]);

function sentence(message: string): string {
  const line = message.split('\n', 1)[0] ?? message;
  return line.replaceAll(/\p{Cc}/gu, ' ').slice(0, 300);
}

function syntaxHint(code: string): string {
  if (code === 'TAB_AS_INDENT') return 'indent with spaces';
  if (code === 'BAD_ALIAS' || code === 'BAD_SCALAR_START')
    return 'put text that begins with a special character into quotes';
  if (code === 'BAD_INDENT') return 'indent the lines of a list or map alike, with spaces';
  if (code === 'BLOCK_AS_IMPLICIT_KEY' || code === 'MULTILINE_IMPLICIT_KEY')
    return 'begin the keys of a map in one column; text with ": " in it needs quotes, or the form "key: |"';
  return 'check brackets, quotes and indentation up to this place';
}

function convert(node: ParsedNode, build: Build): Sized | undefined {
  if (isAlias(node)) return convertAlias(node.source, node.range[0], build);
  if (node.anchor !== undefined) build.anchors.set(node.anchor, node);
  const made = isScalar(node) ? { node: scalarOf(node, build), size: 1, depth: 0 } : convertCollection(node, build);
  if (node.anchor !== undefined) build.made.set(node, made);
  return made;
}

function convertCollection(node: YAMLMap.Parsed | YAMLSeq.Parsed, build: Build): Sized {
  if (isMap(node)) return convertMap(node, build);
  const items: SourceNode[] = [];
  let size = 1;
  let depth = 0;
  for (const item of node.items as unknown[]) {
    const made = isParsed(item) ? convert(item, build) : undefined;
    items.push(made?.node ?? emptyAt(node.range[0], build));
    size += made?.size ?? 1;
    depth = Math.max(depth, made?.depth ?? 0);
  }
  return { node: { kind: 'list', items, at: build.places.at(node.range[0]) }, size, depth: depth + 1 };
}

function convertMap(node: YAMLMap.Parsed, build: Build): Sized {
  const entries: SourceEntry[] = [];
  const seen = new Set<string>();
  let size = 1;
  let depth = 0;
  for (const pair of node.items) {
    const key = pair.key as unknown;
    const value = pair.value as unknown;
    const [from, to] = isParsed(key) ? key.range : node.range;
    const name = keyText(key, from, build);
    const made = isParsed(value) ? convert(value, build) : undefined;
    size += 1 + (made?.size ?? 1);
    depth = Math.max(depth, made?.depth ?? 0);
    if (name === undefined) continue;
    if (seen.has(name)) {
      report(build, 'duplicate-key', `the key ${quoteShort(name)} is defined twice`, from, 'remove one of the two');
      continue;
    }
    seen.add(name);
    entries.push({ key: name, at: build.places.at(from), value: made?.node ?? emptyAt(to, build) });
  }
  return { node: { kind: 'map', entries, at: build.places.at(node.range[0]) }, size, depth: depth + 1 };
}

function keyText(key: unknown, offset: number, build: Build): string | undefined {
  const node = isParsed(key) ? convert(key, build)?.node : undefined;
  if (node?.kind !== 'scalar' || typeof node.value !== 'string') {
    report(build, 'bad-key', 'a key must be text', offset, 'put the key into quotes');
    return undefined;
  }
  const name = node.value;
  if (name === '<<' && isScalar(key) && key.type === 'PLAIN') {
    report(build, 'yaml-merge', 'merge keys (<<) are not supported', offset, 'write the keys out');
    return undefined;
  }
  if (FORBIDDEN_NAMES.has(name)) {
    report(build, 'forbidden-name', `${quoteShort(name)} cannot be used as a name`, offset, 'choose another name');
    return undefined;
  }
  return name;
}

function scalarOf(node: ParsedNode & { value: unknown }, build: Build): SourceScalar {
  const [from, to] = node.range;
  const written = isScalar(node) && typeof node.source === 'string' ? node.source : '';
  const value = typeof node.value === 'number' && isRounded(written) ? written : plainValue(node.value);
  const text = typeof value === 'string' ? value : value === null ? '' : written;
  return { kind: 'scalar', value, text, at: build.places.at(from), range: [from, to] };
}

function plainValue(value: unknown): SourceScalar['value'] {
  // An escape can produce half of a surrogate pair, which cannot be written to a file as text.
  if (typeof value === 'string') return value.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return null;
}

function emptyAt(offset: number, build: Build): SourceScalar {
  return { kind: 'scalar', value: null, text: '', at: build.places.at(offset), range: [offset, offset] };
}

/** Converts an alias. Anchors are recorded in the order of the text, so an alias means the last anchor of that name before it. */
function convertAlias(name: string, offset: number, build: Build): Sized | undefined {
  if (!build.hasAliases) {
    report(build, 'yaml-alias', 'this file may not have aliases', offset, 'write the value out');
    return undefined;
  }
  const target = build.anchors.get(name);
  if (target === undefined) {
    report(
      build,
      'yaml-alias',
      `there is no anchor &${name} before this alias`,
      offset,
      'put text that begins with * into quotes',
    );
    return undefined;
  }
  const made = build.made.get(target);
  if (made === undefined) {
    report(build, 'yaml-alias', 'an alias stands for a value that contains it', offset, 'write the value out');
  }
  return made;
}

function isParsed(value: unknown): value is ParsedNode {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value);
}

interface WholeFile {
  readonly file: string;
  /** Its name in the error: `the prices prices.yaml have problems`. */
  readonly problem: string;
  readonly hint: string;
}

/**
 * Reads a text, YAML or JSON, with `read`, and reports all problems at once, with line and column.
 *
 * @throws SkeinError `SKEIN_DEFINITION` with the problems in `details.problems`
 */
export function readWhole<T>(
  text: string,
  { file, problem, hint }: WholeFile,
  read: (root: SourceNode, findings: Findings) => T | undefined,
): T {
  const findings = createFindings();
  const { root, problems, places } = parseYaml(text, file, { aliases: false });
  findings.add(problems);
  const empty: SourceNode = { kind: 'scalar', value: null, text: '', at: places.at(0), range: [0, 0] };
  const found = problems.length > 0 ? undefined : read(root ?? empty, findings);
  if (found === undefined || findings.list.length > 0) throw fileError(problem, findings.list, hint);
  return found;
}
