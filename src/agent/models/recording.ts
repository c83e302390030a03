import { NO_USAGE } from '../../events/spending.js';
import { present } from '../../base/json.js';
import type { Model, ModelPart, ModelTurn, ToolCall } from '../model.js';
import { callKey, normalCall, type NormalCall } from './call-record.js';
import { createRedactor } from '../../secrets/redact.js';
import { replaceTextFile } from '../text-files.js';

/** One recorded call: the request, its caller, and the answer. */
export interface RecordedCall {
  readonly key: string;
  /** Whether the schema of the answer went to the provider and not into the instructions. */
  readonly structuredOutput: boolean;
  readonly caller: { readonly path: string; readonly agent: string; readonly turn: number };
  readonly call: NormalCall;
  readonly answer: Omit<ModelTurn, 'raw'>;
}

/** First line of a recording. `missing`: how many calls of the run were answered from its journal, and are not included. */
export const RECORDING_HEADER = { skein: 'recording', format: 1 } as const;

/** With this each recording begins. */
export const startOfRecording = JSON.stringify(RECORDING_HEADER).slice(0, -1);

/** Records all calls of a run and writes them when it ends. */
export interface Recorder {
  wrap(model: Model): Model;
  /** Counts a call that was answered from the journal of the run: the recording lacks it, and says so, because its request is unknown. */
  skip(): void;
  /** Writes the whole file, or nothing. */
  finish(): Promise<void>;
}

/**
 * Records completed calls, in JSON lines: a header, then one line for each call in the order in which they ended. Leaves out failed calls,
 * and the provider's keys, times and ids. Hides `secrets` and texts that look like keys: calls are compared by digest.
 */
export function createRecorder(path: string, secrets: () => readonly string[]): Recorder {
  const calls: RecordedCall[] = [];
  let missing = 0;
  return {
    skip: () => {
      missing += 1;
    },
    wrap: (model) => ({
      ...model,
      stream: (request) => recordStream(model, request, calls),
    }),
    async finish() {
      const header = missing === 0 ? RECORDING_HEADER : { ...RECORDING_HEADER, missing };
      const redactor = createRedactor(secrets());
      const lines = [header, ...calls].map((line) => redactor.json(line));
      await replaceTextFile(path, `${lines.join('\n')}\n`, `${process.pid}`, 'recording');
    },
  };
}

async function* recordStream(
  model: Model,
  request: Parameters<Model['stream']>[0],
  calls: RecordedCall[],
): AsyncGenerator<ModelPart> {
  let text = '';
  const toolCalls: ToolCall[] = [];
  let searched: true | undefined;
  for await (const part of model.stream(request)) {
    if (part.type === 'text') text += part.text;
    if (part.type === 'searched') searched = true;
    if (part.type === 'tool-call') {
      const { name, input } = part.call;
      toolCalls.push({ id: `call_${toolCalls.length + 1}`, name, input });
    }
    if (part.type === 'finish') {
      const call = normalCall(model.id, request);
      const { path, agent, turn } = request.caller;
      const { reason, usage = NO_USAGE, cost } = part;
      const answer = { model: model.id, text, toolCalls, reason, usage, ...present({ cost, searched }) };
      const structuredOutput = model.structuredOutput === true;
      calls.push({ key: callKey(call), structuredOutput, caller: { path, agent, turn }, call, answer });
    }
    yield part;
  }
}
