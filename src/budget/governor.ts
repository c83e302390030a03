import { madeOnce } from '../base/collections.js';
import type { Clock } from '../base/clock.js';
import { Level, MINUTE_MS, type Allowance } from './allowance.js';
import { costOf, Pass, Queue, type Asked, type Counted, type Gate, type Told } from './pass.js';
import { Speed } from './speed.js';

/** Longest time in milliseconds without any call, whatever a server reports. Then one call is tried. */
const LONGEST_HOLD_MS = 60_000;

interface Standing {
  /** The total charge of all calls, including unanswered ones. */
  readonly charged: Record<Counted, number>;
  /** What remains of the limits that the provider reports. */
  readonly told: Map<Counted, Level>;
  /** The number of the newest call that the server has reported on. */
  newest: number;
}

const COUNTED: readonly Counted[] = ['requests', 'tokens', 'input', 'output'];

/**
 * Admits the calls of one provider, address and key in this process. Concurrency and rate follow the provider's reports: fast decrease,
 * slow increase. Calls of a run are served in order; runs take turns. The governor makes no calls: a {@link Pass} tells its owner when to.
 */
export class Governor implements Gate {
  /** Runs with waiting calls, in the order in which they are served. */
  private readonly queues = new Map<string, Queue>();
  private waiting = 0;
  private running = 0;
  private admitted = 0;
  private admittedAt = 0;
  private readonly standings = new Map<string, Standing>();
  /** What remains of limits set by people, by the limit. Each counts all calls. */
  private readonly set = { requests: new Map<number, Level>(), tokens: new Map<number, Level>() };
  private readonly speed = new Speed();
  private heldUntil = 0;
  private time = 0;
  private lastNow: number;
  private alarm: { readonly at: number; readonly stop: () => void } | undefined = undefined;

  constructor(private readonly clock: Clock) {
    this.lastNow = clock.now();
  }

  /** True if no call waits or is in flight. */
  get isIdle(): boolean {
    return this.waiting === 0 && this.running === 0;
  }

  enter(asked: Asked): Pass {
    const pass = new Pass(asked, this.waiting, this);
    this.waiting += 1;
    const queue = this.queues.get(asked.run) ?? new Queue();
    this.queues.set(asked.run, queue);
    queue.put(pass);
    // Behind another call of its run, it waits in any case.
    if (queue.first === pass) this.pump();
    return pass;
  }

  left({ asked: { input, output } }: Pass, was: 'waiting' | 'running', used: number | undefined): void {
    if (was === 'waiting') this.waiting -= 1;
    else {
      this.running -= 1;
      if (used !== undefined)
        for (const level of this.set.tokens.values()) level.charge(used - input - output, this.now());
    }
    this.pump();
  }

  tell(pass: Pass, { allowances, refused, retryAfterMs }: Told): void {
    const now = this.now();
    const entries = Object.entries(allowances) as (readonly [Counted, Allowance])[];
    const standing = this.standingOf(pass.asked);
    // Reports on older calls are out of date.
    if (pass.number > standing.newest && pass.charged !== undefined) {
      standing.newest = pass.number;
      for (const [name, allowance] of entries) reported(standing, [name, allowance], pass.charged[name], now);
    }
    if (refused) {
      const isShort = entries.some(([name, { remaining }]) => remaining < costOf(pass.asked, name));
      const holdMs = this.speed.refuses(pass.number, { isShort, now, running: this.running, admitted: this.admitted });
      this.heldUntil = Math.max(this.heldUntil, now + Math.min(LONGEST_HOLD_MS, retryAfterMs ?? holdMs));
    } else this.speed.takes(this.running, now);
    this.pump();
  }

