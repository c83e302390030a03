import { SkeinError } from '../base/errors.js';
import { digestText } from '../base/hash.js';
import { recordText } from '../base/json.js';
import { modelCaller } from '../agent/loop/model-caller.js';
import type { ModelSource } from '../agent/model.js';
import { agentSession } from '../agent/session.js';
import { noTools } from '../agent/tool.js';
import { Transcript } from '../agent/transcript.js';
import type { StepContext } from '../engine/ports/executor.js';
import type { Phase } from '../events/supervision.js';
import { phaseAgent } from '../plan/nodes.js';
import type { AgentNode } from '../plan/plan.js';
import type { PhasePrompt } from './prompts.js';

/** Where phases find their models. */
export interface PhaseModels {
  readonly models: ModelSource;
  /** What decided about the models of an agent in sessions whose results hold whatever decides now. */
  readonly formerModels?: ((agent: AgentNode) => readonly string[]) | undefined;
}

/** A model call of a phase. */
export interface PhaseCall extends PhasePrompt {
  readonly phase: Phase;
  /** `provider/model`, in place of the model of the step. */
  readonly model?: string | undefined;
}

/**
 * Asks the model of a step, or another one, and gives what it says. The call is an effect that has the name of the phase; it is tried again, and falls back to
 * other models, as calls of agents are.
 *
 * @throws SkeinError what models throw
 */
export async function askModel(
  { models, formerModels }: PhaseModels,
  step: StepContext,
  { phase, model, system, prompt }: PhaseCall,
): Promise<string> {
  const spec = phaseAgent(step.node, model);
  const session = agentSession({ models, tools: noTools, spec, step });
  const digestWith = (flags: string): string => digestText(recordText([spec.models, spec.provider ?? null, flags]));
  const opened = await step.effect(`${phase}.open`, (io) => session.open(io), {
    effect: 'read',
    identity: {
      digest: () => digestWith(models.identity?.() ?? ''),
      also: () => formerModels?.({ kind: 'agent', id: step.node.id, agent: spec, prompt: [] }).map(digestWith) ?? [],
    },
  });
  const transcript = new Transcript();
  transcript.begin(system, undefined, prompt);
  const ask = modelCaller(
    {
      step,
      spec,
      phase,
      opened,
      stepTools: [],
      transcript,
      use: (effect) => session.use(effect, opened),
      prices: models.prices,
      replayed: (call) => models.replayed?.(spec, call),
    },
    ({ name }) => Promise.reject(new SkeinError('SKEIN_TOOL_REFUSED', `supervision has no tool ${name}`)),
  );
  const { text } = await ask(1);
  return text;
}
