import type { EventBody, Listener, SkeinEvent } from './event.js';

/**
 * Numbers the events of a run and hands them to its listeners. A listener that throws is not called again, and the run never notices.
 */
export class Emitter {
  private seq = 0;
  private listeners: readonly Listener[];

  constructor(
    private readonly runId: string,
    listeners: readonly Listener[],
  ) {
    this.listeners = listeners;
  }

  emit(at: number, path: string, parent: string, body: EventBody): void {
    this.tell({ runId: this.runId, seq: this.seq++, at, path, parent, ...body });
  }

  /** An event that was reported before, when it happened. */
  emitAgain(at: number, path: string, parent: string, body: EventBody): void {
    this.tell({ runId: this.runId, seq: this.seq++, at, path, parent, replayed: true, ...body });
  }

  private tell(event: SkeinEvent): void {
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch {
        this.listeners = this.listeners.filter((other) => other !== listener);
      }
    }
  }
}
