import { constants } from 'node:os';
import { SkeinError } from '../../base/errors.js';
import type { Json, JsonObject } from '../../base/json.js';
import { isPlainObject, recordText } from '../../base/json.js';
import { withoutAtEnd } from '../../base/text.js';
import { parseJsonText } from '../../lang/json-path.js';
import { schemaFindings } from '../../lang/schema-check.js';
import type { ToolUse } from '../../plan/tool-use.js';
import { commandOf } from '../../plan/tool-use.js';
import type { ToolCall } from '../model.js';
import type { CommandEnd } from '../tools/process-group.js';

/** Bytes of each output of a command that a step keeps. */
export const KEPT_BYTES = 1024 * 1024;

/** Characters of what a command wrote last that its error shows. */
const SHOWN_END = 2_000;

/**
 * What a command gives its step.
 *
 * @param warn told when an output was longer than what is kept of it
 * @throws SkeinError `SKEIN_EXIT` where only its output is asked for and it did not end with exit code 0
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
  // As `$(...)` of a shell: what a program writes ends with a line break, and an argument must not.
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

/**
 * What a step gives, checked by its schema.
 *
 * @throws SkeinError `SKEIN_OUTPUT_INVALID`
 */
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

/** As shells count: a program that a signal ended has 128 and the number of that. */
function exitCodeOf(code: number | null, signal: string | null): number {
  if (signal === null) return code ?? 0;
  const numbers: Readonly<Record<string, number>> = constants.signals;
  return 128 + (numbers[signal] ?? 0);
}

function programOf(input: ToolUse['input']): string {
  const [first] = commandOf({ name: 'shell', input }) ?? [];
  return first !== undefined && 'value' in first && typeof first.value === 'string' ? first.value : 'the command';
}

/** What a call gives of which only a person knows that it was made. */
export function lostResult({ result }: ToolUse): Json {
  return result === 'all' ? { exit_code: 0, stdout: '', stderr: '' } : '';
}

/** What a step gives in a run without models: its command line, or its call. */
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

/** What a script says that a step gives, in the form of the step. */
export function scriptedValue(use: ToolUse, value: Json): Json {
  return inForm(use, value);
}

/** With `result: all` a text is standard output, and what an object does not say is as after a success. */
function inForm({ result }: ToolUse, value: Json): Json {
  if (result !== 'all') return typeof value === 'string' ? value : recordText(value);
  const success = { exit_code: 0, stdout: '', stderr: '' };
  return isPlainObject(value)
    ? { ...success, ...value }
    : { ...success, stdout: typeof value === 'string' ? value : recordText(value) };
}
