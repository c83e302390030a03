import type { Restable, ScopeOwner, Work } from './services.js';
import { IdleScopes, WORK_AT_ONCE, WORK_OF_START, WorkQueue } from './work-queue.js';

/** Owner of the outermost scope: nothing is around it. */
class Outermost implements Omit<ScopeOwner, 'scopeEnded'> {
  readonly correction = undefined;

  stopClock(): () => void {
    return () => undefined;
  }

  callsOnce(): void {}

  wrote(_path: string): void {}

  influenced(): void {}

  again(): undefined {
    return undefined;
  }
}

/** The ready work of a run. It starts in the order in which it became ready, as slots are free, and regularly yields to the event loop. */
export abstract class RunWork extends Outermost {
  private readonly ready = new WorkQueue();
  /** Leaf steps that wait for a slot, in the order in which they became ready. */
  private blocked: WorkQueue | undefined = undefined;
  private running = 0;
  private readonly idle = new IdleScopes();
  /** True if an executor was started or woken and may not have come to rest. */
  protected unsettled = false;
  /** Units of work since the run last yielded to the event loop. */
  private spent = 0;
  protected ended = false;

  /** `limit`: the number of leaf steps that may run at once. */
  constructor(private readonly limit: number) {
    super();
  }

  enqueue(work: Work): void {
    this.ready.put(work);
  }

  releaseSlot(): void {
    this.running -= 1;
  }

  spend(units: number): void {
    this.spent += units;
  }

  rest(scope: Restable): void {
    this.idle.put(scope);
  }

  protected nextWork(): Work | undefined {
    while (!this.ended) {
      if (this.isToGiveWay()) return undefined;
      const scope = this.idle.take();
      if (scope !== undefined) {
        this.spent += WORK_OF_START;
        scope.rested();
        continue;
      }
      const free = this.running < this.limit;
      const work = (free ? this.blocked?.take() : undefined) ?? this.ready.take();
      if (work === undefined) return undefined;
      if (work.isWanted()) {
        this.spent += WORK_OF_START;
        if (!work.leaf) return work;
        if (free) {
          this.running += 1;
          return work;
        }
        (this.blocked ??= new WorkQueue()).put(work);
      }
    }
    return undefined;
  }

  /** Takes no outcome before the rest of the turn, as if an executor had to come to rest. */
  private isToGiveWay(): boolean {
    if (this.spent < WORK_AT_ONCE) return false;
    this.spent = 0;
    this.unsettled = true;
    return true;
  }
}
