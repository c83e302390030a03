import type { JsonObject } from '../../base/json.js';
import type { Question } from '../../engine/ports/durable.js';
import type { Tool } from '../tool.js';

/**
 * A tool of the step itself: it runs outside of effects, so a replay runs it again, with the input that the recorded turn of the model
 * has. It is deterministic and uses the doors of the step alone (J1).
 */
export interface StepTool extends Pick<Tool, 'name' | 'description' | 'inputSchema'> {
  /** Why it can't be called from inside of a model call, which a replay does not run; absent: it can. */
  readonly onlyBetweenTurns?: string;
  /** `ask` asks a person, once. */
  run(input: JsonObject, ask: (question: Question) => Promise<string>): Promise<string> | string;
}
