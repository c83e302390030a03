import type { JsonObject } from '../base/json.js';

/** A call of a tool that a step makes by itself: no model wanted it, but others may have had a say in its input. */
export interface NodeCall {
  readonly tool: string;
  readonly effect: 'read' | 'idempotent' | 'once';
  readonly input: JsonObject;
}

/** Under this name the second argument of a function decides about such a call. It is not for programs. */
export const CLEAR: unique symbol = Symbol('clear');

/** What has it. */
export interface ClearsCalls {
  /**
   * Gives whether a person has allowed this call; false: nobody had to be asked.
   *
   * @throws SkeinError `SKEIN_TOOL_REFUSED` when a policy or a person refuses it
   */
  [CLEAR](call: NodeCall): Promise<boolean>;
}

/** Decides about a call before it is made, where there is something that decides. */
export async function cleared(step: object, call: NodeCall): Promise<boolean> {
  return CLEAR in step ? await (step as ClearsCalls)[CLEAR](call) : false;
}
