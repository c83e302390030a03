import { SkeinError } from '../../base/errors.js';
import type { Cost, StepNote, Usage } from '../../events/event.js';
import { NO_USAGE } from '../../events/spending.js';
import type { Model, ModelPart, ModelRequest, ModelTurn, ToolCall } from '../model.js';

export interface Heard {
  /** Whether any part of the answer has arrived: the provider may bill the call. */
  begun: boolean;
  usage?: Usage | undefined;
  /** The amount that the provider reports as billed. */
  cost?: Cost | undefined;
}

/**
 * Drains one model call. Text goes to `note` as it arrives; the whole turn is the result.
 *
 * @throws SkeinError `SKEIN_NETWORK` if the stream ends without a `finish`, `SKEIN_MODEL_FAILED` if the model gave up or does not stop.
 */
export async function takeTurn(
  model: Model,
  request: ModelRequest,
  note: (note: StepNote) => void,
  heard: Heard,
): Promise<ModelTurn> {
  let text = '';
  const toolCalls: ToolCall[] = [];
  let searched = false;
  let size = 0;
  for await (const part of model.stream(request)) {
    heard.begun = true;
    size += sizeOf(part);
    if (size > MOST_CHARACTERS) throw tooLong(model.id);
    switch (part.type) {
      case 'begun':
        break;
      case 'text':
        text += part.text;
        note({ kind: 'model.delta', text: part.text });
        break;
      case 'reasoning':
        break;
      case 'tool-call':
        toolCalls.push(part.call);
        break;
      case 'searched':
        searched = true;
        break;
      case 'warning':
        note({ kind: 'warning', code: 'setting-ignored', message: `${model.id}: ${part.message}` });
        break;
      case 'finish':
        heard.usage = part.usage;
        heard.cost = part.cost;
        if (part.reason === 'error') throw gaveUp(model.id);
        return {
          model: model.id,
          text,
          toolCalls,
          reason: part.reason,
          usage: part.usage ?? NO_USAGE,
          ...(searched ? { searched } : {}),
        };
    }
  }
  throw new SkeinError('SKEIN_NETWORK', `${model.id}: the answer ended before it was finished`, { retryable: true });
}

/** Far more than any model answers: only one that does not stop gets there. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
/** What a tool call takes besides its input. */
const OF_CALL = 256;

function sizeOf(part: ModelPart): number {
  if (part.type === 'tool-call') return OF_CALL + part.call.id.length + part.call.name.length + part.call.input.length;
  return part.type === 'text' ? part.text.length : 0;
}

function tooLong(model: string): SkeinError {
  const message = `${model}: the answer has more than ${MOST_CHARACTERS / 1024 / 1024} Mi characters`;
  return new SkeinError('SKEIN_MODEL_FAILED', message, { retryable: false });
}

function gaveUp(model: string): SkeinError {
  return new SkeinError('SKEIN_MODEL_FAILED', `${model}: the model stopped with an error`, { retryable: true });
}
