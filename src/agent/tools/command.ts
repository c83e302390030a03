import type { OutputWindow } from './output-window.js';
import type { Exit } from './process-group.js';

/** What a command is run with in addition to its words. */
export interface CommandSettings {
  /** Seconds after which it is ended; absent: as long as it takes. */
  readonly seconds?: number | undefined;
  /** Bytes of each output that are kept, of its beginning and its end. */
  readonly keep: number;
  /** Absent: it reads nothing. */
  readonly stdin?: string | undefined;
  /** Variables in addition to those that all commands get. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** How a command ended, and what it wrote. */
export interface CommandEnd extends Exit {
  readonly stdout: OutputWindow;
  readonly stderr: OutputWindow;
}
