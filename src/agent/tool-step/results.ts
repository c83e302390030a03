import { constants } from 'node:os';
import { SkeinError } from '../../base/errors.js';
import { isPlainObject, recordText, type Json, type JsonObject } from '../../base/json.js';
import { withoutAtEnd } from '../../base/text.js';
import { parseJsonText } from '../../lang/json-path.js';
import { schemaFindings } from '../../lang/schema-check.js';
import { commandOf, type ToolUse } from '../../plan/tool-use.js';
import type { ToolCall } from '../model.js';
import type { CommandEnd } from '../tools/process-group.js';

/** Bytes of each output of a command that a step keeps. */
export const KEPT_BYTES = 1024 * 1024;

/** Characters from the end of a command's output that its error shows. */
const SHOWN_END = 2_000;

/**
 * Returns the result of a command for its step.
 *
 * @param warn called if part of an output was dropped
 * @throws SkeinError `SKEIN_EXIT` if the step uses only the output and the exit code was not 0
 */
export function resultOfCommand(
  { result = 'text', input }: ToolUse,
  { code, signal, stdout, stderr }: CommandEnd,
  warn: (message: string) => void,
): Json {
  for (const [name, { missing }] of [['output', stdout] as const, ['error output', stderr] as const])
    if (missing > 0)
      warn(`the ${name} of the command is longer than 1 MiB: ${missing} bytes in its middle are left out`);
  if (result === 'all') return { exit_code: exitCodeOf(code, signal), stdout: stdout.text(), stderr: stderr.text() };
  // As in `$(...)` of a shell: programs end their output with a line break, and an argument must not.
  if (code === 0) return withoutAtEnd(stdout.text(), '\r\n');
  const program = programOf(input);
  const how = signal === null ? `ended with exit code ${code ?? 0}` : `was ended by ${signal}`;
  const said = (stderr.text().trim() === '' ? stdout.text() : stderr.text()).trim();
  const end = said.length > SHOWN_END ? `[...] ${said.slice(-SHOWN_END)}` : said;
  throw new SkeinError('SKEIN_EXIT', `${program} ${how}${end === '' ? '' : `: ${end}`}`, {
    hint: 'with result: all the step succeeds, and the workflow looks at exit_code',
    details: { exitCode: exitCodeOf(code, signal), signal },
  });
}

/** @throws SkeinError `SKEIN_OUTPUT_INVALID` if the schema of the step refuses it */
export function fittingOutput({ name, schema }: ToolUse, value: Json): Json {
  if (schema === undefined) return value;
  const read = typeof value === 'string' ? parseJsonText(value) : value;
  const findings = read === undefined ? ['it is not JSON'] : schemaFindings(schema, read);
  if (findings.length === 0) return read as Json;
  throw new SkeinError(
    'SKEIN_OUTPUT_INVALID',
    `what ${name} gave does not match the schema of the step: ${findings.join('; ')}`,
    {
      hint: 'look at what it gives, or change the schema',
    },
  );
}

/** As in shells: a program that a signal ended has exit code 128 plus the signal's number. */
function exitCodeOf(code: number | null, signal: string | null): number {
  if (signal === null) return code ?? 0;
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return 128 + (numbers[signal] ?? 0);
}

function programOf(input: ToolUse['input']): string {
  const [first] = commandOf({ name: 'shell', input }) ?? [];
  return first !== undefined && 'value' in first && typeof first.value === 'string' ? first.value : 'the command';
}

/** The result of a call that, according to a person, was made. */
export function lostResult({ result }: ToolUse): Json {
  return result === 'all' ? { exit_code: 0, stdout: '', stderr: '' } : '';
}

/** The result of a step in a run without models: its command line, or its call. */
export function pretendedResult(use: ToolUse, { name, input }: ToolCall): Json {
  const { argv } = JSON.parse(input) as JsonObject;
  const line =
    commandOf(use) !== undefined && Array.isArray(argv)
      ? argv.map((word) => quoted(String(word))).join(' ')
      : `${name} ${input}`;
  return inForm(use, line);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word);
}

export function scriptedValue(use: ToolUse, value: Json): Json {
  return inForm(use, value);
}

/** With `result: all` a text is standard output, and keys missing from an object are as after a success. */
function inForm({ result }: ToolUse, value: Json): Json {
  if (result !== 'all') return typeof value === 'string' ? value : recordText(value);
  const success = { exit_code: 0, stdout: '', stderr: '' };
  return isPlainObject(value)
    ? { ...success, ...value }
    : { ...success, stdout: typeof value === 'string' ? value : recordText(value) };
}
