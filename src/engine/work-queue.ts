import type { Runnable } from './services.js';

/** First in, first out, linked through the work itself: putting something in allocates nothing. */
export class WorkQueue {
  private head: Runnable | undefined = undefined;
  private tail: Runnable | undefined = undefined;

  put(work: Runnable): void {
    work.next = undefined;
    if (this.tail === undefined) this.head = work;
    else this.tail.next = work;
    this.tail = work;
  }

  take(): Runnable | undefined {
    const work = this.head;
    if (work === undefined) return undefined;
    this.head = work.next;
    work.next = undefined;
    if (this.head === undefined) this.tail = undefined;
    return work;
  }
}
