import { isPlainObject } from '../../base/json.js';
import type { StepContext } from '../../engine/ports/executor.js';
import { parseJsonText } from '../../lang/json-path.js';
import { hasLine } from '../../lang/lines.js';
import type { AgentNode } from '../../plan/plan.js';

export type FieldsRead =
  | { readonly ok: true; readonly values: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly findings: readonly string[] };

export interface AnswerFields {
  readonly names: readonly string[];
  /** Whether the step fails without them. */
  readonly strict: boolean;
  /** `value` is the structured output of the answer, if it has one. */
  read(text: string, value: unknown): FieldsRead;
  /** Clears the channels: fields of an earlier answer do not belong to this one. Reduced channels keep what they have collected. */
  readonly none: Readonly<Record<string, undefined>>;
}

/** Returns the reader of the fields in a step's answers; undefined for a node without fields. */
export function answerFields(node: AgentNode, step: Pick<StepContext, 'read' | 'isReduced'>): AnswerFields | undefined {
  const { fields, fieldsUnless: unless, fieldsStrict: strict = false } = node;
  if (fields === undefined) return undefined;
  const names = [...new Set(Object.values(fields))];
  const plain = Object.keys(fields).filter((channel) => !step.isReduced(channel));
  const hasMore = unless !== undefined && isThere(step.read(unless.after));
  return {
    names,
    strict,
    none: Object.fromEntries(plain.map((channel) => [channel, undefined])),
    read(text, value) {
      if (hasMore && hasLine(text, unless.line)) return NONE;
      const object = isPlainObject(value) ? value : objectIn(text);
      if (object === undefined) return { ok: false, findings: ['the answer holds no JSON object'] };
      const missing = names.filter((name) => !Object.hasOwn(object, name));
      if (missing.length > 0)
        return { ok: false, findings: missing.map((name) => `the JSON object lacks ${JSON.stringify(name)}`) };
      const values = Object.entries(fields).map(([channel, name]) => [channel, object[name]] as const);
      return { ok: true, values: Object.fromEntries(values) };
    },
  };
}

/** The result for answers that need no fields. */
const NONE: FieldsRead = { ok: true, values: {} };

export function fieldsRequest({ names }: AnswerFields): string {
  const listed = names.map((name) => JSON.stringify(name)).join(', ');
  return `Give the whole answer again, corrected, with one JSON object in it that has the fields ${listed}.`;
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/** Parses the text from the first brace to the last one, or else finds JSON as in other texts. */
function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const within = parseJsonText(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  if (isPlainObject(within)) return within;
  const found = parseJsonText(text);
  return isPlainObject(found) ? found : undefined;
}
