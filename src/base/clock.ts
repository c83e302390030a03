/** Time as a port: everything that waits or reads the time uses one of these, so that tests can control time. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `fire` once after `ms` milliseconds; the returned function cancels the timer. */
  setTimer(ms: number, fire: () => void): () => void;
}

/** Longest delay of a host timer, about 24.8 days; longer delays are split. */
const LONGEST = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(ms, fire) {
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      timer = left > LONGEST ? setTimeout(() => wait(left - LONGEST), LONGEST) : setTimeout(fire, left);
    };
    wait(Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

let pending: Promise<void> | undefined;

/**
 * Resolves when every promise reaction that can run has run. Simultaneous callers share one turn of the event loop. It takes no clock time
 * and decides no order: it only lets resumed code come to rest.
 */
export function settled(): Promise<void> {
  pending ??= new Promise((resolve) => {
    setImmediate(() => {
      pending = undefined;
      resolve();
    });
  });
  return pending;
}

/** The last formatted second: times within it differ in their milliseconds only. */
let second = { from: Number.NaN, text: '' };

/** Formats a time as ISO text, in UTC. */
export function isoTime(ms: number): string {
  const whole = Math.trunc(ms);
  const from = Math.floor(whole / 1_000) * 1_000;
  if (from !== second.from) second = { from, text: new Date(from).toISOString().slice(0, -4) };
  return `${second.text}${String(whole - from).padStart(3, '0')}Z`;
}

/** The day of a time in the calendar of this machine: `2026-11-23`. */
export function dayOf(ms: number): string {
  const time = new Date(ms);
  const [month, day] = [time.getMonth() + 1, time.getDate()].map((part) => String(part).padStart(2, '0'));
  return `${time.getFullYear()}-${month}-${day}`;
}

/** Milliseconds since 1970 of a Date, or of a time as text; undefined for anything else. */
export function writtenTime(value: unknown): number | undefined {
  const time = value instanceof Date ? value.getTime() : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(time) ? time : undefined;
}
