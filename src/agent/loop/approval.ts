import type { Question } from '../../engine/ports/durable.js';
import type { ToolCall } from '../model.js';
import type { JsonObject } from '../../base/json.js';
import { parseInput } from './tool-input.js';

const CHOICES = ['allow', 'deny'] as const;

/**
 * What a person is asked before a call that somebody must allow; the exact call is the evidence, so an answer counts for this call
 * alone. Undefined when the input is no JSON object: such a call does nothing but tell the model so.
 */
export function approvalQuestion(agent: string, call: ToolCall): Question | undefined {
  const input = inputOf(call);
  if (input === undefined) return undefined;
  return {
    text: `May the agent "${agent}" call ${call.name}?`,
    choices: CHOICES,
    schema: { enum: CHOICES },
    evidence: callEvidence(call),
  };
}

/** What a person sees of a call. An input that is no JSON object is shown as the model wrote it. */
export function callEvidence(call: ToolCall): unknown {
  return { tool: call.name, input: inputOf(call) ?? call.input };
}

/** Anything but a clear yes is a no. */
export function isAllowed(answer: string): boolean {
  return answer.trim() === 'allow';
}

/** The input of a call; undefined when it is no JSON object. */
export function inputOf(call: ToolCall): JsonObject | undefined {
  try {
    return parseInput(call);
  } catch {
    return undefined;
  }
}
