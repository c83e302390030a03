import type { SupervisedAttempt, SupervisedTask } from '../engine/ports/supervision.js';
import { cutMiddle, markedText, type Material } from '../lang/xml-block.js';
import { valueText } from '../lang/value-text.js';
import type { PlanNode } from '../plan/plan.js';
import type { Assessment, Commitment } from '../plan/supervision.js';
import { askAside, openAside, type AsideModels } from '../agent/ask-aside.js';
import type { StepContext } from '../engine/ports/executor.js';
import type { Phase } from '../events/supervision.js';
import { phaseAgent } from '../plan/nodes.js';

export interface PhasePrompt {
  readonly system: string;
  readonly prompt: string;
}

export function kindOf({ kind, role }: PlanNode): string {
  return role ?? kind;
}

export function commitPrompt({ node, goal }: SupervisedTask): PhasePrompt {
  const kind = kindOf(node);
  return {
    system:
      'You are about to carry out a task. First declare what you intend to do. Be specific and honest: your declaration is compared with what you deliver. Answer with JSON and nothing else.',
    prompt: `Before executing this ${kind}, declare your intent. Do not carry it out yet.

${kind.toUpperCase()}: ${goal}

Answer with JSON of this form:
{
  "interpretation": "what you understand the task to be",
  "scope_in": ["what belongs to it"],
  "scope_out": ["what you will leave alone"],
  "approach": "how you will do it",
  "predicted_output": "what the result will look like",
  "confidence": "high, medium or low",
  "assumptions": ["what you take for granted"]
}`,
  };
}

/** The prompt for the step's assessment of its work. */
export function postPrompt(attempt: SupervisedAttempt): PhasePrompt {
  return {
    system:
      'You have carried out a task. Compare what was delivered with what was declared before. Be honest: name every difference, also those that you think are improvements. Answer with JSON and nothing else.',
    prompt: `${markedText([
      { title: 'ORIGINAL INSTRUCTION', text: askedOf(attempt) },
      { title: 'DECLARED COMMITMENT', text: commitmentText(attempt.commitment) },
      { title: 'ACTUAL OUTPUT', text: outputText(attempt) },
    ])}

Answer with JSON of this form; leave a list empty when there is nothing to say:
{
  "met_commitment": true,
  "deviations": ["what was done differently than declared"],
  "concerns": ["what may be wrong with the result"],
  "unexpected": ["what came as a surprise"]
}`,
  };
}

export function supervisePrompt(
  attempt: SupervisedAttempt,
  assessment: Assessment,
  triggers: readonly string[],
): PhasePrompt {
  const materials: readonly Material[] = [
    { title: 'ORIGINAL GOAL', text: askedOf(attempt) },
    { title: 'INTENT (COMMIT)', text: commitmentText(attempt.commitment) },
    { title: 'SELF-ASSESSMENT (POST)', text: assessmentText(assessment) },
    { title: 'DRIFT TRIGGERS', text: triggers.map((trigger) => `- ${trigger}`).join('\n') },
    { title: 'ACTUAL OUTPUT', text: outputText(attempt) },
  ];
  return {
    system:
      'You supervise work that others do. Judge the drift between what was said and what was done, not whether the result is correct. Answer with JSON and nothing else.',
    prompt: `${markedText(materials.filter(({ text }) => text !== ''))}

Choose one verdict:
- continue: the work is within what was declared, or the difference does no harm
- reorient: it should be done again; say in "correction" what must be different
- ask_human: a person has to decide; say in "question" what
- halt: it must not go on; say in "reason" why

Answer with JSON of this form:
{
  "verdict": "continue, reorient, ask_human or halt",
  "correction": "",
  "question": "",
  "reason": "why"
}`,
  };
}

/** The goal, and for a later attempt the correction that it was given. */
function askedOf({ goal, correction }: SupervisedAttempt): string {
  return correction === undefined ? goal : `${goal}\n\n${correction}`;
}

function commitmentText(commitment: Commitment): string {
  const { interpretation, scopeIn, scopeOut, approach, predictedOutput, confidence, assumptions } = commitment;
  return bullets([
    ['Interpretation', interpretation],
    ['In bounds', scopeIn.join(', ')],
    ['Out of bounds', scopeOut.join(', ')],
    ['Approach', approach],
    ['Predicted output', predictedOutput],
    ['Confidence', confidence],
    ['Assumptions', assumptions.join('; ')],
  ]);
}

function assessmentText({ metCommitment, deviations, concerns, unexpected }: Assessment): string {
  return bullets([
    ['Met commitment', metCommitment ? 'yes' : 'no'],
    ['Deviations', deviations.join('; ')],
    ['Concerns', concerns.join('; ')],
    ['Unexpected', unexpected.join('; ')],
  ]);
}

function bullets(lines: readonly (readonly [string, string])[]): string {
  return lines.map(([name, text]) => `- ${name}: ${text}`).join('\n');
}

function outputText({ output }: SupervisedAttempt): string {
  return cutMiddle(output === null ? '' : valueText(output));
}

export interface PhaseCall extends PhasePrompt {
  readonly phase: Phase;
  readonly model?: string | undefined;
}

/**
 * Calls the model of a step, or another one, and returns its text. The call is an effect with the name of the phase.
 *
 * @throws SkeinError what models throw
 */
export async function askModel(
  models: AsideModels,
  step: StepContext,
  { phase, model, system, prompt }: PhaseCall,
): Promise<string> {
  const aside = await openAside(models, step, { spec: phaseAgent(step.node, model), name: `${phase}.open` });
  return await askAside(aside, { phase, system, prompt });
}