  /** Admits the calls that may be made, run by run, and sets a timer for the rest. */
  private pump(): void {
    const now = this.now();
    let next = Number.POSITIVE_INFINITY;
    /** Models whose limits are short: no call overtakes one that waits for them. */
    let short: Set<string | undefined> | undefined;
    for (const [run, queue] of this.queues) {
      const pass = queue.first;
      if (pass === undefined) {
        this.queues.delete(run);
        continue;
      }
      const { asked } = pass;
      const shared = this.sharedWait(now);
      if (shared > 0) {
        next = Math.min(next, shared);
        break;
      }
      if (short?.has(asked.model) === true) continue;
      const told = this.toldWait(asked, now);
      if (told > 0) (short ??= new Set()).add(asked.model);
      const wait = Math.max(told, this.ownWait(asked, now));
      // A waiting run keeps its place. A served run moves to the end and is visited again below.
      if (wait > 0) next = Math.min(next, wait);
      else {
        this.admit(pass, now);
        this.queues.delete(run);
        this.queues.set(run, queue);
      }
    }
    this.wakeIn(next, now);
  }

  private sharedWait(now: number): number {
    return this.atMost(Math.max(this.heldUntil - now, this.speed.waitFor(this.running, now)), now);
  }

  private toldWait(asked: Asked, now: number): number {
    let wait = 0;
    for (const [name, level] of this.standingOf(asked).told)
      wait = Math.max(wait, level.waitFor(costOf(asked, name), now));
    return this.atMost(wait, now);
  }

  /** A server's report may be misread or outdated: after some time without any call, one is tried. */
  private atMost(wait: number, now: number): number {
    return this.running > 0 ? Math.max(0, wait) : Math.max(0, Math.min(wait, this.admittedAt + LONGEST_HOLD_MS - now));
  }

  private standingOf({ model = '' }: Asked): Standing {
    return madeOnce(this.standings, model, () => ({
      charged: { requests: 0, tokens: 0, input: 0, output: 0 },
      told: new Map<Counted, Level>(),
      newest: 0,
    }));
  }

  private ownWait({ limits, input, output }: Asked, now: number): number {
    if (limits === undefined) return 0;
    const { concurrency, requestsPerMinute, tokensPerMinute } = limits;
    if (concurrency !== undefined && this.running >= concurrency) return Number.POSITIVE_INFINITY;
    const requests = requestsPerMinute === undefined ? 0 : this.setLevel('requests', requestsPerMinute).waitFor(1, now);
    if (tokensPerMinute === undefined) return requests;
    return Math.max(requests, this.setLevel('tokens', tokensPerMinute).waitFor(input + output, now));
  }

  private setLevel(counted: 'requests' | 'tokens', limit: number): Level {
    const levels = this.set[counted];
    const level = levels.get(limit) ?? Level.perMinute(limit, this.time);
    levels.set(limit, level);
    return level;
  }

  private admit(pass: Pass, now: number): void {
    const { asked } = pass;
    this.waiting -= 1;
    this.running += 1;
    this.admitted += 1;
    this.admittedAt = now;
    this.speed.starts(now);
    const { charged, told } = this.standingOf(asked);
    for (const name of COUNTED) charged[name] += costOf(asked, name);
    for (const [name, level] of told) level.charge(costOf(asked, name), now);
    for (const level of this.set.requests.values()) level.charge(1, now);
    for (const level of this.set.tokens.values()) level.charge(asked.input + asked.output, now);
    pass.admit(this.admitted, { ...charged });
  }

  private wakeIn(ms: number, now: number): void {
    const at = now + Math.ceil(ms);
    if (this.alarm?.at === at) return;
    this.alarm?.stop();
    this.alarm = undefined;
    if (!Number.isFinite(ms)) return;
    const stop = this.clock.setTimer(Math.ceil(ms), () => {
      this.alarm = undefined;
      this.pump();
    });
    this.alarm = { at, stop };
  }

  /** Milliseconds since the governor was created. If the clock is set back, time continues from the last value. */
  private now(): number {
    const now = this.clock.now();
    this.time += Math.max(0, now - this.lastNow);
    this.lastNow = now;
    return this.time;
  }
}

function reported(
  standing: Standing,
  [name, allowance]: readonly [Counted, Allowance],
  upTo: number,
  now: number,
): void {
  const { told, charged } = standing;
  const level = told.get(name) ?? new Level(allowance.limit, allowance.limit / MINUTE_MS, now);
  told.set(name, level);
  level.told(allowance, upTo, charged[name] - upTo, now);
}
