import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isoTime, settled, systemClock } from '../../src/base/clock.js';
import { seededRandom, systemIds, uuidV7 } from '../../src/base/ids.js';
import { Semaphore } from '../../src/base/collections.js';

const DAY = 86_400_000;

describe('the clock of the host', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('calls once, after the time', () => {
    const fire = vi.fn();
    systemClock.setTimer(1_000, fire);
    vi.advanceTimersByTime(999);
    expect(fire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(5_000);
    expect(fire).toHaveBeenCalledTimes(1);
  });

  test('waits longer than a timer of the host can', () => {
    const fire = vi.fn();
    systemClock.setTimer(60 * DAY, fire);
    vi.advanceTimersByTime(60 * DAY - 1);
    expect(fire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fire).toHaveBeenCalledTimes(1);
  });

  test('takes a timer back, also one of many days', () => {
    const fire = vi.fn();
    const stops = [10, 60 * DAY].map((ms) => systemClock.setTimer(ms, fire));
    vi.advanceTimersByTime(5);
    for (const stop of stops) stop();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(61 * DAY);
    expect(fire).not.toHaveBeenCalled();
  });
});

test('settled resolves after all that was woken, however long its chain of promises is', async () => {
  const seen: string[] = [];
  const chain = async (): Promise<void> => {
    for (let link = 0; link < 100; link += 1) await Promise.resolve();
    seen.push('chain');
  };
  void chain();
  await settled();
  expect(seen).toEqual(['chain']);
});

describe('a time as text', () => {
  const written = (ms: number): string => new Date(ms).toISOString();

  test('is the one of the host, whichever was written before', () => {
    const times = fc.integer({ min: -8.64e15, max: 8.64e15 });
    fc.assert(
      fc.property(times, fc.array(fc.double({ min: -3_000, max: 3_000, noNaN: true })), (from, steps) => {
        for (const step of steps) {
          const ms = Math.max(-8.64e15, Math.min(8.64e15, from + step));
          expect(isoTime(ms)).toBe(written(ms));
        }
      }),
    );
    expect(['1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z'].map((text) => isoTime(Date.parse(text)))).toEqual([
      '1969-12-31T23:59:59.999Z',
      '1970-01-01T00:00:00.000Z',
    ]);
  });

  test('is refused where there is none', () => {
    for (const ms of [Number.NaN, Number.POSITIVE_INFINITY]) expect(() => isoTime(ms)).toThrow(RangeError);
  });
});

describe('ids', () => {
  test('are UUIDs of version 7, which begin with their time', () => {
    const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
    const before = systemClock.now();
    const id = systemIds.next();
    expect(id).toMatch(form);
    expect(timeOf(id)).toBeGreaterThanOrEqual(before);
    expect(timeOf(id)).toBeLessThanOrEqual(systemClock.now());
    const early = uuidV7(1, '0123456789abcdef01');
    expect(early).toMatch(form);
    expect(timeOf(early)).toBe(1);
    expect(early < uuidV7(1_700_000_000_000, '000000000000000000')).toBe(true);
  });

  test('are never the same', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => systemIds.next())).size).toBe(10_000);
  });

  test('seeded numbers are the same in every process', () => {
    expect(Array.from({ length: 3 }, seededRandom('run-1')).map((value) => value.toFixed(6))).toEqual([
      '0.064830',
      '0.653080',
      '0.085995',
    ]);
  });
});

describe('the semaphore', () => {
  test('lets so many in at once, at once, and the others in the order in which they came', () => {
    const slots = new Semaphore(2);
    const started: string[] = [];
    for (const name of 'abcde') slots.acquire(() => started.push(name));
    expect(started).toEqual(['a', 'b']);
    slots.release();
    slots.release();
    expect(started).toEqual(['a', 'b', 'c', 'd']);
    for (let holders = 3; holders > 0; holders -= 1) slots.release();
    slots.acquire(() => started.push('f'));
    expect(started.join('')).toBe('abcdef');
  });

  test('serves a long queue in order', () => {
    const slots = new Semaphore(1);
    const started: number[] = [];
    for (let at = 0; at < 5_000; at += 1) slots.acquire(() => started.push(at));
    for (let at = 0; at < 5_000; at += 1) slots.release();
    expect(started).toEqual(Array.from({ length: 5_000 }, (_, at) => at));
  });

  test('has no bound when it is told so, and needs at least one place', () => {
    const slots = new Semaphore(Infinity);
    let started = 0;
    for (let at = 0; at < 1_000; at += 1) slots.acquire(() => (started += 1));
    expect(started).toBe(1_000);
    for (const permits of [0, -1, Number.NaN]) expect(() => new Semaphore(permits)).toThrow(RangeError);
  });
});
