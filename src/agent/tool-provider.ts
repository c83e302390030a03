import type { AgentSpec } from '../plan/agent-spec.js';
import type { ToolSource } from './tool.js';

/**
 * Gives an agent its tools. A provider is made once for a run; `open` is called at the start of each agent step and gives that
 * step tools of its own, so that no state crosses from one step to another. Implemented by `agent/tools`.
 */
export interface ToolProvider {
  /**
   * Opens the tools that `spec` asks for: the built-in ones that its allow-list names, and those of its MCP servers.
   * A name that nothing answers to is an error or a warning, as the implementation documents; it is never silent.
   *
   * @throws SkeinError with the code `SKEIN_MCP` when a server can't be started. Nothing stays open after a throw.
   */
  open(spec: AgentSpec, session: ToolSession): Promise<ToolSource>;
}

/** What the tools of a step know about the step. */
export interface ToolSession {
  readonly runId: string;
  /** Address of the step. */
  readonly path: string;
  /** Name of the agent. */
  readonly agent: string;
  /** Aborted when the step is cancelled or times out while the tools are being opened. */
  readonly signal: AbortSignal;
  /** Tells observers about something that is odd but no failure. */
  warn(code: string, message: string): void;
}

/**
 * A provider without tools, for agents that only talk.
 *
 * @example
 * agentExecutor({ models: createModelRegistry({ env: process.env }), tools: noTools });
 */
export const noTools: ToolProvider = {
  open: () => Promise.resolve({ tools: [], close: () => Promise.resolve() }),
};
