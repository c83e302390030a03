import { attemptAddress } from '../../base/address.js';
import type { EventBody } from '../../events/event.js';
import type { Endorser } from '../../events/trust.js';
import { CLEAN, joinedIf, type Label } from '../../guard/label.js';
import { FiredNode } from '../graph/fired-node.js';
import type { Identity } from '../ports/recording.js';
import type { Again, FailedInside } from '../ports/executor.js';
import type { LabelSource } from '../state/run-labels.js';
import type { RunServices, ScopeOwner } from '../services.js';
import type { Activity } from './asking.js';
import type { Clock, Supervised } from './policies/policy.js';
import { tellEndorsed } from './telling.js';
import { WholeAttempt } from './whole-attempt.js';

export abstract class Attempts extends FiredNode {
  attempt = 1;
  supervised: Supervised | undefined = undefined;
  repeats = 0;
  /** The {@link repeats} of earlier attempts since the last correction. */
  private earlierRepeats = 0;
  abstract readonly run: RunServices;
  /** Clocks that policies run beside this attempt. */
  private clocks: Clock[] | undefined = undefined;
  /** Most steps hold one at most. */
  private activity: Activity | undefined = undefined;
  private activities: Set<Activity> | undefined = undefined;
  private slot = false;
  /** Label of the result after its endorsement. */
  private vetted: number | undefined = undefined;
  private known: Identity | undefined = undefined;
  private written: Set<string> | undefined = undefined;

  protected abstract get around(): ScopeOwner;

  /** The scope that the step reads from and that its events belong to. */
  abstract readonly owner: LabelSource & { readonly parent: string };

  /** What the body depends on, if known. */
  protected abstract readsOfBody(): Identity | undefined;

  emit(body: EventBody, again = this.run.durable.replaying): void {
    this.run.reporter.emitAs(again, this.path, this.owner.parent, body);
  }

  get identity(): Identity {
    return (this.known ??= this.readsOfBody() ?? new WholeAttempt(this));
  }

  /** Key of this attempt (J2): the path, and the number of the attempt from the second on. */
  get key(): string {
    return attemptAddress(this.path, this.attempt);
  }

  /**
   * The idempotency key of a call at a place of this step, from that of the attempt: an attempt after a failure repeats the call, with the
   * same key. What is done after a correction is another call.
   */
  keyOfCall(key: string): string {
    const at = this.attempt > 1 ? key.lastIndexOf(this.key) : -1;
    const same = at < 0 ? key : key.slice(0, at) + this.path + key.slice(at + this.key.length);
    const corrections = this.supervised?.corrections ?? 0;
    return corrections === 0 ? same : `${same}+${corrections}`;
  }

  get tries(): number {
    return this.attempt - (this.supervised?.corrected ?? 0) + this.earlierRepeats;
  }

  /** The decision of the nearest `retry` policy on a failed call inside. */
  again(failed: FailedInside): Again | undefined {
    const { policies } = this.compiled;
    return policies?.again === undefined ? this.around.again(failed) : policies.again(this, failed);
  }

  influenced(label: number): void {
    if (label !== this.influence) this.influence = this.run.labels.join(this.influence, label);
  }

  /** Adds a label to what decides where the run continues after the step. */
  decides(label: number): void {
    this.influenced(label);
    this.control = this.run.labels.join(this.control, label);
  }

  /** Lowers the label of endorsed content to at most `vetted`; private content stays private. Earlier decisions keep their labels. */
  endorsed(by: Endorser): void {
    tellEndorsed(this, by);
    const { labels } = this.run;
    this.vetted = labels.of({ ...labels.get(this.influence), level: 'vetted' });
    if (by === 'person') this.influence = this.vetted;
  }

  /** Adds the label of a value that replaces the result, endorsed or not. */
  replaced(label: number): void {
    this.influenced(label);
    if (this.vetted !== undefined) this.vetted = this.run.labels.join(this.vetted, label);
  }

  get given(): number {
    return this.vetted ?? this.influence;
  }

  get givenLabel(): Label {
    return this.run.labels.get(this.influence);
  }

  /** Runs `body` and returns the label of its reads, which do not influence the step otherwise. */
  labelOf<T>(body: () => T): { readonly value: T; readonly label: number } {
    const before = this.influence;
    this.influence = CLEAN;
    let label = CLEAN;
    try {
      const value = body();
      label = this.influence;
      this.influence = CLEAN;
      return { value, label };
    } finally {
      // An error shows what was read.
      this.influenced(before);
    }
  }

  /** Starts the next attempt; a correction resets the count of attempts. A further attempt reveals how the last one ended. */
  protected nextAttempt(isCorrected: boolean): void {
    this.vetted = undefined;
    this.known = undefined;
    this.decides(this.influence);
    this.attempt += 1;
    this.earlierRepeats = isCorrected ? 0 : this.earlierRepeats + this.repeats;
    this.repeats = 0;
  }

  /** The last correction by the supervisor of this step, or of one around it: the innermost was corrected last. */
  get correction(): string | undefined {
    return this.supervised?.correction ?? this.around.correction;
  }

  /** Notes that this attempt calls something with `effect: once`. */
  callsOnce(): void {
    if (this.supervised !== undefined) this.supervised.once = true;
    this.around.callsOnce();
  }

  /** Notes a file that an agent inside, or a run that this step started, wrote after something untrusted. */
  wrote(path: string): void {
    (this.written ??= new Set()).add(path);
    this.around.wrote(path);
  }

  /** Such files so far. */
  writtenInside(): readonly string[] | undefined {
    return this.written && [...this.written];
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
    const startOuter = this.around.stopClock();
    const startOwn = this.stopOwnClock();
    return () => {
      startOwn();
      startOuter();
    };
  }

  stopOwnClock(): () => void {
    const { clocks = [] } = this;
    for (const clock of clocks) clock.stop();
    let stopped = true;
    return () => {
      if (!stopped) return;
      stopped = false;
      for (const clock of clocks) clock.resume();
    };
  }

  /** Label of runs that functions inside the step have started so far. */
  heardInside(): Label | undefined {
    let label = this.activity?.heard?.();
    for (const activity of this.activities ?? []) label = joinedIf(label, activity.heard?.());
    return label;
  }

  /** Stops what runs beside the body and inside it. */
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
