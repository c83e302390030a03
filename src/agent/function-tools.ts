import { present, type JsonObject } from '../base/json.js';
import { SkeinError } from '../base/errors.js';
import { digestText } from '../base/hash.js';
import { madeOnce } from '../base/collections.js';
import type { StepContext } from '../engine/ports/executor.js';
import { answerNote } from '../events/question.js';
import type { AgentSpec, FunctionTool } from '../plan/agent-spec.js';
import type { TaskQuestion } from '../plan/builder-input.js';
import { sourceText, stateOfTool, mustApprove } from '../plan/made-of.js';
import { PLACE } from '../plan/tool-use.js';
import { probeOf, probedOf, type LostCall, type Probed } from '../plan/probe.js';
import { asQuestion, questionName } from '../plan/task-question.js';
import { resultText } from './result-text.js';
import type { CallIo, Tool, ToolIo } from './tool.js';

/** What a function tool receives in addition to its input. */
export interface FunctionToolIo extends ToolIo {
  /** Emits an event to listeners; the event is not recorded. */
  emit(event: JsonObject): void;
  ask(question: TaskQuestion, name?: string): Promise<unknown>;
  /** The state that the agent's node sees, read-only. */
  readonly state: Readonly<Record<string, unknown>>;
  /** Options for a run that the tool starts, such as that of another agent; that run uses the models of this run. */
  readonly runOptions: object;
  readonly [PLACE]: string;
}

/** A function used as a tool. The model receives results other than text as JSON. */
type ToolFunction = (input: JsonObject, io: FunctionToolIo) => unknown;

interface Around {
  /** Returns the options for tools that start runs of their own. */
  readonly runOptions?: ToolRunOptions | undefined;
}

/** Returns the options for runs that a call of a tool starts; the call receives what influenced their results, and what they wrote. */
export type ToolRunOptions = (call: CallIo) => object;

export function functionTools(spec: AgentSpec, step: StepContext, around: Around): readonly Tool[] {
  return (spec.functions ?? []).map((tool) => toolOf(tool, step, around));
}

/** Digests of the sources of functions. */
const CODES = new WeakMap<ToolFunction, string>();

function toolOf(tool: FunctionTool, step: StepContext, { runOptions = () => ({}) }: Around): Tool {
  const { name, description, input, effect, trust = 'untrusted', approve, coerce, probe } = tool;
  const call = step.tools[name] as ToolFunction | undefined;
  if (call === undefined) throw new SkeinError('SKEIN_NO_BINDING', `the tool "${name}" has no function`);
  const emit = (event: JsonObject): void => step.note({ kind: 'event', event });
  const textOf = (result: unknown): string =>
    resultText(result, name, (message) => step.note({ kind: 'warning', code: 'tool-result', message }));
  return {
    name,
    description,
    inputSchema: input as JsonObject,
    effect,
    trust,
    ...present({ approve, coerce }),
    ...(approve === 'code' ? { mustApprove: (given) => mustApprove(call, given) } : {}),
    code: madeOnce(CODES, call, () => digestText(sourceText(call))),
    ...(probe !== true ? {} : { probe: async (given, lost) => probedText(call, given, lost, textOf) }),
    // The tool runner of an agent supplies all members of CallIo.
    execute: async (given, io: CallIo) => {
      const { signal, idempotencyKey } = io;
      const getState = (): CallIo['state'] => stateOfTool(call, io.state);
      const ask = askOf(io, step);
      const result = await call(given, {
        signal,
        idempotencyKey,
        [PLACE]: io.place,
        emit,
        ask,
        // A run that the tool starts ends with the call.
        runOptions: { ...runOptions(io), signal },
        get state() {
          return getState();
        },
      });
      return textOf(result);
    },
  };
}

async function probedText(
  call: ToolFunction,
  given: JsonObject,
  lost: LostCall,
  textOf: (result: unknown) => string,
): Promise<Probed<string>> {
  const found = probedOf(await probeOf(call)?.(given, lost));
  if (found?.done !== true || found.result === undefined) return found as Probed<string>;
  return { done: true, result: textOf(found.result) };
}

/** Questions without a name get a number. */
function askOf(io: CallIo, step: StepContext): FunctionToolIo['ask'] {
  let asked = 0;
  return async (question, name) => {
    asked += 1;
    const answer = await io.ask(questionName(name, String(asked)), asQuestion(question));
    step.note(answerNote(answer));
    return answer;
  };
}
