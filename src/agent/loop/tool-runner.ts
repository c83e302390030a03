import { SkeinError } from '../../base/errors.js';
import type { Json, JsonObject } from '../../base/json.js';
import { isPlainObject } from '../../base/json.js';
import { didYouMean } from '../../base/suggest.js';
import type { StepContext } from '../../engine/ports/executor.js';
import type { ToolCall, ToolResult } from '../model.js';
import type { Tool, ToolIo } from '../tool.js';
import { schemaFindings } from '../../lang/schema-check.js';

/** Longest result of a tool that a model is given, in bytes of UTF-8. */
export const LONGEST_RESULT = 64 * 1024;

/**
 * A tool that needs the step itself, not only its input: it runs outside of an effect and uses the step's own doors.
 * The name of each call is unique within the step.
 */
export interface StepTool extends Pick<Tool, 'name' | 'description' | 'inputSchema'> {
  run(input: JsonObject, name: string): Promise<string>;
}

/** What runs the tool calls of one step. */
export interface ToolRunnerOptions {
  readonly step: StepContext;
  readonly tools: readonly Tool[];
  readonly stepTools: readonly StepTool[];
  watch(signal: AbortSignal): void;
}

/** Runs tool calls. Never rejects for what a tool does; only for what ends the step. */
export interface ToolRunner {
  /** A call of the loop: an effect of its own, `tool#TURN.INDEX`. */
  call(call: ToolCall, turn: number, index: number): Promise<ToolResult>;
  /** A call from inside a model call, for back ends with a loop of their own: it is part of that model call's effect. */
  dispatch(call: ToolCall, io: ToolIo, index: number): Promise<ToolResult>;
}

/** Errors that end the step instead of going to the model. */
const ENDS_STEP: ReadonlySet<string> = new Set(['SKEIN_QUESTION', 'SKEIN_CANCELLED', 'SKEIN_SCRIPT']);

/**
 * Makes the runner of a step's tools. Whatever is wrong with a call (an unknown tool, input that is no JSON or does not match the
 * schema, an error that the tool throws) becomes an error result, so that the model can mend it.
 *
 * @example
 * const runner = toolRunner({ step, tools, stepTools: [], watch: () => undefined });
 * const result = await runner.call({ id: 'c1', name: 'grep', input: '{"pattern":"x"}' }, 1, 1);
 */
export function toolRunner(options: ToolRunnerOptions): ToolRunner {
  const tools = new Map(options.tools.map((tool) => [tool.name, tool]));
  const stepTools = new Map(options.stepTools.map((tool) => [tool.name, tool]));
  const names = [...tools.keys(), ...stepTools.keys()];

  async function run(call: ToolCall, name: string, execute: (tool: Tool, input: JsonObject) => Promise<string>) {
    const { step } = options;
    step.note({ kind: 'tool.started', id: call.id, tool: call.name, input: shownInput(call.input) });
    const result = await outcome(call, async () => {
      const tool = tools.get(call.name) ?? stepTools.get(call.name);
      if (tool === undefined) throw unknownTool(call.name, names);
      const input = readInput(call, tool.inputSchema);
      return 'run' in tool ? tool.run(input, `ask:${name}`) : execute(tool, input);
    });
    const status = result.isError ? 'error' : 'ok';
    step.note({ kind: 'tool.ended', id: call.id, tool: call.name, status, output: result.output });
    return result;
  }

  return {
    call: (call, turn, index) => {
      const name = `tool#${turn}.${index}`;
      return run(call, name, (tool, input) =>
        options.step.effect(
          name,
          (io) => {
            options.watch(io.signal);
            return tool.execute(input, io);
          },
          { effect: tool.effect },
        ),
      );
    },
    dispatch: (call, io, index) => run(call, `dispatch#${index}`, async (tool, input) => tool.execute(input, io)),
  };
}

async function outcome(call: ToolCall, body: () => Promise<string>): Promise<ToolResult> {
  try {
    const output: unknown = await body();
    return { id: call.id, name: call.name, output: cutResult(asText(output)), isError: false };
  } catch (error) {
    if (endsStep(error)) throw error;
    return { id: call.id, name: call.name, output: cutResult(errorText(error)), isError: true };
  }
}

function endsStep(error: unknown): boolean {
  if (SkeinError.isInstance(error)) return ENDS_STEP.has(error.code);
  return error instanceof Error && error.name === 'AbortError';
}

function errorText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const hint = SkeinError.isInstance(error) && error.hint !== undefined ? ` (${error.hint})` : '';
  return `Error: ${message}${hint}`;
}

function asText(output: unknown): string {
  return typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
}

function readInput(call: ToolCall, schema: JsonObject): JsonObject {
  const input = parseInput(call);
  const findings = schemaFindings(schema, input);
  if (findings.length === 0) return input;
  throw new SkeinError(
    'SKEIN_TOOL_FAILED',
    `the input of ${call.name} does not match its schema: ${findings.join('; ')}`,
  );
}

function parseInput(call: ToolCall): JsonObject {
  let value: unknown;
  try {
    value = call.input.trim() === '' ? {} : JSON.parse(call.input);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SkeinError('SKEIN_TOOL_FAILED', `the input of ${call.name} is no JSON: ${why}`);
  }
  if (!isPlainObject(value))
    throw new SkeinError('SKEIN_TOOL_FAILED', `the input of ${call.name} must be a JSON object`);
  return value as JsonObject;
}

function unknownTool(name: string, names: readonly string[]): SkeinError {
  const nearest = didYouMean(name, names);
  const known = names.length === 0 ? 'there are no tools' : `the tools are ${names.join(', ')}`;
  const hint = nearest === undefined ? known : `${nearest} ${known}`;
  return new SkeinError('SKEIN_TOOL_FAILED', `there is no tool "${name}"`, { hint });
}

function shownInput(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/**
 * A result of at most {@link LONGEST_RESULT} bytes; a longer one keeps its beginning and says how much is missing.
 */
export function cutResult(text: string): string {
  if (text.length * 3 <= LONGEST_RESULT) return text;
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= LONGEST_RESULT) return text;
  let end = LONGEST_RESULT;
  // A byte 10xxxxxx continues a character: go back to where it begins.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const note = `[cut: ${bytes.length} bytes in all, the first ${end} are shown]`;
  return `${bytes.subarray(0, end).toString('utf8')}\n\n${note}`;
}
