import { attemptAddress } from '../../base/address.js';
import { FiredNode } from '../graph/fired-node.js';
import type { RunServices, ScopeOwner } from '../services.js';
import type { Activity } from './asking.js';
import type { Clock, Supervised } from './policies/policy.js';

/** The attempts of a step: which one this is, and what runs beside its body. */
export abstract class Attempts extends FiredNode {
  attempt = 1;
  supervised: Supervised | undefined = undefined;
  abstract readonly run: RunServices;
  /** What policies have running beside this attempt. */
  private clocks: Clock[] | undefined = undefined;
  /** Most steps hold one at most. */
  private activity: Activity | undefined = undefined;
  private activities: Set<Activity> | undefined = undefined;
  /** It uses a slot. */
  private slot = false;

  /** What the step runs inside of. */
  protected abstract get around(): ScopeOwner;

  /** Key of what this attempt does (J2): the path, and the attempt from the second on. */
  get key(): string {
    return attemptAddress(this.path, this.attempt);
  }

  get tries(): number {
    return this.attempt - (this.supervised?.corrected ?? 0);
  }

  /** What its supervisor, or that of a step around it, said last of the attempt before: the innermost was corrected last. */
  get correction(): string | undefined {
    return this.supervised?.correction ?? this.around.correction;
  }

  /** This attempt calls something that has `effect: once`. */
  callsOnce(): void {
    if (this.supervised !== undefined) this.supervised.once = true;
    this.around.callsOnce();
  }

  addClock(clock: Clock): void {
    (this.clocks ??= []).push(clock);
  }

  hold(activity: Activity): void {
    if (this.activity === undefined) this.activity = activity;
    else (this.activities ??= new Set()).add(activity);
  }

  release(activity: Activity): void {
    if (this.activity === activity) this.activity = undefined;
    else this.activities?.delete(activity);
  }

  stopClock(): () => void {
    const { clocks = [] } = this;
    const startOuter = this.around.stopClock();
    for (const clock of clocks) clock.stop();
    let stopped = true;
    return () => {
      if (!stopped) return;
      stopped = false;
      for (const clock of clocks) clock.resume();
      startOuter();
    };
  }

  /** Stops what runs beside the body, and in it. */
  protected stopActivities(): void {
    const { clocks, activity: only, activities } = this;
    this.clocks = undefined;
    this.activity = undefined;
    this.activities = undefined;
    if (clocks !== undefined) for (const clock of clocks) clock.close();
    only?.stop();
    for (const activity of activities ?? []) activity.stop();
  }

  takeSlot(): void {
    this.slot = true;
  }

  releaseSlot(): void {
    if (!this.slot) return;
    this.slot = false;
    this.run.releaseSlot();
  }
}
