import { describe, expect, test } from 'vitest';
import { MemoryDurable } from '../../src/engine/durable/memory-durable.js';
import type { Effect, Ticket, Wait } from '../../src/engine/ports/durable.js';
import type { StepOptions } from '../../src/engine/ports/recording.js';
import { startRun } from '../../src/engine/run.js';
import type { SkeinEvent } from '../../src/events/event.js';
import type { Plan, PlanNode } from '../../src/plan/plan.js';
import { FakeClock } from '../../src/testing/index.js';
import { plan, task, type State } from './plans.js';

/** Keeps the keys of everything that is started; its timers ring at once. */
class Keys extends MemoryDurable {
  readonly keys: string[] = [];

  override step(key: string, effect: Effect, options?: StepOptions): Ticket {
    this.keys.push(key);
    return super.step(key, effect, options);
  }

  override timer(key: string, ms: number, fleeting?: boolean): Ticket {
    this.keys.push(fleeting === true ? `${key} (fleeting)` : key);
    return super.timer(key, fleeting === true ? ms : 0);
  }

  override signal(key: string, wait: Wait): Ticket {
    this.keys.push(key);
    return super.signal(key, wait);
  }
}

const ONCE = { retries: 1, backoff: 'fixed', delayMs: 0, on: 'any' } as const;

/** A body that fails when it is called for the first time. */
function failsFirst(): () => Record<string, unknown> {
  let calls = 0;
  return () => {
    calls += 1;
    if (calls === 1) throw new Error('once');
    return { out: calls };
  };
}

async function keysOf(one: Plan, bindings: Record<string, unknown>): Promise<{ keys: string[]; paths: string[] }> {
  const durable = new Keys('r', { answer: () => Promise.resolve('yes') });
  const paths: string[] = [];
  const listener = (event: SkeinEvent): void => {
    if (event.type === 'step.started') paths.push(`${event.parent}>${event.path}`);
  };
  const { result } = startRun(one, { durable, bindings, listeners: [listener] });
  expect((await result).outcome).toBe('succeeded');
  return { keys: durable.keys, paths };
}

describe('keys', () => {
  test('what a step does besides its body has a name behind an @', async () => {
    const nodes: PlanNode[] = [
      task('t', { retry: ONCE, timeoutMs: 1_000 }),
      { kind: 'ask', id: 'q', question: ['Well?'] },
      { kind: 'wait', id: 'w', ms: 5 },
    ];
    const routes = [
      { from: 't', choose: 'code', targets: ['q'] },
      { from: 't', choose: 'code', targets: ['w'] },
    ] as const;
    let asked = 0;
    const route = (): string => (asked++ === 0 ? 'q' : 'w');
    const { keys } = await keysOf(plan({ nodes, routes, entry: 't' }), { t: failsFirst(), 'route:t': route });
    expect(keys).toEqual([
      't@timeout (fleeting)',
      't',
      't@backoff',
      't~2@timeout (fleeting)',
      't~2',
      't~2@route',
      't~2@route#2',
      'q@answer',
      'w@timer',
    ]);
  });

  test.each([
    ['call', {}, ['sub/in', 'sub~2/in']],
    ['loop', { until: [{ op: 'code' }], maxRounds: 3 }, ['sub#1/in', 'sub~2#1/in', 'sub~2#2/in']],
    [
      'map',
      { over: { channel: 'items' }, item: 'item', result: 'out', maxItems: 5, key: ['id'], output: 'out' },
      ['sub[a@1]/in', 'sub~2[a@1]/in', 'sub~2[b~2]/in'],
    ],
  ] as const)(
    'inside of a %s that is tried again the attempt is part of keys and paths',
    async (kind, more, expected) => {
      const inner = plan({
        nodes: ['in'],
        inputs: [{ channel: 'item', name: 'item', required: false }],
        channels: ['out'],
      });
      const node = { kind, id: 'sub', plan: inner, retry: ONCE, ...more } as unknown as PlanNode;
      const items = [{ id: 'a@1' }, { id: 'b~2' }];
      const outer = plan({
        nodes: [node],
        inputs: [{ channel: 'items', name: 'items', required: false, default: items }],
        channels: ['out'],
      });
      const until = (_state: State, round: number): boolean => round === 2;
      const { keys, paths } = await keysOf(outer, { 'sub/in': failsFirst(), 'until:sub': until });
      expect(keys.filter((key) => key !== 'sub@backoff')).toEqual(expected);
      expect(paths).toEqual(['>sub', ...expected.map((path) => `sub>${path}`)]);
    },
  );

  test('attempts nest', async () => {
    const inner = plan({ nodes: [task('in', { retry: ONCE })], channels: ['out'] });
    const middle = plan({ nodes: [{ kind: 'call', id: 'b', plan: inner, retry: ONCE }] });
    const outer = plan({ nodes: [{ kind: 'call', id: 'a', plan: middle }] });
    let calls = 0;
    const body = (): Record<string, unknown> => {
      calls += 1;
      if (calls < 4) throw new Error('not yet');
      return { out: calls };
    };
    const { keys } = await keysOf(outer, { 'a/b/in': body });
    expect(keys).toEqual([
      'a/b/in',
      'a/b/in@backoff',
      'a/b/in~2',
      'a/b@backoff',
      'a/b~2/in',
      'a/b~2/in@backoff',
      'a/b~2/in~2',
    ]);
  });

  test('random numbers depend on the run and the key, in whatever order they are asked', () => {
    const one = new MemoryDurable('r');
    const other = new MemoryDurable('r');
    const [a, b] = [one.random('a'), one.random('b')];
    expect([other.random('b'), other.random('a')]).toEqual([b, a]);
    expect(a).not.toBe(b);
    expect(new MemoryDurable('s').random('a')).not.toBe(a);
  });

  test('the jitter of a delay is drawn by the key of the attempt', async () => {
    const delays = async (runId: string): Promise<number[]> => {
      const clock = new FakeClock(0);
      const durable = new MemoryDurable(runId, { clock });
      const found: number[] = [];
      const retry = { retries: 2, backoff: 'fixed', delayMs: 1_000, jitter: 1, on: 'any' } as const;
      const fail = (): never => {
        throw new Error('no');
      };
      const listener = (event: SkeinEvent): void => {
        if (event.type === 'step.retrying') found.push(event.delayMs);
      };
      const one = plan({ nodes: [task('t', { retry })] });
      const { result } = startRun(one, { durable, bindings: { t: fail }, listeners: [listener] });
      clock.advance(10_000);
      await result;
      return found;
    };
    const [first, second] = await delays('r');
    expect(first).not.toBe(second);
    expect(await delays('r')).toEqual([first, second]);
    expect(await delays('s')).not.toEqual([first, second]);
  });
});
