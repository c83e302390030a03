import type { Work } from './services.js';

/** First in, first out, linked through the work itself: putting something in allocates nothing. */
export class WorkQueue {
  private head: Work | undefined = undefined;
  private tail: Work | undefined = undefined;

  put(work: Work): void {
    work.next = undefined;
    if (this.tail === undefined) this.head = work;
    else this.tail.next = work;
    this.tail = work;
  }

  take(): Work | undefined {
    const work = this.head;
    if (work === undefined) return undefined;
    this.head = work.next;
    work.next = undefined;
    if (this.head === undefined) this.tail = undefined;
    return work;
  }
}
