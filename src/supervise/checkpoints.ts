import { SkeinError, toErrorData } from '../base/errors.js';
import type { SupervisedAttempt, SupervisedTask } from '../engine/ports/supervision.js';
import type { StepContext } from '../engine/ports/executor.js';
import type { Assessment, Commitment } from '../plan/supervision.js';
import type { AsideModels } from '../agent/ask-aside.js';
import { askModel, commitPrompt, postPrompt } from './prompts.js';
import { isPlainObject, jsonIn, recordText } from '../base/json.js';

const NOTHING_DECLARED = { interpretation: '', scopeIn: [], scopeOut: [], approach: '', predictedOutput: '' };
const NOTHING_FOUND = { deviations: [], unexpected: [] };

/** Gets the commitment of a step. A model that fails, or whose answer is unreadable, commits to nothing, with low confidence. */
export async function declare(models: AsideModels, task: SupervisedTask, step: StepContext): Promise<Commitment> {
  const asked = { phase: 'commit', model: checkpointModel(task), ...commitPrompt(task) } as const;
  const answer = await saidIn(askModel(models, step, asked));
  if ('failed' in answer) {
    const assumptions = [`Failed to obtain commitment from agent: ${answer.failed}`];
    return { ...NOTHING_DECLARED, confidence: 'low', assumptions };
  }
  const said = objectIn(answer.text);
  if (said === undefined) return { ...NOTHING_DECLARED, confidence: 'low', assumptions: [] };
  return {
    interpretation: asText(said['interpretation']),
    scopeIn: asTexts(said['scope_in']),
    scopeOut: asTexts(said['scope_out']),
    approach: asText(said['approach']),
    predictedOutput: asText(said['predicted_output']),
    confidence: confidenceIn(said['confidence']),
    assumptions: asTexts(said['assumptions']),
  };
}

/** Gets the assessment of an attempt. An unreadable answer is not a sign of success. */
export async function assess(models: AsideModels, attempt: SupervisedAttempt, step: StepContext): Promise<Assessment> {
  const asked = { phase: 'post', model: checkpointModel(attempt), ...postPrompt(attempt) } as const;
  const answer = await saidIn(askModel(models, step, asked));
  if ('failed' in answer)
    return {
      ...NOTHING_FOUND,
      metCommitment: false,
      concerns: [`Failed to obtain self-assessment: ${answer.failed}`],
    };
  const said = objectIn(answer.text);
  if (said === undefined)
    return { ...NOTHING_FOUND, metCommitment: false, concerns: ['Self-assessment could not be read'] };
  const met = said['met_commitment'];
  return {
    metCommitment: met === true || asText(met).toLowerCase() === 'true',
    deviations: asTexts(said['deviations']),
    concerns: asTexts(said['concerns']),
    unexpected: asTexts(said['unexpected']),
  };
}

/** An agent uses its own model; other nodes use the checkpoint model, or that of the supervisor. */
function checkpointModel({ node, supervise }: SupervisedTask): string | undefined {
  return node.kind === 'agent' ? undefined : (supervise.checkpointModel ?? supervise.model);
}

function confidenceIn(value: unknown): Commitment['confidence'] {
  const word = asText(value).toLowerCase();
  return word === 'high' || word === 'low' ? word : 'medium';
}

/** A cancelled step does not count as a failure of the model. */
async function saidIn(asking: Promise<string>): Promise<{ readonly text: string } | { readonly failed: string }> {
  try {
    return { text: await asking };
  } catch (error) {
    if (SkeinError.isInstance(error) && error.code === 'SKEIN_CANCELLED') throw error;
    return { failed: toErrorData(error).message };
  }
}

/** Returns the object from the first `{` to the last `}` of a model's text. Other JSON may be quoted from the judged work. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from < 0 || to < from) return undefined;
  const value = jsonIn(text.slice(from, to + 1));
  return isPlainObject(value) ? value : undefined;
}

/** Converts a value to text; a missing one is empty. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return (typeof value === 'string' ? value : recordText(value)).trim();
}

/** Converts a value to a list of texts without empty ones: a model's answer counts even if it is not in a list, or not text. */
export function asTexts(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map(asText).filter((text) => text !== '');
}
