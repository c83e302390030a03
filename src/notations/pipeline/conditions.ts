import type { Position } from '../../base/problem.js';
import { compileExpression } from '../../lang/expression.js';
import { unresolved } from '../../lang/truthy.js';
import type { CelVar, Condition, ValueRef } from '../../lang/values.js';
import { locate } from '../../text/places.js';
import type { SourceScalar } from '../../text/nodes.js';
import type { ParsedYaml } from '../../text/yaml.js';
import type { Placed } from './blocks.js';
import { findDotted } from './expressions.js';
import type { Dotted } from './expressions.js';
import { isFault, resolve } from './references.js';
import type { Names } from './order.js';
import type { Target } from './references.js';
import { noteUse, optionally, reportFault } from './templates.js';

/** What conditions are built with. */
export interface ConditionParts {
  readonly yaml: ParsedYaml;
  readonly names: Names;
}

/**
 * The condition of a step: a reference, in braces or without, is tested for truth; anything else in braces is an expression (CEL) in which
 * references stand as they do elsewhere. What can't become true or false is told in the words of the error that it would be.
 *
 * Problem codes: `bad-condition`, and those of references.
 * `buildCondition(step.condition, placed, parts)` gives `{ op: 'truthy', value: { channel: 'steps.qa.output' }, text: '{{ $steps.qa.output }}' }`.
 */
export function buildCondition(scalar: SourceScalar, reader: Placed, parts: ConditionParts): Condition | undefined {
  const { names, yaml } = parts;
  const text = scalar.text.trim();
  const isBraced = text.length >= 4 && text.startsWith('{{') && text.endsWith('}}');
  const inside = isBraced ? text.slice(2, -2).trim() : text;
  const refuse = (hint: string, at: Position = scalar.at): undefined => {
    names.findings.error('bad-condition', unresolved(text), at, hint);
  };
  const { dotted, optional } = optionally(inside);
  if (dotted === undefined) {
    if (!isBraced) return refuse('write {{ $steps.ID.output }}, followed by .PATH for JSON, or an expression in {{ }}');
    return expression(inside, text, { scalar, reader, parts, refuse });
  }
  const found = resolve(dotted, reader, names);
  const at = locate(yaml, scalar, inside, 0).at;
  if (isFault(found) && UNRESOLVED.has(found.code)) return refuse(hintOf(found), at);
  if (!reportFault(found, at, names.findings)) return undefined;
  if (found.ending === true) return refuse('compare it: {{ $steps.ID.status == "failed" }}', at);
  if (found.ref === undefined) return refuse('this is never true: refer to an output', at);
  noteUse(found, names, optional);
  return { op: 'truthy', value: found.ref, text, ...(optional ? { optional } : {}) };
}

/** Faults of a condition that is not a reference to an output at all. */
const UNRESOLVED: ReadonlySet<string> = new Set(['missing-output', 'bad-reference', 'unknown-variable']);

function hintOf(fault: { readonly message: string; readonly hint?: string | undefined }): string {
  return fault.hint === undefined ? fault.message : `${fault.message}; ${fault.hint}`;
}

interface Use {
  readonly scalar: SourceScalar;
  readonly reader: Placed;
  readonly parts: ConditionParts;
  readonly refuse: (hint: string, at?: Position) => undefined;
}

/** A variable of an expression while it is put together. */
type Fields = Map<string, Fields | ValueRef>;

function expression(inside: string, text: string, use: Use): Condition | undefined {
  const { reader, parts, refuse, scalar } = use;
  const vars: Fields = new Map();
  let written = '';
  let from = 0;
  let next = 0;
  let isUsable = true;
  for (const dotted of findDotted(inside)) {
    const place = locate(parts.yaml, scalar, inside.slice(dotted.start, dotted.end), next);
    next = place.next;
    const path = withoutCall(inside, dotted);
    const found = resolve(path, reader, parts.names);
    if (isFault(found) && UNRESOLVED.has(found.code)) return refuse(hintOf(found), place.at);
    isUsable = reportFault(found, place.at, parts.names.findings) && isUsable;
    if (isFault(found)) continue;
    noteUse(found, parts.names);
    written += inside.slice(from, dotted.start) + nameIn(found, vars);
    from = endOf(found, dotted);
  }
  if (!isUsable) return undefined;
  written += inside.slice(from);
  const { expression: compiled, problems } = compileExpression(written, [...vars.keys()]);
  const [problem] = problems;
  if (problem !== undefined || compiled === undefined) {
    return refuse([problem?.message, problem?.hint].filter((part) => part !== undefined).join('; '));
  }
  if (compiled.reads.length === 0) return refuse('it reads nothing, so it is always the same: refer to an output');
  if (compiled.reads.some((read) => !isKnown(read, vars))) return refuse('write $steps.ID.output');
  return { op: 'cel', expression: written, vars: fieldsOf(vars), text };
}

/** Of `$steps.a.output.items.size()` the last name is not part of the path, and of `.count-1` only what stands before the minus. */
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

/** Where the names of a reference end; the path behind them stays as it was written. */
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

/** Adds a value to the variables, and gives the name under which the expression finds it. */
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

/** Whether a read leads to one of the values. */
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
