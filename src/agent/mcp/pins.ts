import type { Tool as ServerTool } from '@modelcontextprotocol/client';
import { SkeinError } from '../../base/errors.js';
import { pinOf, type OfferedTool } from './offered.js';

/**
 * Checks that tools stay as they were at the start (threat A9). When a server reports that its tools changed, the next call waits for a
 * comparison; a tool that differs or is gone is refused for the rest of the session, because the model has read only the description of the
 * original.
 */
export class Pins {
  private stale = false;
  private comparing: Promise<void> | undefined;
  private readonly refused = new Set<string>();

  private tools: readonly OfferedTool[] = [];

  /** @param list lists the server's tools */
  constructor(
    private readonly server: string,
    private readonly list: () => Promise<readonly ServerTool[]>,
  ) {}

  /** Sets the tools at the start. Changes reported earlier count too. */
  hold(tools: readonly OfferedTool[]): void {
    this.tools = tools;
  }

  /** Records the server's report that its tools changed. */
  markChanged(): void {
    this.stale = true;
  }

  /** @throws SkeinError `SKEIN_MCP` if the tool changed; what `list` throws */
  async check(tool: OfferedTool): Promise<void> {
    // Calls that arrive meanwhile wait for the same comparison, and for another one if the server reported a change in between.
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
