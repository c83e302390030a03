import type { Position, Problem } from '../../base/problem.js';
import { suggest } from '../../base/suggest.js';
import { compileExpression, type Expression } from '../../lang/expression.js';
import type { CelVar, Computed, ValueRef } from '../../lang/values.js';
import type { Placed } from './blocks.js';
import { findDotted, type Dotted } from './expressions.js';
import type { Fault, Names } from './order.js';
import { isFault, noteUse, PROMPT, reportFault, resolve, type Target } from './references.js';

/** An expression whose references became variables. */
interface Translated {
  readonly computed: Computed;
  /** Undefined if there is a problem. */
  readonly compiled: Expression | undefined;
  readonly problem: Problem | undefined;
  /** True if it reads only references. */
  readonly isKnown: boolean;
}

interface Translating {
  readonly names: Names;
  placeOf(written: string): Position;
  /** Reports a fault in other words. Returns false if the fault should be reported unchanged. */
  isTold(fault: Fault, at: Position): boolean;
}

/** A variable of an expression while it is being built. */
type Fields = Map<string, Fields | ValueRef>;

/** Translates a file's expression with references to one over variables. Undefined if faults of references were reported. */
export function translate(inside: string, reader: Placed, translating: Translating): Translated | undefined {
  const { names } = translating;
  const vars: Fields = new Map();
  let written = '';
  let from = 0;
  let isUsable = true;
  for (const dotted of findDotted(inside)) {
    const at = translating.placeOf(inside.slice(dotted.start, dotted.end));
    const found = resolve(withoutCall(inside, dotted), reader, names);
    if (isFault(found) && translating.isTold(found, at)) return undefined;
    isUsable = reportFault(found, at, names.findings) && isUsable;
    if (isFault(found)) continue;
    noteUse(found, names);
    written += inside.slice(from, dotted.start) + nameIn(found, vars);
    from = endOf(found, dotted);
  }
  if (!isUsable) return undefined;
  written += inside.slice(from);
  const { expression: compiled, problems } = compileExpression(written, [...vars.keys()], dollarHint);
  const isKnownRead = (read: readonly string[]): boolean => isKnown(read, vars);
  return {
    computed: { expression: written, vars: fieldsOf(vars) },
    compiled,
    problem: problems[0],
    isKnown: compiled?.reads.every(isKnownRead) ?? true,
  };
}

const VARIABLES = ['steps', 'inputs', PROMPT, 'item'];

/** The hint for a bare name in an expression, where values begin with a dollar sign. */
function dollarHint(name: string): string {
  const meant = VARIABLES.includes(name) ? name : suggest(name, VARIABLES);
  if (meant !== undefined) return `references begin with a dollar sign: $${meant}`;
  return 'references begin with a dollar sign, such as $steps.ID.output; texts stand in quotes';
}

/** Shortens a reference: in `$steps.a.output.items.size()` the last name is not part of the path, and `.count-1` ends before the minus. */
function withoutCall(text: string, dotted: Dotted): Dotted {
  const segments = dotted.segments.slice();
  const last = segments.at(-1);
  if (last?.kind === 'name' && text.slice(dotted.end).trimStart().startsWith('(')) segments.pop();
  const output = segments.findIndex(
    (segment) => segment.text.startsWith('output') && !segment.text.startsWith('outputs'),
  );
  const cut = segments.findIndex(
    (segment, at) => at > output && output >= 0 && segment.kind === 'name' && segment.text.includes('-'),
  );
  const minus = segments[cut];
  if (minus === undefined) return { ...dotted, segments };
  const name = minus.text.slice(0, minus.text.indexOf('-'));
  return { ...dotted, segments: [...segments.slice(0, cut), ...(name === '' ? [] : [{ ...minus, text: name }])] };
}

/** Returns where the names of a reference end. The path after them is kept as written. */
function endOf(found: Target, dotted: Dotted): number {
  if (found.endsAt !== undefined) return found.endsAt;
  const rootEnd = dotted.start + 1 + dotted.root.length;
  return found.used === 0 ? rootEnd : (dotted.segments[found.used - 1]?.end ?? rootEnd);
}

const WORDS = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** Adds a value to the variables, and returns its name in the expression. */
function nameIn(found: Target, vars: Fields): string {
  if (found.ref === undefined) return found.text ?? '';
  const [root = '', ...names] = found.names;
  const value: ValueRef = found.ending === true ? found.ref : { channel: found.ref.channel };
  let here = vars;
  for (const name of found.names.slice(0, -1)) {
    const known = here.get(name);
    const inner: Fields = known instanceof Map ? known : new Map();
    here.set(name, inner);
    here = inner;
  }
  here.set(found.names.at(-1) ?? root, value);
  const plain = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name) && !WORDS.has(name);
  return root + names.map((name) => (plain(name) ? `.${name}` : `["${name}"]`)).join('');
}

function isKnown(read: readonly string[], vars: Fields): boolean {
  let here: Fields | ValueRef | undefined = vars;
  for (const name of read) {
    if (!(here instanceof Map)) return true;
    here = here.get(name);
    if (here === undefined) return false;
  }
  return !(here instanceof Map);
}

function fieldsOf(vars: Fields): Readonly<Record<string, CelVar>> {
  return Object.fromEntries(
    [...vars].map(([name, value]) => [name, value instanceof Map ? { fields: fieldsOf(value) } : value]),
  );
}
