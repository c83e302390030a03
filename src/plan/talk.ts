/**
 * A conversation that agents share: a channel with the reducer `extend`, a list of messages. A step sends what was said before behind its own system
 * prompt, and writes what it adds: its prompt, its answers, its calls with their results. The prompt may be empty: then what was said last is answered.
 */
export interface Conversation {
  readonly channel: string;
  /** Only about so many of the last messages are sent, from one of a user on. Default: all. */
  readonly recent?: number;
  /** Nothing of what was said before is sent, and it is forgotten. */
  readonly afresh?: true;
  /** What each message that the step adds has in addition. */
  readonly mark?: Readonly<Record<string, string>>;
}

/**
 * A tool by which an agent chooses the next node. Only its call does: never what the agent writes, and never what a tool gives. The other calls of the
 * same turn end first; then the step ends, without another turn. A step that ends without the call leaves the choice to `otherwise` of the route.
 */
export interface Choice {
  /** What the model sees: letters, digits, `_`, `-`, at most 64. Default `choose`. */
  readonly tool?: string;
  /** What the model is told about it. */
  readonly description?: string;
  /** By what the model may answer: the node, and what the model is told about the answer. */
  readonly answers: Readonly<Record<string, { readonly to: string; readonly about?: string }>>;
}
