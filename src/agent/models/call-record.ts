import { canonicalHash } from '../../base/hash.js';
import type { Json } from '../../base/json.js';
import { MARK_PATTERN } from '../system-prompt.js';
import type { Message, ModelRequest } from '../model.js';

/** A request in the form that recordings compare: ids, times and marks that differ from run to run are taken out. */
export interface NormalCall {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly Json[];
  readonly output: Json;
  readonly settings: Json;
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)/g;

/** A request as it is recorded and compared. */
export function normalCall(model: string, request: ModelRequest): NormalCall {
  return {
    model,
    messages: normalMessages(request.messages),
    tools: request.tools.map((tool) => ({ name: tool.name, inputSchema: tool.inputSchema })),
    output: request.output?.schema ?? null,
    settings: { ...request.settings },
  };
}

/** A conversation without what differs from run to run. */
export function normalMessages(messages: readonly Message[]): readonly Message[] {
  const ids = new Map<string, string>();
  const id = (given: string): string => {
    const known = ids.get(given) ?? `call_${ids.size + 1}`;
    ids.set(given, known);
    return known;
  };
  return messages.map((message) => normalMessage(message, id));
}

/** The key of a call: equal for equal calls, whatever the run. */
export function callKey(call: NormalCall): string {
  return canonicalHash(call);
}

/** Text without what differs from run to run. */
export function normalText(text: string): string {
  return text.replaceAll(TIME, '<time>').replaceAll(MARK_PATTERN, 'skill-<mark>');
}

function normalMessage(message: Message, id: (given: string) => string): Message {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, text: normalText(message.text) };
    case 'assistant':
      return {
        role: 'assistant',
        text: normalText(message.text),
        toolCalls: message.toolCalls.map((call) => ({
          id: id(call.id),
          name: call.name,
          input: normalText(call.input),
        })),
      };
    case 'tool':
      return {
        role: 'tool',
        results: message.results.map((result) => ({ ...result, id: id(result.id), output: normalText(result.output) })),
      };
  }
}
