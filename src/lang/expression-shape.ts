import type { ASTNode } from '@marcbachmann/cel-js';
import { FORBIDDEN_NAMES } from '../base/json.js';
import { quoteShort } from './value-text.js';
import type { CelVar } from './values.js';

export interface ExpressionShape {
  readonly variables: ReadonlySet<string>;
  /** Dotted paths that it reads; a last `*` says that the value is used as a list or an object. */
  readonly reads: readonly (readonly string[])[];
  /** The reason why the expression is refused. */
  readonly refusal: { readonly offset: number; readonly message: string } | undefined;
}

/** Functions that run an expression for each item of their receiver. */
export const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** Stands for "used as a list or an object" at the end of a path. */
export const WHOLE = '*';

const REFUSED: ReadonlyMap<string, string> = new Map([
  ['matches', 'regular expressions can take forever; use contains, startsWith or endsWith'],
  ['bind', 'write the value out where it is used'],
]);

interface Search {
  readonly variables: Set<string>;
  readonly reads: string[][];
  readonly maxNesting: number;
  refusal: ExpressionShape['refusal'];
}

/** Finds what an expression reads, such as `[['steps', 'qa', 'output', 'approved']]`, and whether it uses what is refused. */
export function inspectExpression(ast: ASTNode, maxNesting: number): ExpressionShape {
  const search: Search = { variables: new Set(), reads: [], maxNesting, refusal: undefined };
  visit(search, ast, new Set(), 0);
  return search;
}

/** Returns the direct children of a node of any kind. */
export function childrenOf(node: ASTNode): readonly ASTNode[] {
  if (node.op === 'value' || node.op === 'id') return [];
  if (node.op === '.' || node.op === '.?') return [node.args[0]];
  if (node.op === 'call') return node.args[1];
  if (node.op === 'rcall') return [node.args[1], ...node.args[2]];
  if (node.op === 'map') return node.args.flat();
  if (node.op === '!_' || node.op === '-_') return [node.args];
  return node.args;
}

// The parser bounds the depth of the tree, so recursion is safe here.
function visit(search: Search, node: ASTNode, bound: ReadonlySet<string>, nesting: number): void {
  const path = pathOf(node);
  if (path !== undefined) {
    record(search, path, bound);
    return;
  }
  if (node.op === 'rcall' || node.op === 'call') {
    const [name] = node.args;
    refuse(
      search,
      node,
      REFUSED.get(name) === undefined ? undefined : `${name} is not available: ${REFUSED.get(name)}`,
    );
  }
  if (node.op === 'map') for (const [key] of node.args) refuse(search, key, lostKey(key));
  if (node.op === 'rcall' && MACROS.has(node.args[0])) {
    visitMacro(search, node, bound, nesting);
    return;
  }
  if (node.op === 'in') {
    recordWhole(search, node.args[1], bound);
  }
  for (const child of childrenOf(node)) visit(search, child, bound, nesting);
}

function visitMacro(
  search: Search,
  node: Extract<ASTNode, { op: 'rcall' }>,
  bound: ReadonlySet<string>,
  nesting: number,
): void {
  const [, receiver, [variable, ...bodies]] = node.args;
  if (nesting + 1 > search.maxNesting) {
    refuse(search, node, `all, exists, map and filter can be nested ${search.maxNesting} deep at most`);
    return;
  }
  recordWhole(search, receiver, bound);
  visit(search, receiver, bound, nesting);
  const inner = variable?.op === 'id' ? new Set([...bound, variable.args]) : bound;
  for (const body of bodies) visit(search, body, inner, nesting + 1);
}

/** The language leaves these keys out of the maps that it makes. */
function lostKey(key: ASTNode): string | undefined {
  const name: unknown = key.op === 'value' ? key.args : undefined;
  return typeof name === 'string' && FORBIDDEN_NAMES.has(name)
    ? `${quoteShort(name)} can't be a key of a map`
    : undefined;
}

function refuse(search: Search, node: ASTNode, message: string | undefined): void {
  if (message !== undefined) search.refusal ??= { offset: node.start, message };
}

function record(search: Search, path: readonly string[], bound: ReadonlySet<string>): void {
  const [variable] = path;
  if (variable === undefined || bound.has(variable)) return;
  search.variables.add(variable);
  search.reads.push([...path]);
}

function recordWhole(search: Search, node: ASTNode, bound: ReadonlySet<string>): void {
  const path = pathOf(node);
  if (path !== undefined) record(search, [...path, WHOLE], bound);
}

/** Returns the dotted path that a node spells: names, selections and indexes by literal. */
function pathOf(node: ASTNode): string[] | undefined {
  const path: string[] = [];
  let here = node;
  for (;;) {
    if (here.op === 'id') return [here.args, ...path.toReversed()];
    if (here.op === '.' || here.op === '.?') {
      path.push(here.args[1]);
      here = here.args[0];
      continue;
    }
    if (here.op !== '[]' && here.op !== '[?]') return undefined;
    const [base, key] = here.args;
    if (key.op !== 'value') return undefined;
    path.push(String(key.args));
    here = base;
  }
}

export interface UnknownMember {
  /** The path that is read: `steps.a.outptu`. */
  readonly read: string;
  readonly name: string;
  /** The names that exist instead. */
  readonly known: readonly string[];
}

/** The first read of an expression with a name that its variables don't have. The contents of values are unknown until a run. */
export function unknownMember(
  reads: readonly (readonly string[])[],
  vars: Readonly<Record<string, CelVar>>,
): UnknownMember | undefined {
  for (const read of reads) {
    let fields: Readonly<Record<string, CelVar>> | undefined = vars;
    for (const [at, name] of read.entries()) {
      if (fields === undefined || name === WHOLE) break;
      const found: CelVar | undefined = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (found === undefined) return { read: read.slice(0, at + 1).join('.'), name, known: Object.keys(fields) };
      fields = 'fields' in found ? found.fields : undefined;
    }
  }
  return undefined;
}
