import { SkeinError } from '../../base/errors.js';
import { isPlainObject, parseJson, type JsonObject } from '../../base/json.js';
import { coerceInput } from '../../lang/coerce.js';
import { schemaFindings } from '../../lang/schema-check.js';
import type { ToolCall } from '../model.js';
import type { Tool } from '../tool.js';
import { messageOf } from '../../base/thrown.js';

type InputRules = Pick<Tool, 'inputSchema' | 'coerce' | 'rename'>;

/**
 * Parses the input of a call and checks it against the tool's schema.
 *
 * @throws SkeinError `SKEIN_TOOL_FAILED`, with what is wrong in words that help a model.
 */
export function readInput(call: ToolCall, { inputSchema: schema, coerce, rename }: InputRules): JsonObject {
  const written = parseInput(call);
  const given = rename === undefined ? written : rename(written);
  const input = coerce === true ? (coerceInput(call.name, schema, given) as JsonObject) : given;
  const findings = schemaFindings(schema, input);
  if (findings.length === 0) return input;
  throw new SkeinError(
    'SKEIN_TOOL_FAILED',
    `the input of ${call.name} does not match its schema: ${findings.join('; ')}`,
  );
}

/**
 * Parses the input of a call as an object; an empty text counts as an empty object.
 *
 * @throws SkeinError `SKEIN_TOOL_FAILED` if it is not a JSON object.
 */
export function parseInput(call: ToolCall): JsonObject {
  let value: unknown;
  try {
    value = call.input.trim() === '' ? {} : parseJson(call.input);
  } catch (error) {
    const why = messageOf(error);
    throw new SkeinError('SKEIN_TOOL_FAILED', `the input of ${call.name} is not JSON: ${why}`);
  }
  if (!isPlainObject(value))
    throw new SkeinError('SKEIN_TOOL_FAILED', `the input of ${call.name} must be a JSON object`);
  return value as JsonObject;
}
