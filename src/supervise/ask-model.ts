import { askAside, openAside } from '../agent/ask-aside.js';
import type { AsideModels } from '../agent/ask-aside.js';
import type { StepContext } from '../engine/ports/executor.js';
import type { Phase } from '../events/supervision.js';
import { phaseAgent } from '../plan/nodes.js';
import type { PhasePrompt } from './prompts.js';

/** A model call of a phase. */
export interface PhaseCall extends PhasePrompt {
  readonly phase: Phase;
  /** `provider/model`, in place of the model of the step. */
  readonly model?: string | undefined;
}

/**
 * Asks the model of a step, or another one, and gives what it says. The call is an effect that has the name of the phase.
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
