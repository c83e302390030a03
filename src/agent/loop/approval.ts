import { parseKey } from '../../base/address.js';
import type { Question } from '../../engine/ports/durable.js';
import type { ToolCall } from '../model.js';
import type { Json, JsonObject } from '../../base/json.js';
import { parseInput } from './tool-input.js';

/** What a person may say to a call. */
export const CHOICES = ['allow', 'deny'] as const;

/**
 * What a person is asked before a call that somebody must allow; the exact call is the evidence, so an answer counts for this call
 * alone. Undefined when the input is not a JSON object: such a call does nothing but tell the model so.
 */
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

/** What a person sees of a call. An input that is not a JSON object is shown as the model wrote it. */
export function callEvidence(call: ToolCall): { readonly tool: string; readonly input: Json } {
  return { tool: call.name, input: inputOf(call) ?? call.input };
}

/** Anything but a clear yes is a no. */
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

/**
 * Whether a question is about a tool call that an agent wants to make: the engine asks it under a name of its own, and shows the call. What an
 * agent or a workflow asks has neither, whatever its words are.
 *
 * @example
 * isApproval(question, 'note@ask:approve#1.1'); // true
 */
export function isApproval({ choices = [], evidence }: Question, address: string): boolean {
  const { name = '' } = parseKey(address);
  const showsCall = typeof evidence === 'object' && evidence !== null && Object.hasOwn(evidence, 'tool');
  return /^(?:.*[.:])?approve#[\d.]+$/.test(name) && showsCall && choices.includes('allow');
}
