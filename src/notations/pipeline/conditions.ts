import type { Position } from '../../base/problem.js';
import { unresolved } from '../../lang/truthy.js';
import type { Condition } from '../../lang/values.js';
import { locate } from '../../text/places.js';
import type { SourceScalar } from '../../text/nodes.js';
import type { ParsedYaml } from '../../text/yaml.js';
import type { Placed } from './blocks.js';
import { isFault, noteUse, reportFault, resolve } from './references.js';
import type { Names } from './order.js';
import { optionally } from './one-reference.js';
import { translate } from './translate.js';

export interface ConditionParts {
  readonly yaml: ParsedYaml;
  readonly names: Names;
}

/**
 * Builds the condition of a step. A reference, in braces or not, is tested for truth; other text in braces is an expression (CEL) with
 * references. What can't be evaluated is reported with its run-time error. Problem codes: `bad-condition`, those of references.
 *
 * `{{ $steps.qa.output }}` becomes `{ op: 'truthy', value: { channel: 'steps.qa.output' }, text: '{{ $steps.qa.output }}' }`.
 */
export function buildCondition(scalar: SourceScalar, reader: Placed, parts: ConditionParts): Condition | undefined {
  const { names, yaml } = parts;
  const text = scalar.text.trim();
  const isBraced = text.length >= 4 && text.startsWith('{{') && text.endsWith('}}');
  const inside = isBraced ? text.slice(2, -2).trim() : text;
  const refuse = (hint: string, at: Position = scalar.at): undefined => {
    names.findings.error('bad-condition', unresolved(text), at, hint);
  };
  if (isBraced && inside.startsWith('='))
    return refuse(`a condition is an expression already: write {{ ${inside.slice(1).trim()} }}`);
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

/** Problem codes for a condition that is not a reference to an output at all. */
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

function expression(inside: string, text: string, use: Use): Condition | undefined {
  const { reader, parts, refuse, scalar } = use;
  let next = 0;
  const translated = translate(inside, reader, {
    names: parts.names,
    placeOf: (written) => {
      const place = locate(parts.yaml, scalar, written, next);
      next = place.next;
      return place.at;
    },
    isTold: (fault, at) => {
      if (!UNRESOLVED.has(fault.code)) return false;
      refuse(hintOf(fault), at);
      return true;
    },
  });
  if (translated === undefined) return undefined;
  const { computed, compiled, problem, isKnown } = translated;
  if (problem !== undefined || compiled === undefined) {
    return refuse([problem?.message, problem?.hint].filter((part) => part !== undefined).join('; '));
  }
  if (compiled.reads.length === 0) return refuse('it reads nothing, so it is always the same: refer to an output');
  if (!isKnown) return refuse('write $steps.ID.output');
  return { op: 'cel', ...computed, text };
}
