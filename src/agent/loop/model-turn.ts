import { SkeinError } from '../../base/errors.js';
import type { StepNote } from '../../events/event.js';
import type { Model, ModelRequest, ModelTurn, ToolCall } from '../model.js';

/**
 * Drains one call of a model. Text is told to `note` as it arrives; the whole is the result.
 *
 * @throws SkeinError `SKEIN_NETWORK` when the stream ends without a `finish`, `SKEIN_MODEL_FAILED` when the model gave up.
 */
export async function takeTurn(
  model: Model,
  request: ModelRequest,
  note: (note: StepNote) => void,
): Promise<ModelTurn> {
  let text = '';
  const toolCalls: ToolCall[] = [];
  for await (const part of model.stream(request)) {
    switch (part.type) {
      case 'text':
        text += part.text;
        note({ kind: 'model.delta', text: part.text });
        break;
      case 'reasoning':
        break;
      case 'tool-call':
        toolCalls.push(part.call);
        break;
      case 'warning':
        note({ kind: 'warning', code: 'setting-ignored', message: `${model.id}: ${part.message}` });
        break;
      case 'finish':
        if (part.reason === 'error') throw gaveUp(model.id);
        return { model: model.id, text, toolCalls, reason: part.reason, usage: part.usage };
    }
  }
  throw new SkeinError('SKEIN_NETWORK', `${model.id}: the answer ended before it was finished`, { retryable: true });
}

function gaveUp(model: string): SkeinError {
  return new SkeinError('SKEIN_MODEL_FAILED', `${model}: the model stopped with an error`, { retryable: true });
}
