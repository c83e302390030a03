import { isPlainObject } from '../../base/json.js';
import { parseJsonText } from '../../lang/json-path.js';
import type { StructuredOutput } from '../../plan/agent-spec.js';
import { fieldsRequest, type AnswerFields } from './answer-fields.js';
import type { ModelRequest } from '../model.js';
import { schemaFindings } from '../../lang/schema-check.js';

/** An answer parsed as JSON and checked, or what is wrong with it. */
export type OutputCheck =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly findings: readonly string[] };

/** Parses an answer as JSON (also inside a code fence) and checks it against the schema. */
export function checkOutput(output: StructuredOutput, text: string): OutputCheck {
  const value = parseJsonText(text);
  if (value === undefined) return { ok: false, findings: ['the answer is not JSON'] };
  const findings = schemaFindings(output.schema, value);
  return findings.length === 0 ? { ok: true, value } : { ok: false, findings };
}

/** The output part of the request; undefined for schemas that are not objects, which providers reject. */
export function outputRequest(output: StructuredOutput | undefined, agent: string): ModelRequest['output'] {
  if (output === undefined || !isPlainObject(output.schema)) return undefined;
  const name = (output.name ?? agent).replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 64);
  return { name: name === '' ? 'answer' : name, schema: output.schema };
}

/** The addition to the system prompt if the provider accepts no schema. */
export function outputInstructions(output: StructuredOutput): string {
  return [
    'Answer with JSON and nothing else: no explanation before or after it, no code fence.',
    'The JSON must match this JSON Schema:',
    JSON.stringify(output.schema),
  ].join('\n');
}

export function repairPrompt(
  output: StructuredOutput | undefined,
  findings: readonly string[],
  fields?: AnswerFields,
): string {
  const why = ['That answer can not be used:', ...findings.map((finding) => `- ${finding}`), ''];
  if (output === undefined) {
    const again = fields === undefined ? 'Give the whole answer again, corrected.' : fieldsRequest(fields);
    return [...why, again].join('\n');
  }
  return [
    ...why,
    'Give the whole answer again, corrected, as JSON and nothing else. It must match this JSON Schema:',
    JSON.stringify(output.schema),
  ].join('\n');
}
