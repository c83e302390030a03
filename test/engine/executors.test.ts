import { describe, expect, test } from 'vitest';
import { toErrorData } from '../../src/base/errors.js';
import type { Executor, StepContext } from '../../src/engine/ports/executor.js';
import { startRun } from '../../src/engine/run.js';
import type { SkeinEvent } from '../../src/events/event.js';
import type { AgentNode } from '../../src/plan/plan.js';
import { FakeClock, ManualDurable } from '../../src/testing/index.js';
import { MemoryDurable } from '../../src/engine/durable/memory-durable.js';
import { fails, plan, run, writes } from './plans.js';

const agent = (id: string, more: Partial<AgentNode> = {}): AgentNode => ({
  kind: 'agent',
  id,
  agent: { name: id, instructions: [], models: [] },
  prompt: ['About ', { channel: 'topic' }],
  output: id,
  ...more,
});

/** Runs it as an executor does: what goes wrong is a result. */
function executor(body: (node: AgentNode, step: StepContext) => Promise<unknown>): { agent: Executor<never> } {
  const all: Executor<AgentNode> = async (node, step) => {
    try {
      return { type: 'done', output: await body(node, step) };
    } catch (error) {
      return { type: 'failed', error: toErrorData(error) };
    }
  };
  return { agent: all };
}

describe('executors', () => {
  test('a kind without an executor fails its step', async () => {
    const { result } = await run(plan({ nodes: [agent('a')] }), {});
    expect(result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_NO_EXECUTOR' } });
  });

  test('it sees the state of its step, and its effects are recorded under the path of the step', async () => {
    const durable = new ManualDurable({ choose: () => 0 });
    const executors = executor(async (node, step) => {
      const prompt = step.render(node.prompt);
      const first = await step.effect('model', () => `${prompt}, ${String(step.read({ channel: 'topic' }))}`);
      await step.sleep('pause', 10);
      return await step.effect('tool', ({ idempotencyKey }) => Promise.resolve(`${first} (${idempotencyKey})`));
    });
    const thePlan = plan({ nodes: ['first', agent('a')], edges: ['first>a'], channels: ['topic'] });
    const handle = startRun(thePlan, { bindings: { first: writes({ topic: 'looms' }) }, executors, durable });
    expect((await handle.result).state.a).toBe('About looms, looms (manual/a@tool)');
    expect(durable.delivered).toEqual(['first', 'a@model', 'a@pause', 'a@tool']);
  });

  test('E10: failed, skipped, paused and thrown are outcomes of the step', async () => {
    const results: Record<string, () => Promise<never>> = {
      failed: () => Promise.resolve({ type: 'failed', error: { code: 'SKEIN_MODEL', message: 'no' } } as never),
      skipped: () => Promise.resolve({ type: 'skipped', reason: 'not needed' } as never),
      paused: () => Promise.resolve({ type: 'paused', question: { text: 'Well?' }, reason: 'asked' } as never),
      thrown: fails('broken'),
      rejected: () => Promise.reject(new Error('late')),
    };
    const seen: Record<string, unknown> = {};
    for (const [name, body] of Object.entries(results)) {
      const { result } = startRun(plan({ nodes: [agent('a')] }), { executors: { agent: body } });
      const { outcome, steps } = await result;
      seen[name] = [outcome, steps[0]?.outcome, steps[0]?.error?.message ?? steps[0]?.reason];
    }
    expect(seen).toEqual({
      failed: ['failed', 'failed', 'no'],
      skipped: ['succeeded', 'skipped', 'not needed'],
      paused: ['paused', 'paused', 'Well?'],
      thrown: ['failed', 'failed', 'broken'],
      rejected: ['failed', 'failed', 'late'],
    });
  });

  test('cancel reaches it: its effect is aborted, its next wait rejects, and the run ends when it has come to rest', async () => {
    const heard: string[] = [];
    const executors = executor(async (_node, step) => {
      try {
        await step.effect(
          'model',
          ({ signal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => {
                heard.push('aborted');
                reject(new Error('aborted'));
              });
            }),
        );
      } catch (error) {
        heard.push(toErrorData(error).code);
        await step
          .effect('more', () => heard.push('never'))
          .catch((late: unknown) => heard.push(toErrorData(late).code));
      }
      heard.push('closed');
      return 'too late';
    });
    const handle = startRun(plan({ nodes: [agent('a')] }), { executors });
    await new Promise((resolve) => setImmediate(resolve));
    handle.cancel('enough');
    const result = await handle.result;
    expect(heard).toEqual(['aborted', 'SKEIN_CANCELLED', 'SKEIN_CANCELLED', 'closed']);
    expect(result).toMatchObject({
      outcome: 'cancelled',
      error: { code: 'SKEIN_CANCELLED', message: 'enough' },
      state: {},
    });
    expect(result.census.cancelled).toBe(1);
  });

  test('E9: of two executors that wait, the first woken comes to rest before the next outcome is taken', async () => {
    for (const order of [
      ['a@model', 'b@model'],
      ['b@model', 'a@model'],
    ]) {
      const log: string[] = [];
      const executors = executor(async (node, step) => {
        await step.effect('model', () => 1);
        for (let turn = 0; turn < 5; turn++) {
          await Promise.resolve();
          log.push(node.id);
        }
        return await step.effect('more', () => node.id);
      });
      const durable = new ManualDurable();
      for (const key of [...order, 'a@more', 'b@more']) void durable.deliver(key);
      const handle = startRun(plan({ nodes: [agent('a'), agent('b')] }), { executors, durable });
      expect((await handle.result).state).toEqual({ a: 'a', b: 'b' });
      const [first = '', second = ''] = order.map((key) => key.slice(0, 1));
      expect(log.join('')).toBe(first.repeat(5) + second.repeat(5));
    }
  });

  test('notes are told to listeners, with the path of the step, until the attempt is over', async () => {
    const events: SkeinEvent[] = [];
    const executors = executor((_node, step) => {
      step.note({ kind: 'answer', answer: 'yes' });
      setImmediate(() => step.note({ kind: 'answer', answer: 'too late' }));
      return Promise.resolve('done');
    });
    const handle = startRun(plan({ nodes: [agent('a')] }), { executors, listeners: [(event) => events.push(event)] });
    await handle.result;
    await new Promise((resolve) => setImmediate(resolve));
    const notes = events.filter((event) => event.type === 'step.note');
    expect(notes).toEqual([expect.objectContaining({ path: 'a', note: { kind: 'answer', answer: 'yes' } })]);
  });

  test('results that come while executors are at work are taken in the order in which they came', async () => {
    const count = 300;
    const ended: string[] = [];
    const nodes = Array.from({ length: count }, (_, at) => agent(`a${at}`, { prompt: [] }));
    const executors = executor(async (node, step) => {
      await step.effect('one', () => Promise.resolve(node.id));
      return await step.effect('two', () => Promise.resolve(node.id));
    });
    const listener = (event: SkeinEvent): void => {
      if (event.type === 'step.ended') ended.push(event.path);
    };
    const { result } = startRun(plan({ nodes, channels: nodes.map(({ id }) => id) }), {
      executors,
      listeners: [listener],
    });
    const { outcome, state } = await result;
    const ids = nodes.map(({ id }) => id);
    expect([outcome, ended, Object.values(state)]).toEqual(['succeeded', ids, ids]);
  });
});

