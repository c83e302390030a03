import { parseKey } from '../../base/address.js';
import type { Question } from '../../engine/ports/durable.js';
import type { ToolCall } from '../model.js';
import type { Json, JsonObject } from '../../base/json.js';
import { parseInput } from './tool-input.js';

/** The answers that a person can give about a call. */
export const CHOICES = ['allow', 'deny'] as const;

/** The question before a call that needs approval; the exact call is the evidence. Undefined if the input is not an object. */
export function approvalQuestion(who: string, call: ToolCall): Question | undefined {
  const input = inputOf(call);
  if (input === undefined) return undefined;
  return {
    text: `May ${who} call ${call.name}?`,
    choices: CHOICES,
    schema: { enum: CHOICES },
    evidence: callEvidence(call),
  };
}

/** What a person sees of a call. An input that is not a JSON object appears as the model wrote it. */
export function callEvidence(call: ToolCall): { readonly tool: string; readonly input: Json } {
  return { tool: call.name, input: inputOf(call) ?? call.input };
}

/** Any answer other than a clear yes means no. */
export function isAllowed(answer: string): boolean {
  return answer.trim() === 'allow';
}

/** The input of a call; undefined when it is not a JSON object. */
export function inputOf(call: ToolCall): JsonObject | undefined {
  try {
    return parseInput(call);
  } catch {
    return undefined;
  }
}

/** Whether a question is about a tool call of an agent: the engine asks it under a name of its own, and shows the call. */
export function isApproval({ choices = [], evidence }: Question, address: string): boolean {
  const { name = '' } = parseKey(address);
  const showsCall = typeof evidence === 'object' && evidence !== null && Object.hasOwn(evidence, 'tool');
  return /^(?:.*[.:])?approve#[\d.]+$/.test(name) && showsCall && choices.includes('allow');
}
