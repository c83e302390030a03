import { NO_USAGE } from '../../events/spending.js';
import { present } from '../../base/json.js';
import type { Model, ModelPart, ModelTurn, ToolCall } from '../model.js';
import type { NormalCall } from './call-record.js';
import { callKey, normalCall } from './call-record.js';
import { createRedactor } from '../../secrets/redact.js';
import { replaceTextFile } from '../text-files.js';

/** One recorded call: what was asked, by whom, and the answer. */
export interface RecordedCall {
  readonly key: string;
  /** The schema of the answer went to the provider, not into the instructions. */
  readonly structuredOutput: boolean;
  readonly caller: { readonly path: string; readonly agent: string; readonly turn: number };
  readonly call: NormalCall;
  readonly answer: Omit<ModelTurn, 'raw'>;
}

/** First line of a recording. `missing`: so many calls of the run were answered from its journal, and are not in here. */
export const RECORDING_HEADER = { skein: 'recording', format: 1 } as const;

/** Records all calls of a run and writes them at its end. */
export interface Recorder {
  wrap(model: Model): Model;
  /** A call was answered from the journal of the run: what was sent then is not known any more, so the recording lacks it, and says so. */
  skip(): void;
  /** Writes the file, whole or not at all. */
  finish(): Promise<void>;
}

/**
 * Records finished calls, in JSON lines: a header, then one line for each call in the order in which they ended.
 * Calls that failed are not recorded; neither are keys, times or ids of the provider. `secrets` and what looks like a key are hidden: what is compared of a call is its digest.
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
  for await (const part of model.stream(request)) {
    if (part.type === 'text') text += part.text;
    if (part.type === 'tool-call') {
      const { name, input } = part.call;
      toolCalls.push({ id: `call_${toolCalls.length + 1}`, name, input });
    }
    if (part.type === 'finish') {
      const call = normalCall(model.id, request);
      const { path, agent, turn } = request.caller;
      const { reason, usage = NO_USAGE, cost } = part;
      const answer = { model: model.id, text, toolCalls, reason, usage, ...present({ cost }) };
      const structuredOutput = model.structuredOutput === true;
      calls.push({ key: callKey(call), structuredOutput, caller: { path, agent, turn }, call, answer });
    }
    yield part;
  }
}
