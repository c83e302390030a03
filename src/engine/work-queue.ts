import { Queue } from '../base/collections.js';
import type { Restable, Work } from './services.js';
import type { Step } from './steps/step.js';

/**
 * Units of work (`WorkMeter`) after which a run yields to the event loop, about 20 ms: signals are handled and timers fire. Units are
 * counted instead of time, so that every repetition of a run does the same; a run that evaluates little never yields.
 */
export const WORK_AT_ONCE = 1_000_000;

/** Units for starting ready work, in addition to what it evaluates. */
export const WORK_OF_START = 20;

/** A first-in first-out queue, linked through the work itself: adding an entry allocates nothing. */
export class WorkQueue {
  private head: Work | undefined = undefined;
  private tail: Work | undefined = undefined;

  put(work: Work): void {
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

/** Scopes in which nothing runs. Usually there is one, so a queue is created only for the second. */
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

/** The queued and running steps: a list linked through the steps themselves, so it needs no memory of its own. */
export interface StepList {
  /** The newest step. */
  first: Step | undefined;
}

export function addStep(list: StepList, step: Step): void {
  const { first } = list;
  step.following = first;
  if (first !== undefined) first.previous = step;
  list.first = step;
}

export function removeStep(list: StepList, step: Step): void {
  const { previous, following } = step;
  if (previous === undefined) list.first = following;
  else previous.following = following;
  if (following !== undefined) following.previous = previous;
}
