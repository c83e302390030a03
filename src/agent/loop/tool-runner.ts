import { SkeinError } from '../../base/errors.js';
import type { Json, JsonObject } from '../../base/json.js';
import { didYouMean } from '../../base/suggest.js';
import type { Question, StepIo } from '../../engine/ports/durable.js';
import type { StepContext } from '../../engine/ports/executor.js';
import { askPerson } from '../ask-user.js';
import type { ToolCall, ToolResult } from '../model.js';
import type { OpenParts, OpenedTool } from '../session.js';
import type { Permissions } from '../../plan/agent-spec.js';
import { callEvidence } from './approval.js';
import type { Answer } from './gate.js';
import { createGate } from './gate.js';
import { callDigest } from './identities.js';
import type { Tool } from '../tool.js';
import type { StepTool } from './step-tool.js';
import { readInput } from './tool-input.js';

/** Longest result of a tool that a model is given, in bytes of UTF-8. */
export const LONGEST_RESULT = 64 * 1024;

/** What runs the tool calls of one step. */
export interface ToolRunnerOptions {
  readonly step: StepContext;
  readonly agent: string;
  /** As they are recorded. */
  readonly tools: readonly OpenedTool[];
  readonly stepTools: readonly StepTool[];
  /** Tools whose calls a person must allow, by the name that the model sees; `*`: all but those of the step itself. */
  readonly approve: readonly string[];
  /** Absent: `approve` alone decides. */
  readonly permissions?: Permissions | undefined;
  /** The working directory when the step began, for rules about paths. */
  readonly cwd?: string | undefined;
  /** What is open, for calls that really run. */
  use(signal: AbortSignal): Promise<OpenParts>;
}

/** Runs tool calls. Never rejects for what a tool does; only for what ends the step. */
export interface ToolRunner {
  /** A call of the loop: an effect of its own, `tool#TURN.INDEX`. */
  call(call: ToolCall, turn: number, index: number): Promise<ToolResult>;
  /** A call from inside a model call, for back ends with a loop of their own: it is part of that model call's effect. */
  dispatch(call: ToolCall, io: StepIo, index: number): Promise<ToolResult>;
}

/** Errors that end the step instead of going to the model. */
const ENDS_STEP: ReadonlySet<string> = new Set(['SKEIN_QUESTION', 'SKEIN_CANCELLED', 'SKEIN_SCRIPT']);

/** What a model is told of a `once` call of which only a person knows how it ended. */
const LOST: Answer = {
  output: [
    'This call was made, and then the run was interrupted before the result could be recorded.',
    'A person says that it was done. Its result is not known; do not make the same call again.',
  ].join(' '),
  isError: false,
};

/**
 * Makes the runner of a step's tools. Whatever is wrong with a call (an unknown tool, input that is no JSON or does not match the
 * schema, an error that the tool throws) becomes an error result, so that the model can mend it.
 *
 * @example
 * const runner = toolRunner({ step, agent: 'reviewer', tools, stepTools: [], approve: [], use });
 * const result = await runner.call({ id: 'c1', name: 'grep', input: '{"pattern":"x"}' }, 1, 1);
 */
