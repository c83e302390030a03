import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, MACROS } from './expression-shape.js';
import { SCALAR, type Extent } from './expression-values.js';

interface Estimate {
  readonly extent: Extent;
  /** Nodes evaluated and items copied, from above. */
  readonly work: number;
}

type Extents = ReadonlyMap<string, Extent>;

const SCALAR_FUNCTIONS: ReadonlySet<string> = new Set(
  'size contains startsWith endsWith has type int double uint bool indexOf lastIndexOf hasLine hasValue'.split(' '),
);

const SELECTIONS: ReadonlySet<string> = new Set(['.', '.?', '[]', '[?]']);

/** Operators that read their operands completely, not only their top level. */
const DEEP: ReadonlySet<string> = new Set(['+', '==', '!=', '<', '<=', '>', '>=', 'in', 'list', 'map']);

/** Estimates from above how much work an expression is for values of these extents, without doing the work. */
// The parser bounds the depth of the tree, so recursion is safe here.
export function estimate(node: ASTNode, known: Extents): Estimate {
  if (node.op === 'id') return { extent: known.get(node.args) ?? SCALAR, work: 1 };
  if (node.op === 'value') {
    const text = typeof node.args === 'string' ? node.args.length : 0;
    return { extent: { ...SCALAR, size: text + 1, text }, work: 1 };
  }
  if (node.op === 'rcall' && MACROS.has(node.args[0])) return estimateMacro(node, known);
  const parts = childrenOf(node).map((child) => estimate(child, known));
  const below = parts.reduce((sum, part) => sum + part.work, 1);
  const extent = combine(node, parts);
  const reads = parts.reduce((sum, part) => sum + readOf(node, part.extent), 0);
  return { extent, work: below + reads };
}

function estimateMacro(node: Extract<ASTNode, { op: 'rcall' }>, known: Extents): Estimate {
  const [name, receiver, [variable, ...bodies]] = node.args;
  const list = estimate(receiver, known);
  const inner = new Map(known);
  if (variable?.op === 'id') inner.set(variable.args, itemOf(list.extent));
  const parts = bodies.map((body) => estimate(body, inner));
  const rounds = list.extent.count;
  const work = 1 + list.work + rounds * parts.reduce((sum, part) => sum + part.work, 1);
  return { extent: macroExtent(name, list.extent, parts.at(-1)?.extent ?? SCALAR), work };
}

function macroExtent(name: string, list: Extent, body: Extent): Extent {
  if (name === 'filter') return list;
  if (name !== 'map') return SCALAR;
  return {
    count: list.count,
    longest: Math.max(list.count, body.longest),
    size: 1 + list.count * body.size,
    inner: body.size,
    text: body.text,
  };
}

/** What an item or a field of a value can be at most. */
function itemOf(extent: Extent): Extent {
  return { count: extent.longest, longest: extent.longest, size: extent.inner, inner: extent.inner, text: extent.text };
}

function combine(node: ASTNode, parts: readonly Estimate[]): Extent {
  const extents = parts.map((part) => part.extent);
  if (SELECTIONS.has(node.op)) return itemOf(extents[0] ?? SCALAR);
  const whole = sumOf(extents);
  if (node.op === 'call' || node.op === 'rcall') return callExtent(node.args[0], extents, whole);
  if (node.op === '?:') return { ...whole, count: whole.longest };
  if (node.op === 'list' || node.op === 'map') return listOf(parts.length, whole, extents);
  if (node.op !== '+') return SCALAR;
  const count = extents.reduce((sum, extent) => sum + extent.count, 0);
  return { ...whole, count, longest: Math.max(whole.longest, count) };
}

/** Holds all of them: bounds any value made of them without repetition. */
function sumOf(extents: readonly Extent[]): Extent {
  let size = 1;
  let longest = 0;
  let inner = 1;
  let text = 0;
  for (const extent of extents) {
    size += extent.size;
    longest = Math.max(longest, extent.longest);
    inner = Math.max(inner, extent.inner);
    text += extent.text;
  }
  return { count: longest, longest, size, inner, text };
}

function listOf(count: number, whole: Extent, items: readonly Extent[]): Extent {
  const inner = items.reduce((most, extent) => Math.max(most, extent.size), whole.inner);
  return { count, longest: Math.max(whole.longest, count), size: whole.size, inner, text: whole.text };
}

/** Characters of JSON for an item or a character, at most: a number has 24, a control character six. */
const JSON_CHARACTERS = 25;

function callExtent(name: string, extents: readonly Extent[], whole: Extent): Extent {
  if (SCALAR_FUNCTIONS.has(name)) return SCALAR;
  const [first = SCALAR, second = SCALAR] = extents;
  if (name === 'split') {
    const { size, text } = first;
    return { count: size, longest: size, size: 2 * size, inner: size, text };
  }
  if (name === 'join') {
    const size = first.size * JSON_CHARACTERS + first.count * second.size;
    return { ...SCALAR, size, text: size };
  }
  if (name === 'json') {
    const size = first.size * JSON_CHARACTERS;
    return { ...SCALAR, size, text: size };
  }
  // A wrapper such as optional.of(x) has x inside it.
  return { ...whole, inner: whole.size };
}

/** Returns how much of an operand is read. */
function readOf(node: ASTNode, extent: Extent): number {
  if (node.op !== 'call' && node.op !== 'rcall') return DEEP.has(node.op) ? extent.size : 0;
  if (node.args[0] === 'has') return 0;
  // Items need no counting, characters do.
  return node.args[0] === 'size' ? extent.text : extent.size;
}
