import { SkeinError } from '../../base/errors.js';
import type { Cost, StepNote, Usage } from '../../events/event.js';
import { NO_USAGE } from '../../events/spending.js';
import type { Model, ModelRequest, ModelTurn, ToolCall } from '../model.js';

/** What is known about a call so far. */
export interface Heard {
  /** Whether any part of the answer has arrived: the provider may bill the call. */
  begun: boolean;
  /** The provider's token counts. */
  usage?: Usage | undefined;
  /** The amount that the provider reports as billed. */
  cost?: Cost | undefined;
}

/**
 * Drains one model call. Text goes to `note` as it arrives; the whole turn is the result.
 *
 * @throws SkeinError `SKEIN_NETWORK` if the stream ends without a `finish`, `SKEIN_MODEL_FAILED` if the model gave up.
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
  for await (const part of model.stream(request)) {
    heard.begun = true;
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

function gaveUp(model: string): SkeinError {
  return new SkeinError('SKEIN_MODEL_FAILED', `${model}: the model stopped with an error`, { retryable: true });
}
