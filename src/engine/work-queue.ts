import { Queue } from '../base/collections.js';
import type { Restable, Work } from './services.js';
import type { Step } from './steps/step.js';

/**
 * Units of work (`WorkMeter`) after which a run gives way to the event loop, some 20 ms: signals are taken and timers fire. They are counted and not
 * timed, so that a run does the same in every repetition; a run that evaluates little never gives way.
 */
export const WORK_AT_ONCE = 1_000_000;

/** Units of starting something that is ready, in addition to what it evaluates. */
export const WORK_OF_START = 20;

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

/** Who knows the steps that are queued or running: a list through the steps themselves, so that it costs no memory of its own. */
export interface StepList {
  /** The newest one. */
  first: Step | undefined;
}

/** Adds a step, as the first. */
export function addStep(list: StepList, step: Step): void {
  const { first } = list;
  step.following = first;
  if (first !== undefined) first.previous = step;
  list.first = step;
}

/** Takes a step out. */
export function removeStep(list: StepList, step: Step): void {
  const { previous, following } = step;
  if (previous === undefined) list.first = following;
  else previous.following = following;
  if (following !== undefined) following.previous = previous;
}
