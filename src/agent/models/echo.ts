import { withoutOutputs } from '../../lang/outputs-block.js';
import type { Message, Model, ModelPart } from '../model.js';

/** Rough count of tokens: four characters each. */
export function roughTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** The text of the last thing that a person said. */
export function lastUserText(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === 'user');
  return last?.role === 'user' ? last.text : '';
}

/** What a model that makes nothing up answers: without the block of outputs, which would double the text with each step that repeats it. */
export function echoOf(messages: readonly Message[]): string {
  return withoutOutputs(lastUserText(messages));
}

/**
 * A model that answers with the last user text, without the block of outputs above it. It costs nothing and needs nothing.
 *
 * @example
 * const model = echoModel(); // id 'mock/echo'
 */
export function echoModel(id = 'mock/echo'): Model {
  return {
    id,
    structuredOutput: true,
    async *stream(request): AsyncGenerator<ModelPart> {
      request.signal.throwIfAborted();
      const asked = lastUserText(request.messages);
      const text = echoOf(request.messages);
      yield { type: 'text', text };
      const usage = { inputTokens: roughTokens(asked), outputTokens: roughTokens(text) };
      yield { type: 'finish', reason: 'stop', usage };
    },
  };
}
