import { describe, expect, it } from 'vitest';
import { MemoryDurable } from '../../../src/engine/durable/memory-durable.js';
import type { Phases } from '../../../src/engine/ports/supervision.js';
import { startRun } from '../../../src/engine/run.js';
import type { PlanNode } from '../../../src/plan/plan.js';
import { FakeClock } from '../../../src/testing/index.js';
import { fails, plan, task } from '../plans.js';
import { ScriptedPhases } from './scripted-phases.js';

const SUPERVISE = { by: 'model', instruction: ['Write about ', { channel: 'topic' }] } as const;

function one(more: Partial<PlanNode> = {}) {
  return plan({ nodes: [task('w', { supervise: SUPERVISE, output: 'text', ...more })], channels: ['topic'] });
}

const INPUTS = { topic: 'looms' };

describe('[decision 7] a supervised step', () => {
  it('[S6] promises first, is judged, and counts when it is accepted', async () => {
    const phases = new ScriptedPhases(() => 'ok');
    const result = await startRun(one(), { bindings: { w: () => 'a' }, phases, inputs: INPUTS }).result;
    expect(result).toMatchObject({ outcome: 'succeeded', state: { text: 'a' } });
    expect(phases.calls).toEqual(['w@commit', 'w@supervise']);
    const [attempt] = phases.judged;
    expect(attempt).toMatchObject({ goal: 'Write about looms', output: 'a', corrections: 0, once: false });
    expect(attempt?.commitment.interpretation).toBe('Write about looms');
  });

  it('[S7] a correction begins the next attempt, and the latest alone counts', async () => {
    const phases = new ScriptedPhases(({ corrections }) => ['fix: shorter', 'fix: no, longer'][corrections] ?? 'ok');
    const heard: (string | undefined)[] = [];
    const w = (_state: object, step: { attempt: number; correction?: string }): string => {
      heard.push(step.correction);
      return String(step.attempt);
    };
    const result = await startRun(one(), { bindings: { w }, phases, inputs: INPUTS }).result;
    expect(result).toMatchObject({ outcome: 'succeeded', state: { text: '3' }, census: { succeeded: 1 } });
    expect(phases.calls).toEqual(['w@commit', 'w@supervise', 'w~2@supervise', 'w~3@supervise']);
    expect(heard).toEqual([undefined, 'shorter', 'no, longer']);
    expect(phases.judged.map(({ correction }) => correction)).toEqual([undefined, 'shorter', 'no, longer']);
  });

  it('[J6] attempts that repeat a call have its idempotency key, a correction has its own', async () => {
    const phases = new ScriptedPhases(({ corrections }) => (corrections === 0 ? 'fix: again' : 'ok'));
    const keys: string[] = [];
    const w = (_state: object, step: { attempt: number; idempotencyKey: string }): string => {
      keys.push(step.idempotencyKey);
      if (step.attempt % 2 === 1) throw new Error('busy');
      return 'done';
    };
    const retry = { retries: 1, backoff: 'fixed', delayMs: 0 } as const;
    const durable = new MemoryDurable('r');
    const result = await startRun(one({ retry }), { bindings: { w }, phases, inputs: INPUTS, durable }).result;
    expect(result.outcome).toBe('succeeded');
    expect(keys).toEqual(['r/w', 'r/w', 'r/w+1', 'r/w+1']);
  });

  it('[S11] work that fails is judged by nobody', async () => {
    const phases = new ScriptedPhases(() => 'ok');
    const result = await startRun(one(), { bindings: { w: fails('broken') }, phases, inputs: INPUTS }).result;
    expect(result).toMatchObject({ outcome: 'failed', error: { message: 'broken' } });
    expect(phases.calls).toEqual(['w@commit']);
  });

  it('[addition 1] retries count from the last correction, in one numbering, and their delays begin anew', async () => {
    const phases = new ScriptedPhases(({ corrections }) => (corrections === 0 ? 'fix: again' : 'ok'));
    const clock = new FakeClock();
    const began: number[] = [];
    const w = (_state: object, step: { attempt: number }): string => {
      began.push(clock.now());
      if (step.attempt % 3 !== 0) throw new Error('busy');
      return String(step.attempt);
    };
    const retry = { retries: 2, backoff: 'exponential', delayMs: 100 } as const;
    const durable = new MemoryDurable('r', { clock });
    const handle = startRun(one({ retry }), { bindings: { w }, phases, inputs: INPUTS, durable });
    for (let turn = 0; turn < 50; turn++) {
      await new Promise((next) => setImmediate(next));
      clock.advance(50);
    }
    expect((await handle.result).state['text']).toBe('6');
    const waits = began.slice(1).map((at, before) => at - (began[before] ?? 0));
    expect([waits[0], waits[1], waits[3], waits[4]]).toEqual([100, 200, 100, 200]);
    expect(phases.calls).toEqual(['w@commit', 'w~3@supervise', 'w~6@supervise']);
  });

  it('[addition 1] the timeout is that of the body alone', async () => {
    const clock = new FakeClock();
    const slow = (value: unknown) => async () => {
      clock.advance(1_000);
      return Promise.resolve(value as never);
    };
    const phases: Phases = {
      commit: (_task, context) => context.effect('commit', slow({ interpretation: '' })),
      judge: (_attempt, context) => context.effect('post', slow({ type: 'accepted' })),
    };
    const durable = new MemoryDurable('r', { clock });
    const options = { phases, inputs: INPUTS, durable };
    const result = await startRun(one({ timeoutMs: 10 }), { bindings: { w: () => 'a' }, ...options }).result;
    expect(result).toMatchObject({ outcome: 'succeeded', state: { text: 'a' } });
    expect(clock.waiting).toBe(0);
  });

  it('what is not JSON fails, as it would with a store: nobody could judge it', async () => {
    const phases = new ScriptedPhases(() => 'ok');
    const result = await startRun(one(), { bindings: { w: () => () => 1 }, phases, inputs: INPUTS }).result;
    expect(result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_NOT_JSON' } });
  });

  it('a phase that throws fails the step, and the retry of the work does not try it again', async () => {
    const broken: Phases = {
      commit: (_task, context) => context.effect('commit', () => ({}) as never),
      judge: () => Promise.reject(new Error('no verdict')),
    };
    let bodies = 0;
    const w = () => (bodies += 1);
    const retry = { retries: 3, backoff: 'fixed', delayMs: 0, on: 'any' } as const;
    const result = await startRun(one({ retry }), { bindings: { w }, phases: broken, inputs: INPUTS }).result;
    expect([result.outcome, result.error?.message, bodies]).toEqual(['failed', 'no verdict', 1]);
  });

  it('without anybody who supervises it fails before it works', async () => {
    const w = () => {
      throw new Error('it worked');
    };
    const result = await startRun(one(), { bindings: { w }, inputs: INPUTS }).result;
    expect(result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_NO_EXECUTOR' } });
  });

  it('that is cancelled while it is judged ends, and its late verdict counts for nothing', async () => {
    let judge: (value: string) => void = () => undefined;
    const phases = new ScriptedPhases(() => 'ok');
    const waiting: Phases = {
      commit: phases.commit,
      judge: (attempt, context) => {
        const said = context.effect('post', () => new Promise<string>((resolve) => (judge = resolve)));
        setImmediate(() => handle.cancel('enough'));
        return said.then(() => phases.judge(attempt, context));
      },
    };
    const handle = startRun(one(), { bindings: { w: () => 'a' }, phases: waiting, inputs: INPUTS });
    const result = await handle.result;
    judge('late');
    expect(result).toMatchObject({ outcome: 'cancelled', census: { cancelled: 1 } });
    expect(result.state['text']).toBeUndefined();
  });
});

describe('slots', () => {
  /** Notes how many phases and bodies run at once. */
  function counting() {
    let running = 0;
    let most = 0;
    const busy = async <T>(value: T): Promise<T> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((next) => setImmediate(next));
      running -= 1;
      return value;
    };
    const phases: Phases = {
      commit: (_task, context) => context.effect('commit', () => busy({ interpretation: '' } as never)),
      judge: (_attempt, context) => context.effect('post', () => busy({ type: 'accepted' } as const)),
    };
    return { busy, phases, most: () => most };
  }

  it.each([1, 2])('[addition 1] phases take a slot as bodies do, those of composites too: %i', async (concurrency) => {
    const { busy, phases, most } = counting();
    const inner = plan({ name: 'inner', nodes: [task('x', { output: 'r' }), task('y', { output: 's' })] });
    const call = (id: string): PlanNode => ({ id, kind: 'call', plan: inner, outputs: {}, supervise: SUPERVISE });
    const nodes = [call('a'), call('b'), task('c', { supervise: SUPERVISE, output: 'c' }), task('d', { output: 'd' })];
    const bindings = Object.fromEntries(
      ['a/x', 'a/y', 'b/x', 'b/y', 'c', 'd'].map((key) => [key, () => busy(key)] as const),
    );
    const whole = plan({ nodes, channels: ['topic'] });
    const result = await startRun(whole, { bindings, phases, inputs: INPUTS, concurrency }).result;
    expect([result.outcome, most()]).toEqual(['succeeded', concurrency]);
  });

  it('[addition 1] a person who judges takes none', async () => {
    const phases = new ScriptedPhases(() => 'ask');
    const order: string[] = [];
    let tell: (answer: string) => void = () => undefined;
    const answer = () => new Promise<string>((resolve) => (tell = resolve));
    const nodes = [task('w', { supervise: SUPERVISE, output: 'text' }), task('other', { output: 'other' })];
    const bindings = {
      w: () => order.push('w'),
      other: () => {
        order.push('other');
        tell('approve');
        return 'done';
      },
    };
    const whole = plan({ nodes, channels: ['topic'] });
    const durable = new MemoryDurable('r', { answer });
    const result = await startRun(whole, { bindings, phases, inputs: INPUTS, durable, concurrency: 1 }).result;
    expect([result.outcome, order]).toEqual(['succeeded', ['w', 'other']]);
  });
});

describe('[addition 3] work that may be done once only', () => {
  const saw = async (node: PlanNode, bindings: Record<string, unknown>, agent?: unknown): Promise<boolean[]> => {
    const phases = new ScriptedPhases(({ corrections }) => (corrections === 0 ? 'fix: again' : 'ok'));
    const executors = agent === undefined ? {} : { agent: agent as never };
    const whole = plan({ nodes: [node], channels: ['topic'] });
    await startRun(whole, { bindings, phases, inputs: INPUTS, executors }).result;
    return phases.judged.map(({ once }) => once);
  };

  it('is known where the node says so', async () => {
    const bindings = { w: () => 'a' };
    expect(await saw(task('w', { effect: 'once', supervise: SUPERVISE, output: 'text' }), bindings)).toEqual([
      true,
      true,
    ]);
    expect(await saw(task('w', { supervise: SUPERVISE, output: 'text' }), bindings)).toEqual([false, false]);
  });

  it('is known of a tool that the attempt called, also deep inside of it', async () => {
    const agent = async (_node: PlanNode, step: { attempt: number; correction?: string } & Record<string, never>) => {
      const context = step as unknown as Parameters<Phases['commit']>[1];
      const effect = context.correction === undefined ? 'once' : 'read';
      return { type: 'done', output: await context.effect('tool#1.1', () => 'sent', { effect }) };
    };
    const leaf: PlanNode = {
      id: 'x',
      kind: 'agent',
      agent: { name: 'x', instructions: [], models: [] },
      prompt: ['Go.'],
      output: 'r',
    };
    expect(await saw({ ...leaf, supervise: SUPERVISE }, {}, agent)).toEqual([true, false]);
    const inner = plan({ name: 'inner', nodes: [leaf], channels: ['topic'] });
    const outer = plan({ name: 'outer', nodes: [{ id: 'call', kind: 'call', plan: inner }], channels: ['topic'] });
    const around: PlanNode = { id: 'all', kind: 'call', plan: outer, supervise: SUPERVISE };
    expect(await saw(around, {}, agent)).toEqual([true, false]);
  });
});
