import { attemptAddress } from '../../base/address.js';
import type { EventBody } from '../../events/event.js';
import type { Endorser } from '../../events/trust.js';
import { CLEAN, joinedIf } from '../../guard/label.js';
import type { Label } from '../../guard/label.js';
import { FiredNode } from '../graph/fired-node.js';
import type { Identity } from '../ports/durable.js';
import type { Again, FailedInside } from '../ports/executor.js';
import type { LabelSource } from '../state/run-labels.js';
import type { RunServices, ScopeOwner } from '../services.js';
import type { Activity } from './asking.js';
import type { Clock, Supervised } from './policies/policy.js';
import { tellEndorsed } from './telling.js';
import { WholeAttempt } from './whole-attempt.js';

/** The attempts of a step: which one this is, and what runs beside its body. */
export abstract class Attempts extends FiredNode {
  attempt = 1;
  supervised: Supervised | undefined = undefined;
  repeats = 0;
  /** {@link repeats} of earlier attempts, since the last correction. */
  private earlierRepeats = 0;
  abstract readonly run: RunServices;
  /** What policies have running beside this attempt. */
  private clocks: Clock[] | undefined = undefined;
  /** Most steps hold one at most. */
  private activity: Activity | undefined = undefined;
  private activities: Set<Activity> | undefined = undefined;
  /** It uses a slot. */
  private slot = false;
  /** Label of what it gives, once that is endorsed. */
  private vetted: number | undefined = undefined;
  private known: Identity | undefined = undefined;

  /** What the step runs inside of. */
  protected abstract get around(): ScopeOwner;

  /** Where it reads, and what its events belong to. */
  abstract readonly owner: LabelSource & { readonly parent: string };

  /** What its body depends on, where that is known. */
  protected abstract readsOfBody(): Identity | undefined;

  /** Tells listeners something of it. */
  emit(body: EventBody, again = this.run.durable.replaying): void {
    this.run.reporter.emitAs(again, this.path, this.owner.parent, body);
  }

  /** What becomes of this attempt depends on it. */
  get identity(): Identity {
    return (this.known ??= this.readsOfBody() ?? new WholeAttempt(this));
  }

  /** Key of what this attempt does (J2): the path, and the attempt from the second on. */
  get key(): string {
    return attemptAddress(this.path, this.attempt);
  }

  get tries(): number {
    return this.attempt - (this.supervised?.corrected ?? 0) + this.earlierRepeats;
  }

  /** What the nearest `retry` says of a call inside that failed. */
  again(failed: FailedInside): Again | undefined {
    const { policies } = this.compiled;
    return policies?.again === undefined ? this.around.again(failed) : policies.again(this, failed);
  }

  /** Something had a say in what it does. */
  influenced(label: number): void {
    if (label !== this.influence) this.influence = this.run.labels.join(this.influence, label);
  }

  /** Something decides where the run goes on after it. */
  decides(label: number): void {
    this.influenced(label);
    this.control = this.run.labels.join(this.control, label);
  }

  /** What was seen, or can be nothing else, has no more than the level `vetted`; what is private stays so. What was decided before stays as it was decided. */
  endorsed(by: Endorser): void {
    tellEndorsed(this, by);
    const { labels } = this.run;
    this.vetted = labels.of({ ...labels.get(this.influence), level: 'vetted' });
    if (by === 'person') this.influence = this.vetted;
  }

  /** Label of its result. */
  get given(): number {
    return this.vetted ?? this.influence;
  }

  get givenLabel(): Label {
    return this.run.labels.get(this.influence);
  }

  /** The label of what `body` reads, which has a say in nothing else unless it is said. */
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
      // What is thrown says what was read.
      this.influenced(before);
    }
  }

  /** The next attempt; after a correction all of them are there again. That there is one says how the last one went. */
  protected nextAttempt(isCorrected: boolean): void {
    this.vetted = undefined;
    this.known = undefined;
    this.decides(this.influence);
    this.attempt += 1;
    this.earlierRepeats = isCorrected ? 0 : this.earlierRepeats + this.repeats;
    this.repeats = 0;
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

  /** What runs that functions inside of it started have heard so far. */
  heardInside(): Label | undefined {
    let label = this.activity?.heard?.();
    for (const activity of this.activities ?? []) label = joinedIf(label, activity.heard?.());
    return label;
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
