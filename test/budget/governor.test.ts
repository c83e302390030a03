import { describe, expect, it } from 'vitest';
import { limitsIn } from '../../src/agent/models/rate-headers.js';
import { Governor } from '../../src/budget/governor.js';
import type { Asked } from '../../src/budget/pass.js';
import { FakeClock } from '../../src/testing/index.js';
import type { Rate } from './rate-server.js';
import { RateServer } from './rate-server.js';

const CALL = { input: 100, output: 100 };

/** Calls of one run after the other that a server answers after a while; a call that is refused is made again. */
class Load {
  readonly clock = new FakeClock();
  readonly governor = new Governor(this.clock);
  readonly server: RateServer;
  readonly done = new Map<string, number>();
  mostAtOnce = 0;
  private atOnce = 0;

  constructor(
    rate: Rate,
    private readonly latencyMs: number,
  ) {
    this.server = new RateServer(rate, this.clock);
  }

  put(count: number, asked: Partial<Asked> = {}): void {
    for (let i = 0; i < count; i++) void this.call({ run: 'one', ...CALL, ...asked });
  }

  async call(asked: Asked): Promise<void> {
    const pass = this.governor.enter(asked);
    await pass.ready();
    this.mostAtOnce = Math.max(this.mostAtOnce, (this.atOnce += 1));
    const answer = this.server.answer();
    await new Promise<void>((resolve) => this.clock.setTimer(this.latencyMs / 2, resolve));
    pass.tell(limitsIn(answer, this.clock.now()));
    if (answer.status === 200) await new Promise<void>((resolve) => this.clock.setTimer(this.latencyMs / 2, resolve));
    this.atOnce -= 1;
    pass.leave();
    if (answer.status !== 200) await this.call({ ...asked, again: true });
    else this.done.set(asked.run, (this.done.get(asked.run) ?? 0) + 1);
  }

  /** Somebody sets the clock; nothing that waits notices. */
  jump(ms: number): void {
    const now = this.clock.now.bind(this.clock);
    const server = this.server;
    this.clock.now = () => now() + ms;
    server.jump(ms);
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 10) {
      this.clock.advance(10);
      for (let i = 0; i < 8; i++) await Promise.resolve();
    }
  }
}

const refusedShare = ({ taken, refused }: RateServer): number => refused / (taken + refused);

describe('[15.5] a server with a rate', () => {
  it.each<[string, Rate, number]>([
    ['OpenAI, 600 a minute', { perMinute: 600, burst: 600, speaks: 'openai' }, 400],
    ['OpenAI, 500 a minute, slow answers', { perMinute: 500, burst: 500, speaks: 'openai' }, 3_000],
    ['OpenAI, few at once', { perMinute: 1_200, burst: 20, speaks: 'openai' }, 400],
    ['OpenAI, 5,000 a minute', { perMinute: 5_000, burst: 5_000, speaks: 'openai' }, 1_000],
    ['Anthropic, 1,000 a minute', { perMinute: 1_000, burst: 1_000, speaks: 'anthropic' }, 600],
    ['Anthropic, few at once', { perMinute: 1_000, burst: 50, speaks: 'anthropic' }, 600],
    ['a window of ten seconds', { perMinute: 600, burst: 100, windowMs: 10_000, speaks: 'openai' }, 300],
  ] as const)(
    '%s: within 30 s nine tenths of it are used, and under a fiftieth is refused',
    async (_name, rate, latencyMs) => {
      const load = new Load(rate, latencyMs);
      load.put(8_000);
      await load.pass(30_000);
      const { server } = load;
      const share = server.taken / Math.min(8_000, offered(rate, 30_000));
      expect([share > 0.9, refusedShare(server) < 0.02]).toEqual([true, true]);
    },
  );
});

