import { isPlainObject } from '../base/json.js';
import { fileError, type Position, type Problem } from '../base/problem.js';
import { createFindings, type Findings } from './findings.js';
import type { SourceNode } from './nodes.js';
import { WORDS_OF_DATA } from './source-words.js';

interface WholeData {
  readonly problem: string;
  readonly hint: string;
}

/** Deepest nesting of lists and maps. Data that contains itself is deeper. */
const DEEPEST = 200;

/**
 * Reads data of a program with the reader of a file. Problems name the path in the data, `rules[1].answer`, in place of a line.
 *
 * @throws SkeinError `SKEIN_DEFINITION` with the problems in `details.problems`
 */
export function readData<T>(
  value: unknown,
  { problem, hint }: WholeData,
  read: (root: SourceNode, findings: Findings) => T | undefined,
): T {
  const findings = createFindings({ words: WORDS_OF_DATA });
  const nodes = new DataNodes(findings);
  const root = nodes.of(value, '', 0);
  const refused = new Set(findings.list.map(({ at }) => at));
  const found = read(root, findings);
  if (found !== undefined && findings.list.length === 0) return found;
  // What is no data counts as empty for the reader, which then finds fault with it again.
  const problems = findings.list.filter(({ at, code }) => code === NOT_DATA || !refused.has(at));
  throw fileError(problem, problems.map(withPath), hint);

  function withPath({ at, ...rest }: Problem): Problem {
    const path = at === undefined ? '' : nodes.paths[at.line];
    return path === undefined || path === '' ? rest : { ...rest, path };
  }
}

const ROOT: Position = { line: 0, column: 1 };

const NOT_DATA = 'not-data';

class DataNodes {
  /** The path of each node. A node's position has the index of its path as its line. */
  readonly paths: string[] = [];

  constructor(private readonly findings: Findings) {}

  of(value: unknown, path: string, depth: number): SourceNode {
    if (depth > DEEPEST) return this.refused(ROOT, `is nested deeper than ${DEEPEST} levels, or contains itself`);
    const at = this.placeOf(path);
    if (Array.isArray(value))
      return { kind: 'list', at, items: value.map((item, i) => this.of(item, `${path}[${i}]`, depth + 1)) };
    if (isPlainObject(value)) {
      const given = Object.keys(value).filter((key) => value[key] !== undefined);
      const inside = (key: string): string => (path === '' ? key : `${path}.${key}`);
      const nodes = given.map((key) => [key, this.of(value[key], inside(key), depth + 1)] as const);
      return { kind: 'map', at, entries: nodes.map(([key, node]) => ({ key, at: node.at, value: node })) };
    }
    if (!isScalar(value)) return this.refused(at, `is ${typeOf(value)}`);
    return { kind: 'scalar', value, text: value === null ? '' : String(value), at, range: [0, 0] };
  }

  private placeOf(path: string): Position {
    return { line: this.paths.push(path) - 1, column: 1 };
  }

  private refused(at: Position, why: string): SourceNode {
    this.findings.error(
      NOT_DATA,
      `the value ${why}`,
      at,
      'only strings, numbers, booleans, null, arrays and plain objects can be here',
    );
    return { kind: 'scalar', value: null, text: '', at, range: [0, 0] };
  }
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function typeOf(value: unknown): string {
  if (typeof value === 'number') return `${value}, which JSON cannot express`;
  if (value === undefined) return 'undefined';
  return typeof value === 'object' ? 'an object of a class' : `a ${typeof value}`;
}
