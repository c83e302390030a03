import { SkeinError, toErrorData } from '../base/errors.js';
import type { SupervisedAttempt, SupervisedTask } from '../engine/ports/supervision.js';
import type { StepContext } from '../engine/ports/executor.js';
import type { Assessment, Commitment } from '../plan/supervision.js';
import type { AsideModels } from '../agent/ask-aside.js';
import { askModel, commitPrompt, postPrompt } from './prompts.js';
import { isPlainObject, recordText } from '../base/json.js';

const NOTHING_DECLARED = { interpretation: '', scopeIn: [], scopeOut: [], approach: '', predictedOutput: '' };
const NOTHING_FOUND = { deviations: [], unexpected: [] };

/** Has a step say what it promises. A model that fails, or says nothing that can be read, promises nothing with low confidence. */
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

/** Has a step say how an attempt went. What can't be read is no sign that all is well. */
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

/** An agent answers for itself; where nothing else has a model, the one for it does, or that of the supervisor. */
function checkpointModel({ node, supervise }: SupervisedTask): string | undefined {
  return node.kind === 'agent' ? undefined : (supervise.checkpointModel ?? supervise.model);
}

function confidenceIn(value: unknown): Commitment['confidence'] {
  const word = asText(value).toLowerCase();
  return word === 'high' || word === 'low' ? word : 'medium';
}

/** A step that is over is not a model that failed. */
async function saidIn(asking: Promise<string>): Promise<{ readonly text: string } | { readonly failed: string }> {
  try {
    return { text: await asking };
  } catch (error) {
    if (SkeinError.isInstance(error) && error.code === 'SKEIN_CANCELLED') throw error;
    return { failed: toErrorData(error).message };
  }
}

/**
 * The JSON object in what a model says: from the first `{` to the last `}`. Undefined when there is none. JSON is not looked for in any other way: it may
 * be quoted from the work that is judged.
 */
export function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from < 0 || to < from) return undefined;
  try {
    const value = JSON.parse(text.slice(from, to + 1)) as unknown;
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A value as a text; what is missing is empty. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return (typeof value === 'string' ? value : recordText(value)).trim();
}

/** A value as a list of texts without empty ones: nothing that a model says is lost because it is not in a list, or not a text. */
export function asTexts(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map(asText).filter((text) => text !== '');
}