describe('[15.5] a governor', () => {
  it.each([300, 1_200])(
    'finds the rate of a server that tells nothing but refusals: %i a minute',
    async (perMinute) => {
      const rate: Rate = { perMinute, burst: perMinute / 60, speaks: 'nothing', retryAfter: false };
      const load = new Load(rate, 500);
      load.put(8_000);
      await load.pass(30_000);
      const { taken, refused } = load.server;
      expect(taken / offered(rate, 30_000)).toBeGreaterThan(0.75);
      expect(refused / (taken + refused)).toBeLessThan(0.12);
      await load.pass(60_000);
      const later = { taken: load.server.taken - taken, refused: load.server.refused - refused };
      expect(later.taken / perMinute).toBeGreaterThan(0.85);
      expect(later.refused / later.taken).toBeLessThan(0.04);
    },
  );

  it('serves two runs by turns, however many calls each has, and each in its order', async () => {
    const load = new Load({ perMinute: 600, burst: 10, speaks: 'openai' }, 300);
    load.put(2_000, { run: 'one' });
    await load.pass(5_000);
    const before = load.done.get('one') ?? 0;
    load.put(100, { run: 'two' });
    await load.pass(10_000);
    const one = (load.done.get('one') ?? 0) - before;
    const two = load.done.get('two') ?? 0;
    expect(two).toBeGreaterThan(40);
    expect(Math.abs(one - two)).toBeLessThanOrEqual(6);
    await load.pass(30_000);
    expect(load.done.get('two')).toBe(100);

    const governor = new Governor(new FakeClock());
    const order: string[] = [];
    const passes = Array.from({ length: 40 }, (_, at) => {
      const pass = governor.enter({ run: at < 30 ? 'one' : 'two', ...CALL });
      void pass.ready()?.then(() => order.push(String(at)));
      return pass;
    });
    for (const pass of passes) {
      pass.leave();
      await Promise.resolve();
    }
    expect(order.filter((at) => Number(at) < 30)).toEqual(Array.from({ length: 14 }, (_, at) => String(at + 16)));
    expect(order.slice(0, 6)).toEqual(['16', '30', '17', '31', '18', '32']);
  });

  it('counts each model apart, as providers do: one that is used up does not hold up another', async () => {
    const clock = new FakeClock();
    const governor = new Governor(clock);
    const servers = new Map([
      ['large', new RateServer({ perMinute: 60, burst: 30, speaks: 'openai' }, clock)],
      ['small', new RateServer({ perMinute: 1_200, burst: 100, speaks: 'openai' }, clock)],
    ]);
    const call = async (model: string, again = false): Promise<void> => {
      const pass = governor.enter({ run: model, model, again, ...CALL });
      await pass.ready();
      const answer = servers.get(model)?.answer() ?? { status: 500, headers: {} };
      await new Promise<void>((resolve) => clock.setTimer(200, resolve));
      pass.tell(limitsIn(answer, clock.now()));
      pass.leave();
      if (answer.status !== 200) await call(model, true);
    };
    for (let i = 0; i < 1_000; i++) for (const model of servers.keys()) void call(model);
    for (let at = 0; at < 30_000; at += 10) {
      clock.advance(10);
      for (let i = 0; i < 8; i++) await Promise.resolve();
    }
    const [large, small] = [servers.get('large'), servers.get('small')];
    expect([large?.taken, (large?.refused ?? 9) <= 1]).toEqual([expect.closeTo(60, -1), true]);
    expect(small?.taken).toBeGreaterThan(0.9 * 700);
    expect((small?.refused ?? 99) / (small?.taken ?? 1)).toBeLessThan(0.02);
  });

  it.each([-3_600_000, 3_600_000])('goes on when the clock jumps by %i ms', async (jump) => {
    const rate: Rate = { perMinute: 600, burst: 20, speaks: 'openai' };
    const load = new Load(rate, 300);
    load.put(2_000);
    await load.pass(5_000);
    const { taken, refused } = load.server;
    load.jump(jump);
    await load.pass(10_000);
    expect(load.server.taken - taken).toBeGreaterThan(80);
    expect(load.server.refused - refused).toBeLessThan(40);
  });

  it('keeps to the limits that a run sets: calls at once, and calls and tokens in any minute', async () => {
    const free: Rate = { perMinute: 1_000_000, burst: 1_000_000, speaks: 'openai' };
    const few = new Load(free, 300);
    few.put(200, { limits: { concurrency: 8 } });
    await few.pass(20_000);
    expect([few.mostAtOnce, few.server.taken]).toEqual([8, 200]);

    const slow = new Load(free, 300);
    slow.put(500, { limits: { requestsPerMinute: 120 } });
    const counts: number[] = [];
    for (let second = 0; second < 180; second++) {
      await slow.pass(1_000);
      counts.push(slow.server.taken);
    }
    const inMinute = counts.map((count, at) => count - (counts[at - 60] ?? 0));
    expect(Math.max(...inMinute)).toBeLessThanOrEqual(121);
    expect(counts.at(-1)).toBeGreaterThan(340);

    const tokens = new Load(free, 300);
    tokens.put(500, { limits: { tokensPerMinute: 20_000 } });
    await tokens.pass(60_000);
    expect(tokens.server.taken).toBeGreaterThan(90);
    expect(tokens.server.taken).toBeLessThanOrEqual(101);
  });

  it('holds no other run up by the limits of one', async () => {
    const load = new Load({ perMinute: 100_000, burst: 100_000, speaks: 'openai' }, 300);
    load.put(100, { run: 'one', limits: { concurrency: 1 } });
    load.put(100, { run: 'two' });
    await load.pass(3_500);
    expect(load.done.get('two')).toBe(100);
    expect(load.done.get('one') ?? 0).toBeLessThan(12);
  });

  it('is not slowed down by a refusal that comes before any answer: it says nothing of a rate', async () => {
    const load = new Load({ perMinute: 100_000, burst: 100_000, speaks: 'nothing' }, 300);
    const answer = load.server.answer.bind(load.server);
    let calls = 0;
    load.server.answer = () => (calls++ === 0 ? { status: 503, headers: { 'retry-after': '0' } } : answer());
    load.put(200);
    await load.pass(10_000);
    expect(load.done.get('one')).toBe(200);
  });

  it('counts no call that left while it waited', async () => {
    const governor = new Governor(new FakeClock());
    const first = Array.from({ length: 16 }, () => governor.enter({ run: 'one', ...CALL }));
    const waiting = [1, 2, 3].map(() => governor.enter({ run: 'one', ...CALL }));
    expect(waiting.map((pass) => [pass.isWaiting, pass.ahead])).toEqual([
      [true, 0],
      [true, 1],
      [true, 2],
    ]);
    waiting[0]?.leave();
    waiting[1]?.leave();
    const ready = waiting[2]?.ready();
    first[0]?.leave();
    await ready;
    for (const pass of [...first, ...waiting]) pass.leave();
    expect(governor.isIdle).toBe(true);
  });

  it('lets a call through once a minute whatever a server says', async () => {
    const { governor, clock } = new Load({ perMinute: 1, burst: 1, speaks: 'nothing' }, 10);
    const zero = { limit: 0, remaining: 0, resetMs: 1e15 };
    let calls = 0;
    const call = async (): Promise<void> => {
      const pass = governor.enter({ run: 'one', ...CALL });
      await pass.ready();
      calls += 1;
      pass.tell({
        allowances: { requests: zero, tokens: zero, input: zero, output: zero },
        refused: true,
        retryAfterMs: 1e12,
      });
      pass.leave();
    };
    for (let i = 0; i < 40; i++) void call();
    for (let i = 0; i < 1_000; i++) {
      clock.advance(600);
      await Promise.resolve();
    }
    // Those that were sent at once, then ten in ten minutes.
    expect(calls).toBeGreaterThanOrEqual(16 + 9);
    expect(calls).toBeLessThanOrEqual(16 + 11);
  });
});

/** Calls that the server would have taken. */
function offered({ perMinute, burst, windowMs }: Rate, ms: number): number {
  if (windowMs !== undefined) return Math.ceil(ms / windowMs) * burst;
  return burst + (perMinute * ms) / 60_000;
}