describe('the clock of an attempt and open questions', () => {
  test('time in which a question is open counts toward no timeout; the rest does', async () => {
    const clock = new FakeClock(0);
    const answers: ((answer: string) => void)[] = [];
    const durable = new MemoryDurable('r', { clock, answer: () => new Promise((resolve) => answers.push(resolve)) });
    const executors = executor(async (_node, step) => {
      await step.sleep('before', 600);
      const answer = await step.ask('name', { text: 'Who?' });
      await step.sleep('after', 500);
      return answer;
    });
    const handle = startRun(plan({ nodes: [agent('a', { timeoutMs: 1_000 })] }), { executors, durable });
    const rest = (): Promise<void> =>
      new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
    await rest();
    clock.advance(600);
    await rest();
    clock.advance(1_000_000);
    expect(answers).toHaveLength(1);
    answers[0]?.('Ada');
    await rest();
    clock.advance(399);
    expect(clock.waiting).toBe(2);
    clock.advance(1);
    const result = await handle.result;
    expect(result).toMatchObject({ outcome: 'failed', error: { code: 'SKEIN_TIMEOUT' }, census: { timed_out: 1 } });
    expect(clock.now()).toBe(1_001_000);
  });

  test('the clock goes on only when the last of several questions is answered', async () => {
    const durable = new ManualDurable({ startAt: 0 });
    const executors = executor(async (_node, step) =>
      (await Promise.all([step.ask('one', { text: '1' }), step.ask('two', { text: '2' })])).join('+'),
    );
    const handle = startRun(plan({ nodes: [agent('a', { timeoutMs: 1_000 })] }), { executors, durable });
    const timers = (): number => durable.pending.filter((one) => one.kind === 'timer').length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(timers()).toBe(0);
    durable.answer('one', 'x');
    await durable.deliver('a@one');
    expect(timers()).toBe(0);
    durable.answer('two', 'y');
    await durable.deliver('a@two');
    expect((await handle.result).state.a).toBe('x+y');
    expect(durable.pending).toEqual([]);
  });
});
