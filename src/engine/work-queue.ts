import { Queue } from '../base/queue.js';
import type { Restable, Work } from './services.js';

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

/** Scopes in which nothing runs: mostly one, so a queue is made for the second only. */
export class IdleScopes {
  private first: Restable | undefined = undefined;
  private more: Queue<Restable> | undefined = undefined;

  put(scope: Restable): void {
    if (this.first === undefined) this.first = scope;
    else (this.more ??= new Queue()).put(scope);
  }

  take(): Restable | undefined {
    const { first } = this;
    this.first = this.more?.take();
    return first;
  }
}