export function toolRunner(options: ToolRunnerOptions): ToolRunner {
  const { step } = options;
  const recorded = new Map(options.tools.map((tool) => [tool.name, tool]));
  const stepTools = new Map(options.stepTools.map((tool) => [tool.name, tool]));
  const gate = createGate({ ...options, recorded, stepTools });

  function prepared(call: ToolCall, tools: ReadonlyMap<string, Tool>): { tool: Tool; input: JsonObject } {
    const tool = tools.get(call.name);
    if (tool === undefined) throw unknownTool(call.name, [...stepTools.keys(), ...tools.keys()]);
    if (!gate.isForeseen(call, tool)) throw notForeseen(call.name);
    return { tool, input: readInput(call, tool) };
  }
  async function runTool(call: ToolCall, io: StepIo): Promise<Answer> {
    const { tools } = await options.use(io.signal);
    return answerOf(async () => {
      const { tool, input } = prepared(call, tools);
      return tool.execute(input, io);
    }, io);
  }
  /** What is wrong with a call before anything of it is done. */
  async function faultOf(call: ToolCall, io?: StepIo): Promise<Answer | undefined> {
    const own = stepTools.get(call.name);
    const tools = own !== undefined || io === undefined ? undefined : (await options.use(io.signal)).tools;
    const checked = await answerOf(async () => {
      if (own !== undefined) readInput(call, own);
      else if (tools !== undefined) prepared(call, tools);
      return '';
    }, io);
    return checked.isError ? checked : undefined;
  }
  /** The tools may have to be opened for it, so it is an effect: a replay knows what it found. */
  async function faultBetweenTurns(call: ToolCall, at: string): Promise<Answer | undefined> {
    if (stepTools.has(call.name)) return faultOf(call);
    const found = await step.effect(`check#${at}`, async (io) => (await faultOf(call, io)) ?? null, {
      effect: 'read',
      identity: { digest: () => callDigest(call, recorded.get(call.name)?.code) },
    });
    return found ?? undefined;
  }
  function effect(call: ToolCall, name: string): Promise<Answer> {
    // Of a tool that was not there when the step began nothing is known: it is treated as the worst kind.
    const kind = recorded.get(call.name)?.effect ?? 'once';
    return step.effect(name, (io) => runTool(call, io), {
      effect: kind,
      identity: { digest: () => callDigest(call, recorded.get(call.name)?.code) },
      ...(kind === 'once' ? { lostValue: LOST, evidence: callEvidence(call) } : {}),
    });
  }

  return {
    call: (call, turn, index) =>
      told(step, call, async () => {
        const at = `${turn}.${index}`;
        const ask = (what: string) => (question: Question) =>
          askPerson(step, question, (asked) => step.ask(`ask:${what}#${at}`, asked));
        const fault = (): Promise<Answer | undefined> => faultBetweenTurns(call, at);
        const refused = await gate.refusal(call, { fault, ask: ask('approve') });
        if (refused !== undefined) return refused;
        const own = stepTools.get(call.name);
        if (own === undefined) return effect(call, `tool#${at}`);
        return answerOf(async () => own.run(readInput(call, own), ask('tool')));
      }),
    dispatch: (call, io, index) =>
      told(step, call, async () => {
        const ask = (what: string) => (question: Question) =>
          askPerson(step, question, (asked) => io.ask(`${what}#${index}`, asked));
        const refused = await gate.refusal(call, { fault: () => faultOf(call, io), ask: ask('approve') });
        if (refused !== undefined) return refused;
        const own = stepTools.get(call.name);
        if (own === undefined) return runTool(call, io);
        return answerOf(async () => {
          if (own.onlyBetweenTurns !== undefined) throw new SkeinError('SKEIN_TOOL_REFUSED', own.onlyBetweenTurns);
          return own.run(readInput(call, own), ask('tool'));
        }, io);
      }),
  };
}

async function told(step: StepContext, call: ToolCall, run: () => Promise<Answer>): Promise<ToolResult> {
  step.note({ kind: 'tool.started', id: call.id, tool: call.name, input: shownInput(call.input) });
  const { output, isError } = await run();
  step.note({ kind: 'tool.ended', id: call.id, tool: call.name, status: isError ? 'error' : 'ok', output });
  return { id: call.id, name: call.name, output, isError };
}

async function answerOf(body: () => Promise<unknown>, io?: StepIo): Promise<Answer> {
  try {
    return { output: cutResult(asText(await body())), isError: false };
  } catch (error) {
    if (endsStep(error) || io?.signal.aborted === true) throw error;
    return { output: cutResult(errorText(error)), isError: true };
  }
}

function notForeseen(name: string): SkeinError {
  const why = 'a person must allow it, and it was not there when the step began';
  return new SkeinError('SKEIN_TOOL_REFUSED', `${name} can't be called: ${why}`);
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
