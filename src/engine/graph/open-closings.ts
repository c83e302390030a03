import type { ErrorData } from '../../base/errors.js';
import type { ScopeEnd, Stoppable } from '../services.js';

/** So long may take what runs at the end of a run that was cancelled, in milliseconds. */
export const CLOSING_MS = 60_000;

/** What a cancelled run is told whose closing was cut off. */
export const CLOSING_CUT_OFF: ErrorData = {
  code: 'SKEIN_CANCELLED',
  message: 'the run was cancelled, and what ran at its end was cut off',
};

/** Plans of a run that were cut off and are being closed, and how the run's own plan has ended meanwhile: the run waits for them. */
export class OpenClosings {
  private readonly open = new Set<Stoppable>();
  private end: ScopeEnd | undefined = undefined;

  add(closing: Stoppable): void {
    this.open.add(closing);
  }

  /** Gives how the run ends, if nothing keeps it open any more. */
  remove(closing: Stoppable): ScopeEnd | undefined {
    this.open.delete(closing);
    return this.open.size === 0 ? this.end : undefined;
  }

  /** The run's own plan has ended. False: the run has to wait. */
  isOver(end: ScopeEnd): boolean {
    this.end = end;
    return this.open.size === 0;
  }

  stop(): void {
    for (const closing of this.open) closing.stop();
    this.open.clear();
  }
}
