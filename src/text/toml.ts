import type { AST } from 'toml-eslint-parser';
import { FORBIDDEN_NAMES } from '../base/json.js';
import type { Position, Problem } from '../base/problem.js';
import { createFindings, type Findings } from './findings.js';
import type { SourceEntry, SourceMap, SourceNode, SourceScalar } from './nodes.js';

/** Configuration in TOML is small. The parser takes more than linear time and recurses for each character of a text. */
const TOML_LIMIT = 64_000;

export interface ParsedToml {
  /** Undefined if the text is damaged; the problems say where. */
  readonly root: SourceMap | undefined;
  readonly problems: readonly Problem[];
}

/** Reads TOML 1.0. Problem codes: `toml-limit`, `toml-syntax`, `forbidden-name`. */
export async function parseToml(text: string, file: string): Promise<ParsedToml> {
  const findings = createFindings();
  const start = { file, line: 1, column: 1 };
  if (text.length > TOML_LIMIT) {
    const message = `the file has ${text.length} characters; the limit is ${TOML_LIMIT}`;
    findings.error('toml-limit', message, start, 'keep texts in files of their own');
    return { root: undefined, problems: findings.list };
  }
  const { ParseError, parseTOML } = await import('toml-eslint-parser');
  try {
    const program = parseTOML(text.startsWith('\uFEFF') ? text.slice(1) : text, { tomlVersion: '1.0' });
    const root = new Tables(file, findings).read(program);
    return { root, problems: findings.list };
  } catch (error) {
    if (error instanceof ParseError) {
      const at = { file, line: error.lineNumber, column: error.column + 1 };
      findings.error('toml-syntax', `this is not TOML: ${error.message}`, at, 'a line is key = "value" or [table]');
    } else if (error instanceof RangeError) {
      findings.error('toml-limit', 'values are nested too deeply', start, 'write tables: [a.b]');
    } else throw error;
    return { root: undefined, problems: findings.list };
  }
}

interface OpenMap {
  readonly kind: 'map';
  readonly at: Position;
  readonly entries: SourceEntry[];
  readonly maps: Map<string, OpenMap>;
  /** Lists of tables by name. Each further table of a name is appended. */
  readonly lists: Map<string, SourceNode[]>;
}

class Tables {
  constructor(
    private readonly file: string,
    private readonly findings: Findings,
  ) {}

  read({ body: [top] }: AST.TOMLProgram): SourceMap {
    const root = openMap({ file: this.file, line: 1, column: 1 });
    for (const part of top.body) {
      if (part.type === 'TOMLKeyValue') this.pair(root, part);
      else {
        const table = this.table(root, part);
        if (table !== undefined) for (const pair of part.body) this.pair(table, pair);
      }
    }
    return root;
  }

  /** Returns the map of a `[table]`. The parser guarantees that no table is written twice. */
  private table(root: OpenMap, { key, kind }: AST.TOMLTable): OpenMap | undefined {
    const names = key.keys.map(nameOf);
    const last = names.pop() ?? '';
    const above = this.inner(root, names, key);
    if (kind === 'standard') return above && this.inner(above, [last], key);
    if (above === undefined || !this.allowed(last, key)) return undefined;
    const at = this.at(key);
    const table = openMap(at);
    const items = above.lists.get(last) ?? [];
    if (items.length === 0) above.entries.push({ key: last, at, value: { kind: 'list', items, at } });
    items.push(table);
    above.lists.set(last, items);
    // Subtables belong to the newest entry of the list.
    above.maps.set(last, table);
    return table;
  }

  private inner(from: OpenMap, names: readonly string[], node: AST.TOMLKey): OpenMap | undefined {
    let map = from;
    for (const name of names) {
      const known = map.maps.get(name);
      if (known === undefined && !this.allowed(name, node)) return undefined;
      const next = known ?? openMap(this.at(node));
      if (known === undefined) {
        map.entries.push({ key: name, at: this.at(node), value: next });
        map.maps.set(name, next);
      }
      map = next;
    }
    return map;
  }

  private pair(table: OpenMap, { key, value }: AST.TOMLKeyValue): void {
    const names = key.keys.map(nameOf);
    const last = names.pop() ?? '';
    const map = this.inner(table, names, key);
    if (map !== undefined && this.allowed(last, key))
      map.entries.push({ key: last, at: this.at(key), value: this.value(value) });
  }

  private value(node: AST.TOMLContentNode): SourceNode {
    const at = this.at(node);
    if (node.type === 'TOMLArray') return { kind: 'list', items: node.elements.map((one) => this.value(one)), at };
    if (node.type === 'TOMLInlineTable') {
      const map = openMap(at);
      for (const pair of node.body) this.pair(map, pair);
      return map;
    }
    return scalar(node, at);
  }

  private allowed(name: string, node: AST.TOMLKey): boolean {
    if (!FORBIDDEN_NAMES.has(name)) return true;
    this.findings.error('forbidden-name', `"${name}" cannot be used as a key`, this.at(node), 'choose another name');
    return false;
  }

  private at({ loc: { start } }: AST.TOMLNode): Position {
    return { file: this.file, line: start.line, column: start.column + 1 };
  }
}

function openMap(at: Position): OpenMap {
  return { kind: 'map', at, entries: [], maps: new Map(), lists: new Map() };
}

function nameOf(key: AST.TOMLBare | AST.TOMLQuoted): string {
  return key.type === 'TOMLBare' ? key.name : key.value;
}

/** Dates are read as texts. */
function scalar(node: AST.TOMLValue, at: Position): SourceScalar {
  const { range } = node;
  if (node.kind === 'string') return { kind: 'scalar', value: node.value, text: node.value, at, range };
  if (node.kind === 'boolean') return { kind: 'scalar', value: node.value, text: String(node.value), at, range };
  if (node.kind === 'integer' || node.kind === 'float')
    return { kind: 'scalar', value: node.value, text: node.number, at, range };
  return { kind: 'scalar', value: node.datetime, text: node.datetime, at, range };
}
