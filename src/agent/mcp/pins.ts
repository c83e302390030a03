import type { Tool as ServerTool } from '@modelcontextprotocol/client';
import { SkeinError } from '../../base/errors.js';
import type { OfferedTool } from './offered.js';
import { pinOf } from './offered.js';

/**
 * Watches that tools stay what they were at the start (threat A9). When a server says that its tools changed, the next call
 * waits until they were compared; a tool that differs or is gone is refused for the rest of the session, because a model has
 * only been told about the one that was there at the start.
 */
export class Pins {
  private stale = false;
  private comparing: Promise<void> | undefined;
  private readonly refused = new Set<string>();

  private tools: readonly OfferedTool[] = [];

  /** @param list asks the server for its tools */
  constructor(
    private readonly server: string,
    private readonly list: () => Promise<readonly ServerTool[]>,
  ) {}

  /** What the tools are at the start. News that came before count. */
  hold(tools: readonly OfferedTool[]): void {
    this.tools = tools;
  }

  /** The server says that its tools changed. */
  markChanged(): void {
    this.stale = true;
  }

  /**
   * Resolves when the tool may be called.
   *
   * @throws SkeinError `SKEIN_MCP` when it changed; what `list` throws
   */
  async check(tool: OfferedTool): Promise<void> {
    // Calls that come in meanwhile wait for the same comparison, and for another one if there was news in between.
    while (this.stale || this.comparing !== undefined) {
      this.comparing ??= this.compare().finally(() => {
        this.comparing = undefined;
      });
      await this.comparing;
    }
    if (!this.refused.has(tool.name)) return;
    throw new SkeinError('SKEIN_MCP', `MCP server "${this.server}" changed its tool ${tool.name} during the session`, {
      hint: 'the tool is refused until the step starts again',
    });
  }

  private async compare(): Promise<void> {
    this.stale = false;
    try {
      const now = new Map((await this.list()).map((tool) => [tool.name, pinOf(tool)]));
      for (const tool of this.tools) if (now.get(tool.name) !== tool.pin) this.refused.add(tool.name);
    } catch (error) {
      this.stale = true;
      throw error;
    }
  }
}
