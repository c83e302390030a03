import type { AgentSpec } from '../plan/agent-spec.js';
import type { Message, Model, ModelRequest } from './model.js';

/** Finds the models of an agent. Implemented by the model registry. */
export interface ModelSource {
  /**
   * The models to try, in order; at least one. Nothing is loaded yet.
   *
   * @throws SkeinError `SKEIN_NO_MODEL` when there is none.
   */
  resolve(spec: AgentSpec, caller: { readonly path: string; readonly agent: string }): Promise<readonly Model[]>;
  /** What decides about the models apart from the agent, such as flags. With another text, a recorded choice does not count. */
  identity?(): string;
  /** A call was answered from the record of the run: sources that count calls count it. Must not throw. */
  replayed?(spec: AgentSpec, call: ReplayedCall): void;
}

/** A model call that was answered from the record of the run. */
export interface ReplayedCall {
  /** Name of the model, as it is recorded. */
  readonly model: string;
  readonly caller: ModelRequest['caller'];
  /** The conversation that was sent. */
  messages(): readonly Message[];
}
